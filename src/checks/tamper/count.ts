// Counts what a test file proves: tests, assertions that can fail, skips, and calls that end a run as if all were well.

import { codeOnly } from './scan.ts';
import type { Language } from './test-files.ts';

export interface Counts {
  readonly tests: number;
  readonly assertions: number;
  readonly skips: number;
  /** Of these skips: those that depend on something. */
  readonly conditions: number;
  readonly onlys: number;
  /** Tables of cases: one test may stand for several. */
  readonly tables: number;
  /** process.exit(0) and its like. */
  readonly exits: number;
}

export const noCounts: Counts = { tests: 0, assertions: 0, skips: 0, conditions: 0, onlys: 0, tables: 0, exits: 0 };

const chains = /[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*/g;
const restCharsMax = 60;
const priorCharsMax = 400;

/** `expect(true)`, `assert True`, `assertEquals(1, 1)`: it cannot fail, so it proves nothing. */
const vacuous = /^\s*!?\s*\(?\s*(?:(?:true|True|1|!0)\s*(?:[);]|$|,\s*")|(\w{1,20})\s*,\s*\1\s*[,)])/;
const isVacuous = (rest: string): boolean => vacuous.test(rest.split('\n')[0] ?? '');

const exitNames = new Set([
  'process.exit',
  'sys.exit',
  'os._exit',
  'os.Exit',
  'System.exit',
  'process::exit',
  'std::process::exit',
  'Environment.Exit',
  'Deno.exit',
  'exit',
  '_exit',
]);

/** Rust keeps tests at the end of its sources; before them an assertion is part of the program. */
function testsIn(code: string, language: Language, isWholeFile: boolean): string {
  if (language !== 'rust' || isWholeFile) return code;
  const at = [code.indexOf('#[cfg(test)]'), code.indexOf('#[test]')].filter(each => each !== -1);
  return at.length === 0 ? '' : code.slice(Math.min(...at));
}

/** A build constraint takes a Go file out of every run that does not ask for it; it stands in a comment. */
const goConstraints = (text: string): number =>
  text.startsWith('//go:build ') || text.includes('\n//go:build ') || text.startsWith('// +build ') ? 1 : 0;

/** Runs no test at all and ends well. */
const isEmptyTestMain = (code: string): boolean => {
  const at = code.indexOf('func TestMain(');
  return at !== -1 && !code.includes('.Run(', at);
};

/** `#[cfg(any())]` never holds: what it stands before is not compiled. */
const rustNever = (code: string): number =>
  code.match(/#!?\[cfg(?:_attr)?\([^\]\n]{0,100}?\bany\(\s{0,9}\)/g)?.length ?? 0;

/** Bats and shell tests assert with brackets, which are no names. */
const shellBrackets = (code: string): number => code.match(/^[ \t]*(?:!\s*)?\[{1,2} /gm)?.length ?? 0;

/** Linear in the length of the text. `isWholeFile`: all of it is test code. */
export function countsOf(text: string, language: Language, isWholeFile = true): Counts {
  const whole = codeOnly(text, language);
  const code = testsIn(whole, language, isWholeFile);
  const rule = rules[language];
  const found: Record<Mark, number> = { test: 0, assertion: 0, skip: 0, condition: 0, only: 0, table: 0 };
  let exits = language === 'go' && isEmptyTestMain(code) ? 1 : 0;
  chains.lastIndex = 0;
  for (let hit = chains.exec(code); hit !== null; hit = chains.exec(code)) {
    const chain = chainAt(code, hit[0], hit.index);
    const { words } = chain;
    for (const mark of rule(chain, words[0] as string, words.at(-1) as string)) {
      if (mark !== 'assertion' || !isVacuous(chain.rest)) found[mark] += 1;
    }
    if (exitNames.has(hit[0]) && /^\s*\(?\s*0\b/.test(chain.rest) && language !== 'shell') exits += 1;
  }
  return {
    tests: found.test,
    assertions: found.assertion + (language === 'shell' ? shellBrackets(code) : 0),
    skips: found.skip + (language === 'go' ? goConstraints(text) : language === 'rust' ? rustNever(whole) : 0),
    conditions: found.condition,
    onlys: found.only,
    tables: found.table,
    exits,
  };
}

function chainAt(code: string, text: string, at: number): Chain {
  const end = at + text.length;
  let back = at - 1;
  while (code[back] === ' ' || code[back] === '\t') back -= 1;
  let next = end;
  while (code[next] === ' ' || code[next] === '\t') next += 1;
  const after = code[next] ?? '';
  return {
    words: text.split(/\.|::|->|\?\./).filter(word => word !== ''),
    before: code[at - 1] ?? '\n',
    after: after === '\n' || after === '\r' ? '' : after,
    isFirst: back < 0 || code[back] === '\n' || code[back] === ';',
    rest: code.slice(end, end + restCharsMax),
    prior: () => code.slice(Math.max(0, at - priorCharsMax), at),
  };
}

export function addCounts(a: Counts, b: Counts): Counts {
  return {
    tests: a.tests + b.tests,
    assertions: a.assertions + b.assertions,
    skips: a.skips + b.skips,
    conditions: a.conditions + b.conditions,
    onlys: a.onlys + b.onlys,
    tables: a.tables + b.tables,
    exits: a.exits + b.exits,
  };
}

// What a test, an assertion and a skip look like in each language: one row of rules each, read from a chain of names in code.

/** `condition`: a skip that depends on something, such as the system it runs on. */
type Mark = 'test' | 'assertion' | 'skip' | 'condition' | 'only' | 'table';

/** `test.skip(` is { words: [test, skip], before: '\n', after: '(' }. */
interface Chain {
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

const rules: Readonly<Record<Language, Rule>> = {
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
