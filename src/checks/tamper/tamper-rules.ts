// What a test, an assertion and a skip look like in each language: one row of rules each, read from a chain of names in code.
import type { Language } from './test-files.ts';

/** `condition`: a skip that depends on something, such as the system it runs on. */
export type Mark = 'test' | 'assertion' | 'skip' | 'condition' | 'only' | 'table';

/** `test.skip(` is { words: [test, skip], before: '\n', after: '(' }. */
export interface Chain {
  readonly words: readonly string[];
  /** The character just before it. */
  readonly before: string;
  /** The next character of its line that is no blank; '' at the line's end. */
  readonly after: string;
  /** Nothing but blanks stands before it on its line. */
  readonly isFirst: boolean;
  /** The beginning of what follows, comments and texts blanked. */
  readonly rest: string;
  /** The end of what stands before it, blanked in the same way. */
  readonly prior: () => string;
}

type Rule = (chain: Chain, first: string, last: string) => readonly Mark[];

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));
const none: readonly Mark[] = [];
const is = (condition: boolean, ...marks: readonly Mark[]): readonly Mark[] => (condition ? marks : none);
/** assertEquals, assert_eq, expectValid: also what a project calls its own assertions. */
const isAssertName = (word: string): boolean => /^(assert|expect|refute|ensure|verify)([A-Z_]\w*)?$/.test(word);

const jsTests = set('it test specify fit ftest xit xtest xspecify');
const jsGroups = set('describe suite context xdescribe fdescribe xcontext fcontext bench');
const jsNotTests = set(
  'describe step use extend beforeEach afterEach beforeAll afterAll setTimeout slow info setup before after',
);
const jsAsserts = set(
  'is not equal equals same deepEqual notDeepEqual ok notOk true false truthy falsy throws throwsAsync notThrows regex like snapshot match strictSame rejects resolves strictEqual pass fail',
);
const jsContexts = set('t ctx context this tap tc');

/** The options of a test, as in `test("…", { skip: true }`, told from any other object. */
const inOptions =
  /\b(?:it|test|specify|describe|suite|context|step)(?:\.\w+)*\s*\(\s*(?:(?:"[^"]*"|[\w$.]+)\s*,\s*)?\{[^{}()]*$/;
const jsBody =
  /\b(?:it|test|specify)(?:\.\w+)*\s*\(\s*"[^"]*"\s*,\s*(?:\{[^{}]*\}\s*,\s*)?(?:async\s*)?(?:function\b[^(){}]*)?(?:\([^()]*\)|\w+)\s*(?:=>)?\s*\{\s*$/;
/** `return;` as the first statement of a test. */
const endsAtOnce = ({ words, after, prior }: Chain, body: RegExp): boolean =>
  words[0] === 'return' && words.length === 1 && /^[;}]?$/.test(after) && body.test(prior());

/** `const d = describe.skip`: what it is called then, nobody knows. */
function aliased({ words, before, after, prior }: Chain): readonly Mark[] {
  const [, ...chained] = words;
  const last = chained.at(-1) ?? '';
  if (before === '.' || !/^[;,)}:]?$/.test(after) || !/^(skip|todo|fixme|only)$/.test(last)) return none;
  if (!/[=:?(,]\s*$/.test(prior())) return none;
  return last === 'only' ? ['only'] : ['skip', ...is(after === ':' || /[:?]\s*$/.test(prior()), 'condition')];
}

