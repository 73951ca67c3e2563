// Settings and comments by which tests are left out, thresholds fall, and linters and compilers are told to be quiet: rows of rules.
import type { Rule } from './rule.ts';

const { raw } = String;

const runners =
  /(^|\/)([\w.-]+\.(config|conf|workspace)\.[cm]?[jt]s|jest\.config\.json|deno\.jsonc?|pyproject\.toml|pytest\.ini|tox\.ini|setup\.cfg|bunfig\.toml|\.coveragerc|\.(mocharc|nycrc|c8rc|taprc)(\.\w+)?|\.rspec|phpunit\.xml(\.dist)?|[\w.-]*\.runsettings|junit-platform\.properties|testng\.xml)$/;
const runnersAndManifests = new RegExp(`${runners.source}|(^|/)package\\.json$`);
const compilers = /(^|\/)[jt]sconfig[\w.-]*\.json$/;
const builds = /(^|\/)(pom\.xml|build\.gradle(\.kts)?|build\.sbt|[\w.-]+\.(csproj|fsproj|props|targets))$/;
const linters =
  /(^|\/)(eslint\.config\.\w+|\.eslintrc(\.\w+)?|biome\.jsonc?|\.oxlintrc\.json|\.?xo\.config\.\w+|\.golangci\.(ya?ml|toml)|\.rubocop(_todo)?\.yml|\.?ruff\.toml|pyproject\.toml|mypy\.ini|setup\.cfg|tox\.ini|\.flake8|\.pylintrc|pyrightconfig\.json|analysis_options\.yaml|phpstan\.neon(\.dist)?|\.stylelintrc(\.\w+)?|\.credo\.exs|detekt\.yml|checkstyle\.xml|Cargo\.toml|clippy\.toml|\.pre-commit-config\.yaml)$/;
const pipelines =
  /(^|\/)(\.github\/workflows\/[^/]+\.ya?ml|\.(gitlab-ci|travis)\.ya?ml|(azure|bitbucket)-pipelines\.ya?ml|\.circleci\/config\.ya?ml)$/;
const sources = /\.(py|[cm]?[jt]sx?|vue|svelte|go|rs|java|kts?|rb|php|cs|exs?|c|cc|cpp|h|hpp|sh|bash)$/;

const anyLinter = /\b(?:lint|check|analy[sz]e|verify|ci|validate|pre-commit|types?|type-?check)\b/;
const linter = (names: string): RegExp => new RegExp(`${anyLinter.source}|\\b(?:${names})\\b`);
const allLinters = linter(
  'eslint|biome|oxlint|xo|standard|ruff|mypy|pyright|flake8|pylint|golangci-lint|staticcheck|clippy|rubocop|phpstan|psalm|credo|detekt|checkstyle|stylelint|tsc',
);

/** A setting with its value: a list over several lines, or the rest of its line and what is indented below. */
const setting = (names: string): RegExp =>
  new RegExp(
    raw`(?<![\w.-])["']?(?:${names})["']?[ \t]*[:=][ \t]*(?:\[[^\]]{0,4000}\]|[^\n]*(?:\n[ \t]*-[ \t][^\n]*|\n[ \t]+[^\s=:{}[\]]+(?=\n|$))*)`,
    'g',
  );

const compiling = linter('tsc|vue-tsc|ts-jest|build|dist');

const leftOut = 'it leaves tests out, or files out of what they are held to';
const fewer = 'it decides which tests run, and takes in less than before';

