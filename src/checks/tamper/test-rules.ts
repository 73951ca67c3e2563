// Rules for tests, assertions and skips: per language a table of rows over one chain of names, of which the first match counts.
import type { Language } from './source-code.ts';

/** `condition`: a skip that depends on something, such as the system it runs on. */
export type Mark = 'test' | 'assertion' | 'skip' | 'condition' | 'only' | 'table';

/** `test.skip(` is { name: 'test.skip', first: 'test', last: 'skip', before: '\n', after: '(' }. */
export interface Chain {
  readonly name: string;
  readonly first: string;
  readonly last: string;
  /** The character just before it. */
  readonly before: string;
  /** The next character of its line that is no blank; '' at the line's end. */
  readonly after: string;
  /** Nothing but blanks stands before it on its line. */
  readonly isFirst: boolean;
  /** The beginning of what follows, comments and literals blanked. */
  readonly rest: string;
  /** The end of what stands before it, blanked in the same way. */
  readonly prior: () => string;
}

/** All patterns of a row must match. */
interface Pattern {
  readonly name?: RegExp;
  readonly first?: RegExp;
  readonly last?: RegExp;
  readonly before?: RegExp;
  readonly after?: RegExp;
  readonly isFirst?: true;
  readonly rest?: RegExp;
  readonly prior?: RegExp;
}

type Row = readonly [marks: readonly Mark[], pattern: Pattern, then?: 'continue'];

const isNamed = ({ name, first, last }: Chain, pattern: Pattern): boolean =>
  pattern.first?.test(first) !== false && pattern.last?.test(last) !== false && pattern.name?.test(name) !== false;

const isPlaced = (chain: Chain, { before, after, isFirst, rest, prior }: Pattern): boolean =>
  before?.test(chain.before) !== false &&
  after?.test(chain.after) !== false &&
  (isFirst === undefined || chain.isFirst) &&
  rest?.test(chain.rest) !== false &&
  prior?.test(chain.prior()) !== false;

/** For the chains of one text: which rows fit a name is looked up once for each name. */
export function marker(language: Language): (chain: Chain) => readonly Mark[] {
  const byName = new Map<string, readonly Row[]>();
  return chain => {
    const named = byName.get(chain.name) ?? rows[language].filter(([, pattern]) => isNamed(chain, pattern));
    byName.set(chain.name, named);
    const marks: Mark[] = [];
    for (const [found, pattern, then] of named) {
      if (!isPlaced(chain, pattern)) continue;
      marks.push(...found);
      if (then === undefined) break;
    }
    return marks;
  };
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
const returnsAtOnce = (body: RegExp): Row => [['skip'], { name: /^return$/, after: /^[;}]?$/, prior: body }];

const jsTests = 'it test specify fit ftest xit xtest xspecify';
const jsNames = one(`${jsTests} describe suite context xdescribe fdescribe xcontext fcontext bench`);
const jsNotTests =
  'describe|step|use|extend|beforeEach|afterEach|beforeAll|afterAll|setTimeout|slow|info|setup|before|after';
