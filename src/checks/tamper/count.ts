// Counts what a test file proves, by rules for each language: tests, assertions that can fail, skips, and ends of a run as if all were well.
import { codeOnly, type Language } from './source-files.ts';

export const noCounts = {
  tests: 0,
  assertions: 0,
  skips: 0,
  /** Of these skips: those that depend on something, such as the system it runs on. */
  conditions: 0,
  onlys: 0,
  /** Tables of cases: one test may stand for several. */
  tables: 0,
  /** Lines of such tables. */
  cases: 0,
  /** process.exit(0) and its like. */
  exits: 0,
};

type Counted = keyof typeof noCounts;
export type Counts = Readonly<Record<Counted, number>>;

export const addCounts = (a: Counts, b: Counts): Counts => {
  const sum = { ...a };
  for (const each of Object.keys(b) as Counted[]) sum[each] += b[each];
  return sum;
};

const chains = /[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*/g;
const restCharsMax = 60;
const priorCharsMax = 400;

/** A pattern over a chain of names such as `test.skip`, whatever joins them, and over what stands around it: all must match. */
interface Pattern {
  readonly name?: RegExp;
  readonly first?: RegExp;
  readonly last?: RegExp;
  /** The character just before it. */
  readonly before?: RegExp;
  /** The next character of its line that is no blank; '' at the line's end. */
  readonly after?: RegExp;
  /** Nothing but blanks stands before it on its line. */
  readonly isFirst?: true;
  /** The beginning of what follows, with comments and literals blanked. */
  readonly rest?: RegExp;
  /** The end of what stands before it, blanked in the same way. */
  readonly prior?: RegExp;
}

/** The first row that matches counts, and those before it that say `continue`. */
type Row = readonly [counted: readonly Counted[], pattern: Pattern, then?: 'continue'];

const exitNames = new Set(
  'process.exit sys.exit os._exit os.Exit System.exit process::exit std::process::exit Environment.Exit Deno.exit exit _exit'.split(
    ' ',
  ),
);

const isExit = (chain: string, language: Language): boolean => language !== 'shell' && exitNames.has(chain);

/** The rows that fit a chain's names, wherever it stands; none when it can count as nothing, as most do. */
function rowsFor(chain: string, language: Language): readonly Row[] {
  const words = chain.split(/\.|::|->|\?\./);
  const [name, first, last] = [words.join('.'), words[0] as string, words.at(-1) as string];
  const isNamed = (pattern: Pattern): boolean =>
    pattern.first?.test(first) !== false && pattern.last?.test(last) !== false && pattern.name?.test(name) !== false;
  const named = rows[language].filter(([, pattern]) => isNamed(pattern));
  return named.some(([counted]) => counted.length > 0) ? named : [];
}

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t';

function isFirstOfLine(code: string, at: number): boolean {
  let back = at - 1;
  while (isBlank(code[back])) back -= 1;
  return back < 0 || code[back] === '\n' || code[back] === ';';
}

function characterAfter(code: string, end: number): string {
  let next = end;
  while (isBlank(code[next])) next += 1;
  const after = code[next] ?? '';
  return after === '\n' || after === '\r' ? '' : after;
}

const restAt = (code: string, end: number): string => code.slice(end, end + restCharsMax);

const isInContext = (
  { before, after, isFirst, rest, prior }: Pattern,
  code: string,
  at: number,
  end: number,
): boolean =>
  before?.test(code[at - 1] ?? '\n') !== false &&
  after?.test(characterAfter(code, end)) !== false &&
  (isFirst === undefined || isFirstOfLine(code, at)) &&
  rest?.test(restAt(code, end)) !== false &&
  prior?.test(code.slice(Math.max(0, at - priorCharsMax), at)) !== false;

/** `if testing.Short() { t.Skip() }`: on its line or the one before. */
const isConditional = (code: string, at: number): boolean =>
  /\b(?:if|unless)\b[^\n]*\n?[^\n]*$/.test(code.slice(Math.max(0, at - 200), at));

function countedAt(named: readonly Row[], code: string, at: number, end: number): readonly Counted[] {
  const counted: Counted[] = [];
  for (const [found, pattern, then] of named) {
    if (!isInContext(pattern, code, at, end)) continue;
    counted.push(...found);
    if (found.includes('skips') && !found.includes('conditions') && isConditional(code, at)) counted.push('conditions');
    if (then === undefined) break;
  }
  return counted;
}

/**
 * It cannot fail, so it proves nothing: `expect(true)`, `assert True`, `assertEquals(1, 1)`, `expect(a).toBe(a)`, `expect(a)`
 * without a matcher, `assert x or True`, `assert (x, "why")`.
 */
const vacuous: readonly (readonly [chain: RegExp, rest: RegExp])[] = [
  [/^(?!must_|wont_|should)/, /^\s*!?\s*\(?\s*(?:(?:true|True|1|!0)\s*(?:[);]|$|,\s*")|(\w{1,20})\s*,\s*\1\s*[,)])/],
  [/^expect$/, /^\(\s*(?:"[^"]*"|\d+)\s*\)\./],
  [/^assert/, /^\s*\(?\s*(?:"[^"]*"|\d+)\s*(?:,|==)\s*(?:"[^"]*"|\d+)\s*(?:[,)]|$)/],
  [/^expect$/, /^\(\s*([\w.]{1,40})\s*\)\.(?:to[A-Z]\w*|to\.\w+)\(\s*\1\s*\)/],
  [/^expect$/, /^\([\w. ]{0,50}\)\s*(?:;|$(?!\n\s*\.))/],
  [/^assert$/, /^\s+(?:[^\n]*\bor\s+True\s*$|\((?:[^()\n]|\([^()\n]*\))*,\s*"[^"\n]*"\)\s*$)/],
];

const isVacuous = (chain: string, rest: string): boolean => {
  const [line = '', next = ''] = rest.split('\n');
  return !/^\s*\./.test(next) && vacuous.some(([name, pattern]) => name.test(chain) && pattern.test(line));
};

/** Rust keeps tests at the end of its sources; before them an assertion is part of the program. */
function testsIn(code: string, language: Language, isWholeFile: boolean): string {
  if (language !== 'rust' || isWholeFile) return code;
  const at = code.search(/#\[cfg\((?:test\)|all\(test\b)|#\[test\]/);
  return at === -1 ? '' : code.slice(at);
}

const matches = (code: string, pattern: RegExp): number => code.match(pattern)?.length ?? 0;

const tableLine =
  /^[ \t]*(?:[[({](?=[^\n]*[\d"])[^\n=;]*[\])}],?|[[@](?:InlineData|DataRow|TestCase|test_case|case)\([^\n]*)[ \t]*$/gm;

const rustConditions = (code: string): number =>
  matches(testsIn(code, 'rust', false), /#!?\[(?:cfg\((?!test\)|any\(\s*\))|cfg_attr\([^\n]*\bignore\b)/g);

/** What no chain of names shows. */
const extras: Partial<Record<Language, Partial<Record<Counted, (code: string, text: string) => number>>>> = {
  go: {
    /** A build constraint takes the file out of every run that does not ask for it; it stands in a comment. */
    skips: (_code, text) => matches(text, /(?:^|\n)\/\/go:build |^\/\/ \+build /),
    /** A TestMain that runs no test at all ends well. */
    exits(code) {
      const at = code.search(/func TestMain\(/);
      return at !== -1 && !code.includes('.Run(', at) ? 1 : 0;
    },
  },
  /** `#[cfg(any())]` never holds: what it stands before is not compiled. Others may. */
  rust: {
    skips: code => matches(code, /#!?\[cfg(?:_attr)?\([^\]\n]{0,100}?\bany\(\s{0,9}\)/g) + rustConditions(code),
    conditions: rustConditions,
  },
  csharp: { skips: code => matches(code, /^\s*#if\b/gm), conditions: code => matches(code, /^\s*#if\b/gm) },
  /** Bats and shell tests assert with brackets, which are no names. */
  shell: {
    skips: code =>
      matches(
        code,
        /^[ \t]*(?:\[{1,2} |(?:assert|refute|diff|cmp|grep|test)\b)[^\n]*\|\|[ \t]*(?:true|:)|^[ \t]*(?:return|exit) 0\b/gm,
      ),
    assertions: code => matches(code, /^[ \t]*(?:!\s*)?\[{1,2} /gm),
  },
  /** The second function of a name hides the first. */
  python: {
    skips(code) {
      const names = code.match(/^(?:async[ \t]+)?def[ \t]+test\w*/gm) ?? [];
      return names.length - new Set(names).size;
    },
  },
};

/** What each chain of names in it counts as, and where it stands; linear in the length of the code. */
function* countedIn(code: string, language: Language): Generator<readonly [Counted, number]> {
  const known = new Map<string, readonly Row[]>();
  for (const { 0: chain, index: at } of code.matchAll(chains)) {
    const named = known.get(chain) ?? rowsFor(chain, language);
    known.set(chain, named);
    const end = at + chain.length;
    for (const each of countedAt(named, code, at, end))
      if (each !== 'assertions' || !isVacuous(chain, restAt(code, end))) yield [each, at];
    if (isExit(chain, language) && /^\s*\(?\s*0\b/.test(restAt(code, end))) yield ['exits', at];
  }
}

/** Where the assertions of a code stand. `isWholeFile`: all of it is test code. */
export function assertionsAt(code: string, language: Language, isWholeFile: boolean): readonly number[] {
  const tests = testsIn(code, language, isWholeFile);
  const from = code.length - tests.length;
  return [...countedIn(tests, language)].flatMap(([each, at]) => (each === 'assertions' ? [from + at] : []));
}

export function countsOf(text: string, language: Language, isWholeFile = true): Counts {
  const whole = codeOnly(text, language);
  const counts = { ...noCounts };
  for (const [each] of countedIn(testsIn(whole, language, isWholeFile), language)) counts[each] += 1;
  counts.cases = matches(whole, tableLine);
  for (const [each, count] of Object.entries(extras[language] ?? {})) counts[each as Counted] += count(whole, text);
  return counts;
}

/** Exactly one of these words. */
const one = (words: string): RegExp => new RegExp(`^(?:${words.replaceAll(' ', '|')})$`);
const oneWord = /^[^.]+$/;
const call = /\(/;
const colon = /:/;
const notAssigned = /^(?!=)/;
/** assertEquals, assert_eq, expectValid: also what a project calls its own assertions. */
const assertName = /^(assert|expect|refute|ensure|verify)([A-Z_]\w*)?$/;

/** `return;` as the first statement of a test. */
const returnsAtOnce = (body: RegExp): Row => [['skips'], { name: /^return$/, after: /^[;}]?$/, prior: body }];

const jsTests = 'it test specify fit ftest xit xtest xspecify';
const jsNames = one(`${jsTests} describe suite context xdescribe fdescribe xcontext fcontext bench`);
const jsNotTests =
  'describe|step|use|extend|beforeEach|afterEach|beforeAll|afterAll|setTimeout|slow|info|setup|before|after';
const jsAsserts = one(
  'is not equal equals same deepEqual notDeepEqual ok notOk true false truthy falsy throws throwsAsync notThrows regex like snapshot match strictSame rejects resolves strictEqual fail',
);
const jsContexts = one('t ctx context this tap tc');
const jsCall = /[(`]/;
/** The options of a test, as in `test("…", { skip: true }`, told from any other object. */
const inOptions =
  /\b(?:it|test|specify|describe|suite|context|step)(?:\.\w+)*\s*\(\s*(?:(?:"[^"]*"|[\w$.]+)\s*,\s*)?\{[^{}()]*$/;
const jsBody =
  /\b(?:it|test|specify)(?:\.\w+)*\s*\(\s*"[^"]*"\s*,\s*(?:\{[^{}]*\}\s*,\s*)?(?:async\s*)?(?:function\b[^(){}]*)?(?:\([^()]*\)|\w+)\s*(?:=>)?\s*\{\s*$/;
/** `const d = describe.skip`: what it is called then, nobody knows. */
const aliased = { first: jsNames, last: one('skip todo fixme'), after: /^[;,)}:]?$/, prior: /[=:?(,]\s*$/ };

const js: readonly Row[] = [
  returnsAtOnce(jsBody),
  [[], { first: jsNames, before: /\./ }],
  [['onlys'], { ...aliased, last: one('only') }],
  [['skips', 'conditions'], { ...aliased, after: colon }],
  [['skips', 'conditions'], { ...aliased, prior: /[:?]\s*$/ }],
  [['skips'], aliased],
  [[], { first: jsNames, after: /^[^(`]?$/ }],
  [[], { first: jsNames, name: /\.prototype(\.|$)/ }],
  [
    ['tests'],
    { first: one(jsTests), name: new RegExp(`^[^.]+(?!\\.(?:${jsNotTests})(?:\\.|$))(?:\\.|$)`) },
    'continue',
  ],
  [['skips'], { first: jsNames, name: /^x|\.(skip|todo|fixme|skipIf|runIf|if|fails?|failing)(\.|$)/ }, 'continue'],
  [['conditions'], { first: jsNames, name: /\.(skipIf|runIf|if|todo)(\.|$)/ }, 'continue'],
  [['onlys'], { first: jsNames, name: /^f(it|test|describe|context)(\.|$)|\.only(\.|$)/ }, 'continue'],
  [['tables'], { first: jsNames, name: /\.(each|for)(\.|$)/ }, 'continue'],
  [[], { first: jsNames }],
  [['tests', 'skips'], { name: /^Deno\.test\.ignore(\.|$)/, after: jsCall }],
  [['skips'], { name: /^Deno\.test\.ignore(\.|$)/ }],
  [['tests'], { name: /^Deno\.test(\.|$)/, after: jsCall }],
  [['skips'], { first: one('skip todo ignore'), after: colon, rest: /^\s*:\s*(true|")/, prior: inOptions }],
  [['onlys'], { first: one('only'), after: colon, rest: /^\s*:\s*true/, prior: inOptions }],
  [['assertions'], { first: one('should'), before: /\./, name: /^[^.]+(\.[^.]+){0,8}$/ }],
  [[], { first: one('should') }],
  [['assertions'], { name: assertName, after: jsCall }],
  [[], { name: oneWord }],
  [['skips'], { first: jsContexts, last: one('skip todo'), after: jsCall }],
  [['assertions'], { first: jsContexts, last: jsAsserts, after: jsCall }],
  [['assertions'], { first: one('expect'), last: one('soft poll'), after: jsCall }],
  [[], { first: one('expect') }],
  [['assertions'], { name: /^(assert|sinon)\.|\.should(\.|$)/, after: jsCall }],
];

const pythonSkips = one('skip xfail expectedFailure skipTest SkipTest');
const pythonConditions = one('skipif skipIf skipUnless importorskip');
const pythonHolders = one('pytest unittest self mark raise');
/** In a class that is neither called Test nor derived from anything; the last one before. */
const uncollected = /(?:^|\n)class\s+(?!Test)\w+\s*(?:\(\s*\))?:(?:(?!\n\S)[\s\S])*\n[ \t]+(?:async\s+)?$/;
const goSubject = one('t tb b f c');
const shellAssert = /^(assert\w*|(expect|refute|ensure|verify)([A-Z_]\w*)?|test|cmp|diff|grep)$/;

const rows: Readonly<Record<Language, readonly Row[]>> = {
  js,
  // Its options stand after the test, so that there is nothing before them to look at.
  dart: [[['skips'], { first: one('skip'), after: colon, rest: /^\s*:\s*(true|")/ }], ...js],
  python: [
    returnsAtOnce(/\bdef\s+test\w*\s*\([^()]*\)[^:\n]*:\s*(?:"[^"]*"\s*)?$/),
    [['skips'], { first: one('__test__'), rest: /^\s*=\s*False/ }],
    [[], { first: one('def'), prior: uncollected }],
    [['tests'], { first: one('def'), rest: /^\s+test/ }],
    [['skips', 'conditions'], { first: pythonHolders, last: pythonConditions }],
    [['skips', 'conditions'], { before: /@/, last: pythonConditions }],
    [['skips'], { first: pythonHolders, last: pythonSkips }],
    [['skips'], { before: /@/, last: pythonSkips }],
    [['skips'], { first: one('raise'), rest: /^\s+(unittest\.)?SkipTest/ }],
    [['tables'], { last: one('parametrize') }],
    [['assertions'], { first: one('assert'), isFirst: true }],
    [[], { first: one('assert') }],
    [['assertions'], { first: one('pytest'), last: one('raises warns') }],
    [['assertions'], { last: assertName, after: call }],
  ],
  go: [
    returnsAtOnce(/\bfunc\s+Test\w*\s*\([^()]*\)\s*\{\s*$/),
    [['tests'], { first: one('func'), rest: /^\s+(Test|Fuzz|Example|Benchmark)\w*\s*\(/ }],
    [[], { name: oneWord }],
    [['skips'], { last: one('Skip SkipNow Skipf'), after: call }],
    [['tables'], { first: one('t b'), last: one('Run') }],
    // What a test needs before it begins, and t.TempDir does as well.
    [[], { first: goSubject, prior: /\bos\.(?:Mkdir|Create)\w*\([^\n]*\n\s*if err != nil \{\s*$/ }],
    [['assertions'], { first: one('assert require'), after: call }],
    [['assertions'], { first: goSubject, name: /^\w+\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow)$/, after: call }],
  ],
  rust: [
    [['tests'], { before: /\[/, last: one('test rstest wasm_bindgen_test quickcheck') }],
    [['tables'], { before: /\[/, last: one('test_case case') }],
    [['skips'], { before: /\[/, last: one('ignore') }],
    [['skips', 'conditions'], { before: /\[/, last: one('should_panic') }],
    [[], { before: /\[/ }],
    [['assertions'], { last: /^(prop_)?assert(_\w+)?$/, after: /!/ }],
  ],
  jvm: [
    [['tests', 'tables'], { before: /@/, last: one('ParameterizedTest RepeatedTest TestFactory TestTemplate') }],
    [['tables'], { before: /@/, last: one('CsvSource ValueSource MethodSource EnumSource') }],
    [['tests'], { before: /@/, last: one('Test') }],
    [['skips', 'conditions'], { before: /@/, last: /^Enabled(If|On|For)\w*$/ }],
    [['skips'], { before: /@/, last: /^(Ignore|Disabled\w*|PendingFeature)$/ }],
    [[], { before: /@/ }],
    [['skips'], { first: one('enabled'), rest: /^\s*=\s*false/ }],
    [['skips'], { first: one('pending'), isFirst: true, after: /^$/ }],
    [['skips', 'conditions'], { last: one('assumeTrue assumeFalse assumeThat'), after: call }],
    [['assertions'], { first: one('assert'), after: notAssigned }],
    [[], { first: one('assert') }],
    [['assertions'], { last: assertName, after: call }],
    [['assertions'], { first: /^should(?:Not)?(?:Be|Throw|Contain|Have)\w*$/ }],
    [['tests', 'tables'], { isFirst: true, first: one('withData'), after: call }],
    [['assertions'], { last: one('fail andExpect shouldThrow check'), after: call }],
  ],
  ruby: [
    [['tests'], { first: one('def'), rest: /^\s+test_/ }],
    [['assertions'], { before: /\./, first: /^(should_not|(must|wont)_\w{2,})$/ }],
    [['tests'], { isFirst: true, first: one('it specify scenario example test'), after: /["({d]/ }],
    [['tests'], { isFirst: true, first: one('it specify scenario example test'), rest: /^ [\w.]+ do\b/ }],
    [['tests', 'skips'], { isFirst: true, first: one('xit xspecify xscenario xexample') }],
    [['skips'], { isFirst: true, first: one('xdescribe xcontext pending skip') }],
    [['tests', 'onlys'], { isFirst: true, first: one('fit') }],
    [['onlys'], { isFirst: true, first: one('fdescribe fcontext') }],
    [
      ['tests', 'assertions', 'tables'],
      { isFirst: true, first: one('it_behaves_like it_should_behave_like include_examples') },
    ],
    [['skips'], { first: one('skip'), after: colon }],
    [['skips'], { first: one('if'), rest: /^:\s*(false|nil)/ }],
    [['onlys'], { first: one('focus'), after: colon }],
    [['onlys'], { first: one('focus'), before: colon }],
    [['assertions'], { first: one('is_expected') }],
    [['assertions'], { last: assertName, isFirst: true }],
    [['assertions'], { last: assertName, after: /[({]/ }],
  ],
  php: [
    [['tests'], { first: one('function'), rest: /^\s+test/ }],
    [['tests'], { before: /\[/, last: one('Test') }],
    [['skips'], { last: one('markTestSkipped markTestIncomplete expectNotToPerformAssertions') }],
    [['skips'], { before: />/, first: one('skip todo'), after: call }],
    [['onlys'], { before: />/, first: one('only') }],
    [['tables'], { before: />/, first: one('with') }],
    [['tests'], { before: /[^>]/, first: one('test it'), after: call }],
    [['assertions'], { last: assertName, after: call }],
  ],
  csharp: [
    [['tests'], { before: /\[/, last: one('Fact Theory Test TestMethod TestCase DataTestMethod'), after: /^[^[]?$/ }],
    [['tables'], { before: /\[/, last: one('InlineData DataRow MemberData') }],
    [['skips'], { before: /\[/, last: one('Ignore Explicit') }],
    [[], { before: /\[/ }],
    [['skips'], { first: one('Skip'), rest: /^\s*=\s*"/ }],
    [['skips'], { name: /^Skip\.If(\.|$)/ }],
    [['skips'], { first: one('Assert'), last: one('Ignore Inconclusive Skip'), after: call }],
    [['assertions'], { first: one('Assert'), after: call }],
    [['assertions'], { last: /^(Should\w*|Verify|VerifyAll)$/, after: call }],
  ],
  shell: [
    [['tests'], { before: /@/, first: one('test') }],
    [['tests'], { first: /^test./, rest: /^\s*\(\)/ }],
    [['skips'], { isFirst: true, first: one('skip startSkipping') }],
    [['tables'], { isFirst: true, first: shellAssert, after: /=/ }],
    [['assertions'], { isFirst: true, first: shellAssert }],
  ],
  elixir: [
    [['tests'], { isFirst: true, first: one('test property'), after: /"/ }],
    [['skips'], { before: /@/, first: one('tag moduletag describetag'), rest: /^\s*:?skip/ }],
    [['assertions'], { first: /^(assert|refute|catch_\w+)(_\w+)?$/, after: notAssigned }],
  ],
  cpp: [
    [
      ['tests'],
      { name: one('TEST TEST_F TEST_P TYPED_TEST TEST_CASE SCENARIO BOOST_AUTO_TEST_CASE START_TEST'), after: call },
    ],
    [['skips'], { name: /^(GTEST_SKIP|SKIP|TEST_IGNORE\w*)$/, after: call }],
    [
      ['assertions'],
      {
        name: /^(EXPECT_|ASSERT_|REQUIRE|CHECK|BOOST_(CHECK|REQUIRE|TEST)|TEST_ASSERT|XCTAssert|assert$|ck_assert)[^.]*$/,
        after: call,
      },
    ],
  ],
  swift: [
    [['tests'], { first: one('func'), rest: /^\s+test\w*\s*\(/ }],
    [['tests', 'skips'], { before: /@/, first: one('Test'), rest: /^\s*\([^)]*\.disabled/ }],
    [['tests'], { before: /@/, first: one('Test') }],
    [['skips'], { first: one('XCTSkip XCTSkipIf XCTExpectFailure') }],
    [['assertions'], { first: /^XCT(Assert|Unwrap|Fail)/ }],
    [['assertions'], { before: /#/, first: one('expect'), after: call }],
  ],
};