const selectionRules: readonly Rule[] = [
  {
    files: runners,
    brings: setting('exclude\\w*|norecursedirs|testIgnore|grepInvert|modulePathIgnorePatterns'),
    compare: 'new',
    what: leftOut,
  },
  { files: runners, brings: setting('omit'), compare: 'new', check: /cov/, what: leftOut },
  { files: /(^|\/)\.mocharc/, brings: setting('ignore'), compare: 'new', what: leftOut },
  {
    files: runnersAndManifests,
    brings: setting('(?:test|coverage)PathIgnorePatterns|testNamePattern|TestCaseFilter'),
    compare: 'new',
    what: leftOut,
  },
  {
    files: runners,
    brings: setting('python_(?:files|classes|functions)|grep|fgrep|invert'),
    compare: 'first',
    what: leftOut,
  },
  {
    files: runners,
    brings: setting('testpaths|python_(?:files|classes|functions)|include|files|spec|testDir|roots'),
    compare: 'lost',
    what: fewer,
  },
  {
    files: runnersAndManifests,
    brings: setting('testMatch|testRegex|collectCoverageFrom'),
    compare: 'lost',
    what: fewer,
  },
  { files: compilers, brings: setting('include|files'), compare: 'lost', check: compiling, what: fewer },
  { files: compilers, brings: setting('exclude'), compare: 'new', check: compiling, what: leftOut },
  {
    files: /(^|\/)(Rakefile|phpunit\.xml(\.dist)?)$/,
    brings: /\.pattern\s*=[^\n]*|<directory>[^<]*/g,
    compare: 'lost',
    what: fewer,
  },
  {
    // One file by its name, or one that is taken out again.
    files: runnersAndManifests,
    brings:
      /["'](?:include|testMatch|files|collectCoverageFrom)["']?[ \t]*:[ \t]*\[[^\]]{0,2000}["'`]!|\b(?:include|testMatch)["']?[ \t]*:[ \t]*\[\s*["'`][\w./-]+\.\w+["'`]\s*\]|\bcollectCoverageFrom\b[^\]]{0,2000}["'`]!/g,
    what: leftOut,
  },
  {
    files: runners,
    brings:
      /(?<=[\s"'=])(?:-k[ \t]|-m[ \t]+["'\\]*not\b|--tag[ =]~|-t ?~|--exclude-(?:pattern|tag)|-p[ \t]+no:|--test-name-pattern|--grep)[^\n]*|<(?:exclude|TestCaseFilter)>|^commands[ \t]*=[ \t]*-|\n[ \t]+-[ \t]+(?:pytest|python)\b/gm,
    what: leftOut,
  },
  {
    files: runners,
    brings: /--(?:strict[\w-]*|doctest-modules|runxfail)|-W[ \t]*error/g,
    compare: 'lost',
    what: 'a runner is less strict',
  },
  {
    files: /(^|\/)((spec|rails|test)_helper\.(rb|exs)|conftest\.py)$/,
    brings:
      /\bfilter_run(?:_excluding|_including)?\b|\bExUnit\.(?:start|configure)\([^)]{0,300}\b(?:exclude|only_test_ids)\b|exclude_pattern|\bpytest\.(?:skip|xfail|exit)\b|\badd_marker\b|\bfailure_exit_code\s*=\s*0|\bexitstatus\s*=\s*0|\bSystem\.halt\(0\)|\bexit!|\bat_exit\b|^[ \t]*exit\b/gm,
    what: leftOut,
  },
  {
    files: builds,
    brings:
      /<exclude>[^<]*Test[^<]*|<include>(?:\*\*\/)?\w+Tests?\b|<(?:excludedGroups|groups|testSourceDirectory)>|<phase>none|<Compile\s+Remove=["'][^"']*\.[cfv][sb]|\bexclude(?:Tags|TestsMatching|Categories)?[ \t(]+["'][^"'\n]*["']|\bincludeTestsMatching\b[^\n]*|\b(?:isI|i)gnoreFailures\b[ \t]*=?[ \t]*true|\b[tT]est\w{0,50}\b[^{}\n]{0,100}\{[^}]{0,1000}\b(?:(?:isE|e)nabled[ \t]*=[ \t]*false|onlyIf\b)/g,
    what: leftOut,
  },
  {
    files: /(^|\/)Cargo\.toml$/,
    brings: /^[ \t]*(?:test|doctest|harness|autotests)[ \t]*=[ \t]*false/gm,
    what: leftOut,
  },
  {
    files: runnersAndManifests,
    brings:
      /["']?\b(?:fail_under|cov-fail-under|lines|branches|functions|statements|minimum_coverage)\b["']?[ \t]*[:=][ \t]*\d+(?:\.\d+)?/g,
    compare: 'lower',
    what: 'a threshold is lower, or gone',
  },
  {
    files: runners,
    brings: /["']?check-coverage["']?[ \t]*[:=][ \t]*true/g,
    compare: 'fewer',
    what: 'a threshold is lower, or gone',
  },
  {
    files: runnersAndManifests,
    brings: /(?<![\w.])["']?(?:retries|retry|reruns)["']?[ \t]*[:= ][ \t]*\d+/g,
    compare: 'higher',
    what: 'a test that fails is run until it passes',
  },
  {
    files: /(^|\/)CMakeLists\.txt$/,
    brings: /[\w./-]*test[\w-]*\.(?:c|cc|cpp|cxx)\b|\b(?:add_test|\w+_discover_tests)\b/gi,
    compare: 'fewer',
    what: fewer,
  },
  {
    files: /(^|\/)(GNUm|[Mm])akefile$/,
    brings: /-W(?:error|all|extra)\b|--error-exitcode=[1-9]\d*/g,
    compare: 'fewer',
    what: 'a linter or compiler is less strict',
  },
  {
    files: runnersAndManifests,
    brings:
      /\b(?:testRunner|runner|resolver|snapshotResolver|testEnvironment|bootstrap)["']?[ \t]*[:=][ \t]*["'](?:\.{0,2}\/|<rootDir>)[^\n]*/g,
    compare: 'other',
    what: 'it runs tests by something else',
  },
  {
    files: pipelines,
    brings:
      /(?:continue-on-error|allow_failure|continueOnError):[ \t]*true|^[ \t-]*if:[ \t]*(?:\$\{\{[ \t]*)?false\b|\|\|[ \t]*(?:true|:|exit 0)|\bset \+e\b|when:[ \t]*never/gm,
    what: 'a step of the pipeline may fail unseen, or is left out',
  },
  {
    files: pipelines,
    brings:
      /^[ \t-]*(?:run:[ \t]*)?[^#\n:]{0,300}\b(?:test|check|lint|pytest|vitest|jest|tsc|rspec|phpunit|clippy)\b[^#\n:]{0,300}$/gm,
    compare: 'dropped',
    what: 'the pipeline no longer runs a check',
  },
];

const strictness = 'a linter or compiler is less strict';

const strictnessRules: readonly Rule[] = [
  {
    files: compilers,
    brings:
      /"(?:strict|noUn\w+|noFall\w+|noProp\w+|noImplicit(?:Returns|Override)|exactOptionalPropertyTypes|checkJs)"[ \t]*:[ \t]*true/g,
    compare: 'lost',
    what: strictness,
  },
  {
    // Those that strict implies.
    files: compilers,
    brings: /"(?:strict[A-Z]\w*|alwaysStrict|noImplicit(?:Any|This)|useUnknownInCatchVariables)"[ \t]*:[ \t]*true/g,
    compare: 'lost',
    unless: /"strict"[ \t]*:[ \t]*true/,
    what: strictness,
  },
  {
    files: linters,
    brings:
      /["'](?:off|warn|allow|none)["']|^[ \t]+\w+:[ \t]*ignore[ \t]*$|"typeCheckingMode"[ \t]*:[ \t]*"(?:basic|standard)"|:[ \t]*\[?0\b|\bEnabled:[ \t]*false|^[ \t]*(?:ignore_errors|ignore_missing_imports|follow_imports)[ \t]*[=:][^\n]*|per-file-ignores[^\n]*\n[^\n]*|<(?:NoWarn|TreatWarningsAsErrors>false)/gim,
    check: allLinters,
    what: strictness,
  },
  {
    files: linters,
    brings: /^[ \t]*["']?(?:strict|disallow_\w+|warn_\w+|check_untyped_defs)["']?[ \t]*[=:][ \t]*true/gim,
    compare: 'lost',
    check: allLinters,
    what: strictness,
  },
  {
    files: linters,
    brings: setting('select|extend-select|enable|files'),
    compare: 'lost',
    check: allLinters,
    what: strictness,
  },
  {
    files: linters,
    brings: setting(
      'ignores|ignore|ignorePatterns|extend-ignore|exclude|extend-exclude|Exclude|disable|disable_error_code|excludePaths',
    ),
    compare: 'new',
    check: allLinters,
    what: 'it leaves files or rules out of a check',
  },
  {
    files: /(^|\/)[\w.-]*baseline[\w.-]*\.(?:neon|xml|json)$/,
    brings: /\bcount["']?[ \t]*[:=][ \t]*["']?\d+/g,
    compare: 'higher',
    check: allLinters,
    what: 'more errors are let through',
  },
  {
    files: /\.(?:css|scss|less)$/,
    brings: /\/\*\s*stylelint-disable/g,
    check: /\bstylelint\b|\blint\b/,
    isComment: true,
    what: 'it silences a linter or a compiler, which a check may be',
  },
  { files: /\.(csproj|fsproj|props)$/, brings: /<NoWarn>[^<]*|<TreatWarningsAsErrors>false/g, what: strictness },
];

/** Which comments and attributes silence which programs; only where one of them may be the check. */
const silencers: readonly (readonly [comment: RegExp, check: RegExp])[] = [
  [
    /(?:\/\/|\/\*|\{\/\*|<!--)\s*@ts-(?:ignore|expect-error|nocheck)/g,
    linter('tsc|vue-tsc|svelte-check|deno|dist|build'),
  ],
  [
    /(?:\/\/|\/\*|<!--)\s*(?:(?:eslint|oxlint|tslint|stylelint)[-:]disable|biome-ignore|deno-lint-ignore)/g,
    linter('eslint|biome|oxlint|xo|standard|tslint|stylelint|deno'),
  ],
  [
    /#\s*(?:noqa(?!:\s*F401\s*$)|ruff:\s*noqa|type:\s*ignore|mypy:|pyright:|pylint:\s*(?:disable|skip)|flake8:|(?<!(?:__name__|TYPE_CHECKING|NotImplementedError)[^\n]{0,60})pragma:\s*no cover|ty:\s*ignore)/gim,
    linter('ruff|mypy|pyright|ty|pylint|flake8|tox|nox|cov\\S*'),
  ],
  [/\/\/\s?(?:nolint|lint:ignore|#nosec)/g, linter('golangci-lint|staticcheck|revive|gosec|vet')],
  [/#!?\[(?:allow|expect)\(|#!?\[cfg_attr\([^\n]*allow\(/g, linter('clippy|warnings')],
  [
    /@SuppressWarnings|@Suppress\(|@SuppressFBWarnings|CHECKSTYLE[:.]OFF|NOSONAR|NOPMD|noinspection/g,
    linter('checkstyle\\S*|spotbugs\\S*|pmd\\S*|detekt|ktlint\\S*|-Werror|errorprone'),
  ],
  [
    /#\s*(?:rubocop|standard):(?:disable|todo)|#\s*steep:ignore|#\s*typed:\s*(?:ignore|false)/g,
    linter('rubocop|standardrb|steep|srb'),
  ],
  [
    /@phpstan-ignore|@psalm-suppress|phpcs:(?:disable|ignore)|@codingStandardsIgnore/g,
    linter('phpstan|psalm|phpcs|php-cs-fixer'),
  ],
  [/#pragma warning disable|\[(?:assembly:\s*)?(?:\w+\.)*SuppressMessage/g, linter('warnaserror|format|build')],
  [/#\s*credo:disable|@dialyzer/g, linter('credo|dialyzer')],
  [/#\s*shellcheck\s+disable/g, linter('shellcheck')],
  [
    /(?:istanbul|c8|v8) ignore|(?<!(?:__name__|TYPE_CHECKING|NotImplementedError)[^\n]{0,60})pragma: no cover|#\[coverage\(off\)\]/g,
    linter('coverage|c8|nyc|tarpaulin'),
  ],
];

const suppressionRules = silencers.map(
  ([brings, check]): Rule => ({
    files: sources,
    brings,
    check,
    isComment: true,
    what: 'it silences a linter or a compiler, which a check may be',
  }),
);

/** What is tested by its name: its words, whatever joins them. */
const mockOf = (name: string): RegExp => {
  const subject = name.replace(/[^\w-]/g, '\\$&').replace(/[-_]+/g, '[-_]?');
  if (subject === '') return /(?!)/g;
  return new RegExp(
    [
      raw`\b(?:(?:vi|jest)\.(?:mock|doMock)|mock\.module)\(\s*["'\x60](?:[^"'\x60\n]*\/)?${subject}(?:\.\w+)?["'\x60](?![^;]{0,200}(?:importActual|importOriginal|requireActual))`,
      raw`\bspyOn\(\s*${subject}\s*,[^;]{0,120}\.mock(?:Return|Resolved|Implementation)`,
      raw`\b(?:patch|patch\.object|setattr)\(\s*(?:["'](?:[\w.]*\.)?(?:test_)?${subject}\.|["']?(?:[\w.]*\.)?(?:test_)?${subject}["']?\s*,)`,
      raw`\b(?:mock|spy|createMock|createStub|getMockBuilder|instance_double|class_double|Mock<|allow|allow_any_instance_of)[(<]\s*${subject}\b`,
    ].join('|'),
    'gi',
  );
};

const testRules: readonly Rule[] = [
  { files: sources, brings: mockOf, what: 'it replaces the very thing that it tests' },
  {
    // Whatever the file is called: the assertion calls what was patched just before.
    files: /\.py$/,
    brings: /\bsetattr\(\s*\w+\s*,\s*["'](\w+)["'][^\n]*\n(?:[^\n]*\n){0,10}?[ \t]+assert [^\n]*\b\1\(/g,
    what: 'it replaces the very thing that it tests',
  },
  {
    files: /\.[cm]?[jt]sx?$/,
    brings: /^[ \t]*(?:global(?:This)?\.)?(?:expect|assert|chai)(?:\.\w+)?[ \t]*=[^=>]/gm,
    what: 'it makes comparisons or assertions come out well',
  },
  {
    files: /\.[cm]?[jt]sx?$/,
    brings:
      /\bexpect\.extend\(\s*\{[\s\S]{0,400}?\b(?:toBe|toEqual|toStrictEqual|toThrow|toMatch|toMatchObject|toContain|toHaveLength)\s*[(:]|\bCypress\.on\(\s*["']fail["'][^;]{0,300}return false/g,
    what: 'it makes comparisons or assertions come out well',
  },
  {
    files: sources,
    brings:
      /process\.(?:on|once)\(\s*["'](?:exit|beforeExit)["'][^;]{0,200}?(?:exitCode\s*=|process\.exit|reallyExit)/g,
    what: 'it decides about the exit code of whoever runs it',
  },
  {
    files: sources,
    brings:
      /^[ \t]*(?:(?:const|let|var|final|static)[ \t]+)?([A-Z][A-Z_]+|\w{0,30}(?:cases|rows|table|inputs|examples))[ \t]*(?::[^=\n]{0,100})?=[ \t]*(?:\[\s*\]|\(\s*\)|list\(\))[ \t]*;?[ \t]*$(?![\s\S]{0,3000}?\b\1(?:\.(?:push|append|add|extend|unshift)\b|\s*\+?=[^=]))|\.(?:each|for)\(\s*\[\s*\]|\bparametrize\([^)\n]{0,200},\s*\[\s*\]/gm,
    compare: 'brought',
    what: 'its table of cases is empty',
  },
  {
    files: /\.[cm]?[jt]sx?$/,
    brings:
      /\btoMatchInlineSnapshot\([^;]{0,1000}?(?:\bNaN\b|(?<!": )\bundefined\b|\[object Object\]|Cannot read propert)|["'`](?:undefined){2,}["'`]/g,
    compare: 'brought',
    what: 'an expected answer now reads like a failure',
  },
  {
    files: /(^|\/)(?:t|tests?|specs?)\/[^\n]*\.(?:t|lua|hs)$/,
    brings: /\bskip_all\b|\bpcall\(\s*function\b|\bpendingWith\b|^[ \t]*pending\b/gm,
    what: 'its tests are left out, or can hardly fail',
  },
  {
    files: /(^|\/)(tests?|__tests__|spec)\/[^\n]*\.[cm]?[jt]sx?$/,
    brings: /\b(?:mochaHooks|(?:before|after)(?:All|Each)?)\b[\s\S]{0,300}?process\.exit\(0?\)/g,
    what: 'it ends the test run with exit code 0',
  },
  {
    files: /(^|\/)[\w.-]*(?:setup|global|teardown|hooks?|bootstrap|preload|support)[\w.-]*\.([cm]?[jt]s|php)$/i,
    brings: /\bprocess\.exit\(\s*0?\s*\)|^[ \t]*(?:exit|die)(?:\(0?\))?;/gm,
    what: 'it runs before the tests and ends them with exit code 0',
  },
];

export const settingRules: readonly Rule[] = [...selectionRules, ...strictnessRules];
/** Of sources, not of tests. */
export const sourceRules: readonly Rule[] = suppressionRules;
/** Of tests and what stands beside them. */
export const testFileRules: readonly Rule[] = testRules;