const js: Rule = (chain, first, last) => {
  const { words, before, after, rest, prior } = chain;
  const isCall = after === '(' || after === '`';
  if (endsAtOnce(chain, jsBody)) return ['skip'];
  if (jsTests.has(first) || jsGroups.has(first)) {
    const isMember = before === '.';
    const chained = words.slice(1);
    if (!isCall && !isMember) return aliased(chain);
    if (isMember || words.some(word => word === 'prototype')) return none;
    const isSkip = /^x/.test(first) || chained.some(word => /^(skip|todo|fixme|skipIf|runIf|if|failing)$/.test(word));
    const isOnly = /^f(it|test|describe|context)$/.test(first) || last === 'only' || chained.includes('only');
    const isTest = jsTests.has(first) && !jsNotTests.has(chained[0] ?? '');
    const isTable = chained.some(word => word === 'each' || word === 'for');
    const isCondition = chained.some(word => /^(skipIf|runIf|if)$/.test(word));
    return [
      ...is(isTest, 'test'),
      ...is(isSkip, 'skip'),
      ...is(isCondition, 'condition'),
      ...is(isOnly, 'only'),
      ...is(isTable, 'table'),
    ];
  }
  if (first === 'Deno' && words[1] === 'test') return [...is(isCall, 'test'), ...is(words[2] === 'ignore', 'skip')];
  if ((first === 'skip' || first === 'todo' || first === 'ignore') && after === ':' && /^\s*:\s*(true|")/.test(rest))
    return is(inOptions.test(prior()), 'skip');
  if (first === 'only' && after === ':' && /^\s*:\s*true/.test(rest)) return is(inOptions.test(prior()), 'only');
  if (first === 'should') return is(before === '.' && words.length <= 9, 'assertion');
  if (words.length === 1) return is(isAssertName(first) && isCall, 'assertion');
  if (jsContexts.has(first) && (last === 'skip' || last === 'todo')) return is(isCall, 'skip');
  if (jsContexts.has(first) && jsAsserts.has(last)) return is(isCall, 'assertion');
  if (first === 'expect') return is(isCall && (last === 'soft' || last === 'poll'), 'assertion');
  return is((first === 'assert' || first === 'sinon' || words.includes('should')) && isCall, 'assertion');
};

const pythonSkips = set('skip skipif skipIf skipUnless skipTest xfail importorskip expectedFailure SkipTest');
const pythonBody = /\bdef\s+test\w*\s*\([^()]*\)[^:\n]*:\s*(?:"[^"]*"\s*)?$/;
const python: Rule = (chain, first, last) => {
  const { before, after, isFirst, rest } = chain;
  if (endsAtOnce(chain, pythonBody) || (first === '__test__' && /^\s*=\s*False/.test(rest))) return ['skip'];
  if (first === 'def') return is(/^\s+test/.test(rest), 'test');
  if (first === 'async') return none;
  const isMark = set('pytest unittest self mark').has(first) || before === '@' || first === 'raise';
  if (pythonSkips.has(last) && isMark)
    return ['skip', ...is(/^(skip(if|If|Unless)|importorskip)$/.test(last), 'condition')];
  if (first === 'raise' && /^\s+(unittest\.)?SkipTest/.test(rest)) return ['skip'];
  if (last === 'parametrize') return ['table'];
  if (first === 'assert') return is(isFirst, 'assertion');
  if (first === 'pytest' && (last === 'raises' || last === 'warns')) return ['assertion'];
  return is(after === '(' && (isAssertName(last) || /^assert_/.test(last)), 'assertion');
};

const goAsserts = set('Error Errorf Fatal Fatalf Fail FailNow');
const goBody = /\bfunc\s+Test\w*\s*\([^()]*\)\s*\{\s*$/;
const go: Rule = (chain, first, last) => {
  const { words, after, rest } = chain;
  if (endsAtOnce(chain, goBody)) return ['skip'];
  if (first === 'func') return is(/^\s+(Test|Fuzz|Example|Benchmark)\w*\s*\(/.test(rest), 'test');
  if (words.length === 1) return none;
  if (/^Skip(Now|f)?$/.test(last)) return is(after === '(', 'skip');
  if (last === 'Run' && /^[tb]$/.test(first)) return ['table'];
  if (first === 'assert' || first === 'require') return is(after === '(', 'assertion');
  return is(after === '(' && goAsserts.has(last) && words.length === 2 && /^(t|tb|b|f|c)$/.test(first), 'assertion');
};

const rust: Rule = ({ before, after }, _first, last) => {
  if (before === '[') {
    if (last === 'test' || last === 'rstest' || last === 'wasm_bindgen_test' || last === 'quickcheck') return ['test'];
    if (last === 'test_case' || last === 'case') return ['table'];
    return is(last === 'ignore', 'skip');
  }
  return is(after === '!' && /^(prop_)?assert(_\w+)?$/.test(last), 'assertion');
};

const jvm: Rule = ({ before, after, rest }, first, last) => {
  if (before === '@') {
    if (/^(ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)$/.test(last)) return ['test', 'table'];
    if (/^(CsvSource|ValueSource|MethodSource|EnumSource)$/.test(last)) return ['table'];
    return [...is(last === 'Test', 'test'), ...is(/^(Ignore|Disabled\w*|PendingFeature)$/.test(last), 'skip')];
  }
  if (first === 'enabled') return is(/^\s*=\s*false/.test(rest), 'skip');
  if (/^(assumeTrue|assumeFalse|assumeThat)$/.test(last)) return is(after === '(', 'skip', 'condition');
  if (first === 'assert') return is(after !== '=', 'assertion');
  return is(after === '(' && (isAssertName(last) || /^(fail|andExpect|shouldThrow|check)$/.test(last)), 'assertion');
};

const ruby: Rule = ({ before, after, isFirst, rest }, first, last) => {
  if (first === 'def') return is(/^\s+test_/.test(rest), 'test');
  if (before === '.' && /^(should|should_not|to|not_to|must_\w+|wont_\w+)$/.test(first))
    return is(first.length > 6, 'assertion');
  if (isFirst && /^(it|specify|scenario|example|test)$/.test(first)) return is(/["({d]/.test(after), 'test');
  if (isFirst && /^(xit|xspecify|xscenario|xexample|xdescribe|xcontext|pending|skip)$/.test(first))
    return /^x(it|s|e)/.test(first) ? ['test', 'skip'] : ['skip'];
  if (isFirst && /^(fit|fdescribe|fcontext)$/.test(first)) return first === 'fit' ? ['test', 'only'] : ['only'];
  if (first === 'skip' && after === ':') return ['skip'];
  if (first === 'focus') return is(after === ':' || before === ':', 'only');
  if (first === 'is_expected') return ['assertion'];
  return is(isAssertName(last) && (isFirst || after === '(' || after === '{'), 'assertion');
};

const php: Rule = ({ before, after, rest }, first, last) => {
  if (first === 'function') return is(/^\s+test/.test(rest), 'test');
  if (before === '[' && last === 'Test') return ['test'];
  if (/^(markTestSkipped|markTestIncomplete)$/.test(last)) return ['skip'];
  if (before === '>' && /^(skip|todo)$/.test(first)) return is(after === '(', 'skip');
  if (before === '>' && first === 'only') return ['only'];
  if (before === '>' && first === 'with') return ['table'];
  if (/^(test|it)$/.test(first) && before !== '>') return is(after === '(', 'test');
  return is(after === '(' && isAssertName(last), 'assertion');
};

const csharp: Rule = ({ words, before, after, rest }, first, last) => {
  if (before === '[') {
    if (/^(Fact|Theory|Test|TestMethod|TestCase|DataTestMethod)$/.test(last)) return is(after !== '[', 'test');
    if (/^(InlineData|DataRow|MemberData)$/.test(last)) return ['table'];
    return is(/^(Ignore|Explicit)$/.test(last), 'skip');
  }
  if (first === 'Skip') return is(/^\s*=\s*"/.test(rest) || words[1] === 'If', 'skip');
  if (first === 'Assert') return is(after === '(', /^(Ignore|Inconclusive|Skip)$/.test(last) ? 'skip' : 'assertion');
  return is(after === '(' && /^(Should\w*|Verify|VerifyAll)$/.test(last), 'assertion');
};

const shell: Rule = ({ before, after, isFirst, rest }, first) => {
  if (before === '@' && first === 'test') return ['test'];
  if (/^test/.test(first) && first !== 'test' && /^\s*\(\)/.test(rest)) return ['test'];
  if (!isFirst) return none;
  if (first === 'skip' || first === 'startSkipping') return ['skip'];
  return is(
    isAssertName(first.replace(/^assert[_-]?/, 'assert_')) || /^(test|cmp|diff|grep)$/.test(first),
    after === '=' ? 'table' : 'assertion',
  );
};

const elixir: Rule = ({ before, after, isFirst, rest }, first) => {
  if (first === 'test' || first === 'property') return is(isFirst && after === '"', 'test');
  if (before === '@' && /^(tag|moduletag|describetag)$/.test(first)) return is(/^\s*:?skip/.test(rest), 'skip');
  return is(/^(assert|refute|catch_\w+)(_\w+)?$/.test(first) && after !== '=', 'assertion');
};

const cpp: Rule = ({ words, after }, first) => {
  if (words.length > 1 || after !== '(') return none;
  if (/^(TEST|TEST_F|TEST_P|TYPED_TEST|TEST_CASE|SCENARIO|BOOST_AUTO_TEST_CASE|START_TEST)$/.test(first))
    return ['test'];
  if (/^(GTEST_SKIP|SKIP|TEST_IGNORE\w*)$/.test(first)) return ['skip'];
  return is(
    /^(EXPECT_|ASSERT_|REQUIRE|CHECK|BOOST_(CHECK|REQUIRE|TEST)|TEST_ASSERT|XCTAssert|assert$|ck_assert)/.test(first),
    'assertion',
  );
};

const swift: Rule = ({ before, after, rest }, first) => {
  if (first === 'func') return is(/^\s+test\w*\s*\(/.test(rest), 'test');
  if (before === '@' && first === 'Test')
    return [...is(true, 'test'), ...is(/^\s*\([^)]*\.disabled/.test(rest), 'skip')];
  if (first === 'XCTSkip' || first === 'XCTSkipIf') return ['skip'];
  return is(
    /^XCT(Assert|Unwrap|Fail)/.test(first) || (before === '#' && first === 'expect' && after === '('),
    'assertion',
  );
};

/** Its options stand after the test, so that there is nothing before them to look at. */
const dart: Rule = (chain, first, last) =>
  first === 'skip' && chain.after === ':' && /^\s*:\s*(true|")/.test(chain.rest) ? ['skip'] : js(chain, first, last);

export const rules: Readonly<Record<Language, Rule>> = {
  js,
  python,
  go,
  rust,
  jvm,
  ruby,
  php,
  csharp,
  shell,
  elixir,
  cpp,
  swift,
  dart,
};