const jsAsserts = one(
  'is not equal equals same deepEqual notDeepEqual ok notOk true false truthy falsy throws throwsAsync notThrows regex like snapshot match strictSame rejects resolves strictEqual pass fail',
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
  [['only'], { ...aliased, last: one('only') }],
  [['skip', 'condition'], { ...aliased, after: colon }],
  [['skip', 'condition'], { ...aliased, prior: /[:?]\s*$/ }],
  [['skip'], aliased],
  [[], { first: jsNames, after: /^[^(`]?$/ }],
  [[], { first: jsNames, name: /\.prototype(\.|$)/ }],
  [['test'], { first: one(jsTests), name: new RegExp(`^[^.]+(?!\\.(?:${jsNotTests})(?:\\.|$))(?:\\.|$)`) }, 'continue'],
  [['skip'], { first: jsNames, name: /^x|\.(skip|todo|fixme|skipIf|runIf|if|failing)(\.|$)/ }, 'continue'],
  [['condition'], { first: jsNames, name: /\.(skipIf|runIf|if)(\.|$)/ }, 'continue'],
  [['only'], { first: jsNames, name: /^f(it|test|describe|context)(\.|$)|\.only(\.|$)/ }, 'continue'],
  [['table'], { first: jsNames, name: /\.(each|for)(\.|$)/ }, 'continue'],
  [[], { first: jsNames }],
  [['test', 'skip'], { name: /^Deno\.test\.ignore(\.|$)/, after: jsCall }],
  [['skip'], { name: /^Deno\.test\.ignore(\.|$)/ }],
  [['test'], { name: /^Deno\.test(\.|$)/, after: jsCall }],
  [['skip'], { first: one('skip todo ignore'), after: colon, rest: /^\s*:\s*(true|")/, prior: inOptions }],
  [['only'], { first: one('only'), after: colon, rest: /^\s*:\s*true/, prior: inOptions }],
  [['assertion'], { first: one('should'), before: /\./, name: /^[^.]+(\.[^.]+){0,8}$/ }],
  [[], { first: one('should') }],
  [['assertion'], { name: assertName, after: jsCall }],
  [[], { name: oneWord }],
  [['skip'], { first: jsContexts, last: one('skip todo'), after: jsCall }],
  [['assertion'], { first: jsContexts, last: jsAsserts, after: jsCall }],
  [['assertion'], { first: one('expect'), last: one('soft poll'), after: jsCall }],
  [[], { first: one('expect') }],
  [['assertion'], { name: /^(assert|sinon)\.|\.should(\.|$)/, after: jsCall }],
];

const pythonSkips = one('skip xfail expectedFailure skipTest SkipTest');
const pythonConditions = one('skipif skipIf skipUnless importorskip');
const pythonHolders = one('pytest unittest self mark raise');
const goSubject = one('t tb b f c');
const shellAssert = /^(assert\w*|(expect|refute|ensure|verify)([A-Z_]\w*)?|test|cmp|diff|grep)$/;

const rows: Readonly<Record<Language, readonly Row[]>> = {
  js,
  // Its options stand after the test, so that there is nothing before them to look at.
  dart: [[['skip'], { first: one('skip'), after: colon, rest: /^\s*:\s*(true|")/ }], ...js],
  python: [
    returnsAtOnce(/\bdef\s+test\w*\s*\([^()]*\)[^:\n]*:\s*(?:"[^"]*"\s*)?$/),
    [['skip'], { first: one('__test__'), rest: /^\s*=\s*False/ }],
    [['test'], { first: one('def'), rest: /^\s+test/ }],
    [['skip', 'condition'], { first: pythonHolders, last: pythonConditions }],
    [['skip', 'condition'], { before: /@/, last: pythonConditions }],
    [['skip'], { first: pythonHolders, last: pythonSkips }],
    [['skip'], { before: /@/, last: pythonSkips }],
    [['skip'], { first: one('raise'), rest: /^\s+(unittest\.)?SkipTest/ }],
    [['table'], { last: one('parametrize') }],
    [['assertion'], { first: one('assert'), isFirst: true }],
    [[], { first: one('assert') }],
    [['assertion'], { first: one('pytest'), last: one('raises warns') }],
    [['assertion'], { last: assertName, after: call }],
  ],
  go: [
    returnsAtOnce(/\bfunc\s+Test\w*\s*\([^()]*\)\s*\{\s*$/),
    [['test'], { first: one('func'), rest: /^\s+(Test|Fuzz|Example|Benchmark)\w*\s*\(/ }],
    [[], { name: oneWord }],
    [['skip'], { last: one('Skip SkipNow Skipf'), after: call }],
    [['table'], { first: one('t b'), last: one('Run') }],
    [['assertion'], { first: one('assert require'), after: call }],
    [['assertion'], { first: goSubject, name: /^\w+\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow)$/, after: call }],
  ],
  rust: [
    [['test'], { before: /\[/, last: one('test rstest wasm_bindgen_test quickcheck') }],
    [['table'], { before: /\[/, last: one('test_case case') }],
    [['skip'], { before: /\[/, last: one('ignore') }],
    [[], { before: /\[/ }],
    [['assertion'], { last: /^(prop_)?assert(_\w+)?$/, after: /!/ }],
  ],
  jvm: [
    [['test', 'table'], { before: /@/, last: one('ParameterizedTest RepeatedTest TestFactory TestTemplate') }],
    [['table'], { before: /@/, last: one('CsvSource ValueSource MethodSource EnumSource') }],
    [['test'], { before: /@/, last: one('Test') }],
    [['skip'], { before: /@/, last: /^(Ignore|Disabled\w*|PendingFeature)$/ }],
    [[], { before: /@/ }],
    [['skip'], { first: one('enabled'), rest: /^\s*=\s*false/ }],
    [['skip', 'condition'], { last: one('assumeTrue assumeFalse assumeThat'), after: call }],
    [['assertion'], { first: one('assert'), after: notAssigned }],
    [[], { first: one('assert') }],
    [['assertion'], { last: assertName, after: call }],
    [['assertion'], { last: one('fail andExpect shouldThrow check'), after: call }],
  ],
  ruby: [
    [['test'], { first: one('def'), rest: /^\s+test_/ }],
    [['assertion'], { before: /\./, first: /^(should_not|(must|wont)_\w{2,})$/ }],
    [['test'], { isFirst: true, first: one('it specify scenario example test'), after: /["({d]/ }],
    [['test', 'skip'], { isFirst: true, first: one('xit xspecify xscenario xexample') }],
    [['skip'], { isFirst: true, first: one('xdescribe xcontext pending skip') }],
    [['test', 'only'], { isFirst: true, first: one('fit') }],
    [['only'], { isFirst: true, first: one('fdescribe fcontext') }],
    [['skip'], { first: one('skip'), after: colon }],
    [['only'], { first: one('focus'), after: colon }],
    [['only'], { first: one('focus'), before: colon }],
    [['assertion'], { first: one('is_expected') }],
    [['assertion'], { last: assertName, isFirst: true }],
    [['assertion'], { last: assertName, after: /[({]/ }],
  ],
  php: [
    [['test'], { first: one('function'), rest: /^\s+test/ }],
    [['test'], { before: /\[/, last: one('Test') }],
    [['skip'], { last: one('markTestSkipped markTestIncomplete') }],
    [['skip'], { before: />/, first: one('skip todo'), after: call }],
    [['only'], { before: />/, first: one('only') }],
    [['table'], { before: />/, first: one('with') }],
    [['test'], { before: /[^>]/, first: one('test it'), after: call }],
    [['assertion'], { last: assertName, after: call }],
  ],
  csharp: [
    [['test'], { before: /\[/, last: one('Fact Theory Test TestMethod TestCase DataTestMethod'), after: /^[^[]?$/ }],
    [['table'], { before: /\[/, last: one('InlineData DataRow MemberData') }],
    [['skip'], { before: /\[/, last: one('Ignore Explicit') }],
    [[], { before: /\[/ }],
    [['skip'], { first: one('Skip'), rest: /^\s*=\s*"/ }],
    [['skip'], { name: /^Skip\.If(\.|$)/ }],
    [['skip'], { first: one('Assert'), last: one('Ignore Inconclusive Skip'), after: call }],
    [['assertion'], { first: one('Assert'), after: call }],
    [['assertion'], { last: /^(Should\w*|Verify|VerifyAll)$/, after: call }],
  ],
  shell: [
    [['test'], { before: /@/, first: one('test') }],
    [['test'], { first: /^test./, rest: /^\s*\(\)/ }],
    [['skip'], { isFirst: true, first: one('skip startSkipping') }],
    [['table'], { isFirst: true, first: shellAssert, after: /=/ }],
    [['assertion'], { isFirst: true, first: shellAssert }],
  ],
  elixir: [
    [['test'], { isFirst: true, first: one('test property'), after: /"/ }],
    [['skip'], { before: /@/, first: one('tag moduletag describetag'), rest: /^\s*:?skip/ }],
    [['assertion'], { first: /^(assert|refute|catch_\w+)(_\w+)?$/, after: notAssigned }],
  ],
  cpp: [
    [
      ['test'],
      { name: one('TEST TEST_F TEST_P TYPED_TEST TEST_CASE SCENARIO BOOST_AUTO_TEST_CASE START_TEST'), after: call },
    ],
    [['skip'], { name: /^(GTEST_SKIP|SKIP|TEST_IGNORE\w*)$/, after: call }],
    [
      ['assertion'],
      {
        name: /^(EXPECT_|ASSERT_|REQUIRE|CHECK|BOOST_(CHECK|REQUIRE|TEST)|TEST_ASSERT|XCTAssert|assert$|ck_assert)[^.]*$/,
        after: call,
      },
    ],
  ],
  swift: [
    [['test'], { first: one('func'), rest: /^\s+test\w*\s*\(/ }],
    [['test', 'skip'], { before: /@/, first: one('Test'), rest: /^\s*\([^)]*\.disabled/ }],
    [['test'], { before: /@/, first: one('Test') }],
    [['skip'], { first: one('XCTSkip XCTSkipIf') }],
    [['assertion'], { first: /^XCT(Assert|Unwrap|Fail)/ }],
    [['assertion'], { before: /#/, first: one('expect'), after: call }],
  ],
};
