// Surroundings of a check: files that it does not name and that decide all the same what it runs, and sources that outwit it.
import type { Finding } from '../../core/task.ts';
import { missing } from './joined.ts';
import { isBroken, type Rule } from './rule.ts';
import { settingRules, sourceRules, testFileRules } from './settings.ts';
import { baseName, isTestConfiguration, isTestFile, languageOf, subjectOf } from './source-files.ts';
import { type ChangedFile, changed, weakened } from './weakening.ts';

/** Whose place nobody but a person may give to something else. */
const runners = [
  ...[
    'vitest',
    '@vitest/[\\w-]+',
    '@?jest(?:/[\\w-]+)?',
    'mocha',
    'chai',
    'sinon',
    'ava',
    'tape?',
    'jasmine',
    'expect',
  ],
  ...['(?:node:)?assert(?:/strict)?', 'node:test', '@?playwright(?:/test)?', 'cypress', '@testing-library/[\\w-]+'],
  ...['pytest', 'unittest', 'nose2?', 'hypothesis', 'coverage', 'rspec(?:-\\w+)?', 'minitest', 'phpunit/phpunit'],
  ...[
    'github\\.com/stretchr/testify',
    'github\\.com/onsi/[\\w-]+',
    'gotest\\.tools[\\w/.]*',
    'proptest',
    'insta',
    'rstest',
  ],
].join('|');

const settings =
  /(^|\/)([\w.-]+\.(config|conf|setup)\.[cm]?[jt]s|[jt]sconfig[\w.-]*\.json|package\.json|deno\.jsonc?|go\.(mod|work)|Cargo\.toml|pyproject\.toml|Pipfile|requirements[\w.-]*\.txt|constraints\.txt|composer\.json|Gemfile)$/;
const selections =
  /(^|\/)([\w.-]+\.(config|conf)\.[cm]?[jt]s|package\.json|[jt]sconfig[\w.-]*\.json|pyproject\.toml|pytest\.ini|tox\.ini|setup\.cfg|\.coveragerc|\.mocharc(\.\w+)?|\.rspec|phpunit\.xml(\.dist)?|Cargo\.toml|[\w.-]+\.csproj|[\w.-]+\.runsettings|junit-platform\.properties|testng\.xml)$/;
const sources = /\.(py|[cm]?[jt]sx?|go|rs|java|kt|rb|php|c|cc|cpp|h|hpp|sh)$/;

const variables =
  'NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|STARTUP|HOME|WARNINGS|OPTIMIZE)|PYTEST_\\w+|BASH_ENV|ENV|LD_\\w+|DYLD_\\w+|PATH|RUBY(?:OPT|LIB)|PERL5(?:OPT|LIB)|_?JAVA_(?:TOOL_)?OPTIONS|MAVEN_\\w+|GRADLE_OPTS|GOFLAGS|RUSTFLAGS|RUSTC\\w*|CARGO_\\w+|MAKEFLAGS|SHELL|(?:VITEST|JEST|MOCHA)_\\w+';

/** In this order; a file may break several. */
const rules: readonly Rule[] = [
  {
    files: /(^|\/)((site|user)customize\.py|site-packages\/[^/]+\.pth)$/,
    brings: /\S[^\n]*/g,
    what: 'Python runs it before everything else',
  },
  {
    files:
      /(^|\/)(\.env(\.[\w.-]+)?|\.envrc|\.?mise\.toml|\.tool-versions|\.yarnrc\.yml|docker-compose[\w.-]*\.ya?ml|\.cargo\/config(\.toml)?)$/,
    brings: new RegExp(`^[ \\t-]*(?:export[ \\t]+)?["']?(?:${variables})["']?[ \\t]*[=:][^\\n]*`, 'gm'),
    compare: 'other',
    what: 'it sets a variable that decides what programs run',
  },
  {
    files: /(^|\/)(\.envrc|\.?mise\.toml)$/,
    brings: /^[ \t]*(?:PATH_add|path_add|_\.path|_\.source)\b[^\n]*/gm,
    what: 'it puts other programs before those of the machine',
  },
  {
    files: /(^|\/)(\.python-version|\.node-version|\.nvmrc|\.ruby-version|rust-toolchain(\.toml)?)$/,
    brings: /[^\n]*(?:\/|path[ \t]*=)[^\n]*/g,
    what: 'it names an interpreter by its path',
  },
  {
    files: /(^|\/)\.cargo\/config(\.toml)?$/,
    brings: /^[ \t]*(?:runner|rustc(?:-workspace)?(?:-wrapper)?|linker|rustflags|test|t)[ \t]*=[^\n]*/gm,
    compare: 'other',
    what: 'it decides by what tests are built and run',
  },
  {
    files: settings,
    brings: new RegExp(
      `["'\`]?\\^?(?:${runners})\\$?["'\`]?[ \\t]*(?::|=>|@|=)[ \\t]*[[{]?[ \\t]*(?:path[ \\t]*[:=][ \\t]*)?["'\`]?(?:<rootDir>|file:|link:|portal:|npm:|git\\+|https?:|\\.{0,2}/|[\\w./-]*\\b(?:fake|stub|mock|shim)|fileURLToPath|(?:path\\.)?resolve|new URL)[^\\n]*`,
      'g',
    ),
    what: 'it puts something else in the place of a test library',
  },
  {
    files: /(^|\/)(__mocks__\/[^\n]*|(pytest|unittest|vitest|jest|mocha|chai)\/index\.\w+)$/,
    brings: /\S[\s\S]*/g,
    severity: 'report',
    what: 'tests may get it in the place of the real thing',
  },
  {
    files: selections,
    brings:
      /--(?:co|collect-only|setup-plan|fixtures|listTests|list-tests|no-run|lf|last-failed|sw|stepwise|onlyChanged|updateSnapshot|update-snapshots?|snapshot-update)\b[^\n]*|\b(?:harness|autotests)[ \t]*=[ \t]*false|\b(?:UPDATE_(?:GOLDEN|EXPECT|SNAPSHOTS?)|INSTA_UPDATE|BLESS)\b[^\n]*|\bpytest11\b|["']?(?:update|updateSnapshot)["']?[ \t]*:[ \t]*(?:true|["'](?:all|always)["'])|\bIsTestProject>false|["']?dangerouslyIgnoreUnhandledErrors["']?[ \t]*:[ \t]*true|conditions\.deactivate|["'](?:strict\w*|noImplicit\w+|checkJs)["'][ \t]*:[ \t]*false/g,
    what: 'tests are listed, rewritten or left out instead of run, or a check is less strict',
  },
  {
    files: /(^|\/)CMakeLists\.txt$|\.cmake$/,
    brings: /\b(?:WILL_FAIL|DISABLED|SKIP_RETURN_CODE|SKIP_REGULAR_EXPRESSION|PASS_REGULAR_EXPRESSION)\b[^\n]*/g,
    what: 'it turns what a test says around',
  },
  {
    files: /(^|\/)((GNUm|[Mm])akefile|[\w.-]+\.mk)$/,
    brings: /^[ \t]*[-s]?include[ \t][^\n]*|\$\(eval\b[^\n]*/gm,
    what: 'it takes in another file, whose recipes count',
  },
  {
    files: /(^|\/)(META-INF\/services\/org\.junit[^/]*|junit-platform\.properties)$/,
    brings: /^[^#\s][^\n]*/gm,
    what: 'the test platform loads what it names',
  },
  {
    files: /(^|\/)(__init__|conftest|sitecustomize|usercustomize)\.py$|\.setup\.\w+$|(^|\/)setup[\w.-]*\.[cm]?[jt]s$/,
    brings:
      /\b(?:atexit|sys\.(?:exit|settrace|setprofile|meta_path|excepthook)|sys\.modules\s*\[|importlib|builtins\.\w+\s*=|(?<!monkeypatch\.)setattr\s*\(|(?:vi|jest)\.(?:mock|doMock)\(\s*["'`](?:\.|@\/|~\/|src\/)|(?:vi|jest)\.spyOn\(\s*(?!console|window|global|process|Date|Math)|require\.cache|Module\._\w+|globalThis\.(?:expect|it|test|describe|assert)\s*=)/g,
    what: 'it runs before the tests and changes what they run on',
  },
  {
    files: sources,
    brings:
      /\bos\._exit\s*\(|\bprocess\.(?:reallyExit|exit\s*=[^=])|\bprocess\.exitCode\s*=\s*0\b|process\.(?:on|once)\(\s*['"](?:exit|beforeExit)['"][\s\S]{0,200}?(?:exitCode|process\.exit|reallyExit)|\batexit\.register[\s\S]{0,200}?_exit|\bat_exit\b[\s\S]{0,100}?exit!|register_shutdown_function[\s\S]{0,200}?exit\s*\(|getRuntime\(\)\.halt|\bfunc init\(\)\s*\{[\s\S]{0,200}?os\.Exit\(0\)|__attribute__\s*\(\(\s*constructor[\s\S]{0,300}?_?exit\s*\(|\btrap\s+['"]?exit 0/g,
    what: 'it decides about the exit code of whoever runs it',
  },
  {
    files: /\.py$/,
    brings: /^\s*(?:def load_tests\b|pytest_plugins\b)/gm,
    what: 'it decides which tests are loaded, and by what',
  },
  {
    files: sources,
    brings:
      /\bPYTEST_CURRENT_TEST\b|\bJEST_WORKER_ID\b|\b(?:env|ENV)\.(?:VITEST\b|VITEST_(?:WORKER|POOL)_ID)|\bNODE_ENV\s*===?\s*["']test["']\s*\)\s*\{?\s*return\s+(?!null\b|undefined\b|false\b|true\b|next\b|this\b|\[\]|\{\})[^;\s}]|["'](?:pytest|unittest)["']\s+in\s+sys\.modules|\bRALPH_(?:TASK|LOOP|ITERATION)\b|#\[cfg\((?:not\()?test\)?\)\]\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\b|\btesting\.Testing\(\)|inspect\.(?:stack|currentframe)\(|sys\._getframe\(/g,
    what: 'it knows when it is being tested, and may behave then',
  },
  {
    files: sources,
    brings:
      /def __eq__\([^)]*\)[^:\n]*:\s*(?:#[^\n]*\s*)?return True\b|\basymmetricMatch\b|\bboolean equals\(\s*(?:final\s+)?Object[^)]*\)\s*\{\s*return true|\b(?:unittest|pytest|TestCase)(?:\.\w+)*\.(?:assert\w*|run\w*|fail\w*|main|raises)\s*=[^=]|\b(?:assert|chai|expect)\.\w+\s*=[^=]/g,
    what: 'it makes comparisons or assertions come out well',
  },
  {
    files: sources,
    brings:
      /@ts-nocheck|\/\*\s*eslint-disable\s*\*\/|^#\s*(?:mypy:\s*ignore-errors|pylint:\s*skip-file|flake8:\s*noqa|ruff:\s*noqa|type:\s*ignore)\s*$|^#!\[allow\(/gm,
    what: 'it takes a whole file out of a check of its text',
  },
  {
    files: /(^|\/)\.(eslintignore|prettierignore|stylelintignore|flake8|pylintrc)$/,
    brings: /^[^#\s][^\n]*/gm,
    what: 'it leaves files out of a check',
  },
  {
    files: /(^|\/)__snapshots__\/|\.(snap|golden|approved\.\w+)$/,
    brings:
      /\bNaN\b|(?<!": )\bundefined\b|\[object Object\]|<nil>|\bCannot read propert|\bis not (?:a function|defined)\b|\bhas no attribute\b|Traceback \(most recent|\bpanic:/g,
    compare: 'brought',
    what: 'an expected answer now reads like a failure',
  },
  {
    files: /(^|\/)__snapshots__\/|\.(snap|golden|approved\.\w+)$/,
    brings: /[\s\S]+/g,
    compare: 'other',
    severity: 'report',
    what: 'an expected answer was changed',
  },
  {
    files: sources,
    brings: /['"`][^'"`\n]*(?:__snapshots__|\btests?\/|\bfixtures?\/|\bexpected\b|\bgolden)[^'"`\n]*['"`]/g,
    severity: 'report',
    what: 'it may read the expected answers',
  },
];

function withoutLineComments(path: string, text: string): string {
  if (/\.(sh|bash)$/.test(path)) return text.replace(/(^|\s)#(?!!).*$/gm, '$1');
  const isSlashed = sources.test(path) && !/\.(py|rb)$/.test(path);
  return isSlashed ? text.replace(/^\s*(?:\/\/(?!\s*@ts-)|\*(?!\/)).*$/gm, '') : text;
}

const all: readonly Rule[] = [...rules, ...settingRules, ...sourceRules, ...testFileRules];

const linesOf = (text: string, pattern: RegExp): readonly string[] =>
  (text.match(pattern) ?? []).map(line => line.trim()).sort();

/** What of a rule stands in a text of this file. */
function broughtBy(rule: Rule, path: string, text: string): readonly string[] {
  const brings = rule.brings instanceof RegExp ? rule.brings : rule.brings(subjectOf(path));
  return linesOf(rule.isComment ? text : withoutLineComments(path, text), brings);
}

/** What of a rule went from all files together, and what came: a setting may move from one to another. */
interface Moves {
  readonly gone: readonly string[];
  readonly come: readonly string[];
}

const unquoted = (line: string): string => line.replaceAll("'", '"');

function movesOf(rule: Rule, files: readonly ChangedFile[]): Moves {
  const sides = files
    .filter(({ path }) => rule.files.test(path))
    .map(({ path, before = '', after = '' }) => [broughtBy(rule, path, before), broughtBy(rule, path, after)] as const);
  const [gone, come] = [sides.flatMap(([was, is]) => missing(was, is)), sides.flatMap(([was, is]) => missing(is, was))];
  return { gone, come };
}

function breaks(rule: Rule, { path, before, after }: ChangedFile, moves: (rule: Rule) => Moves): boolean {
  if (after === undefined || !rule.files.test(path) || rule.unless?.test(after)) return false;
  if (before === undefined && /^(?:other|brought)$/.test(rule.compare ?? '')) return false;
  const [was, is] = [broughtBy(rule, path, before ?? ''), broughtBy(rule, path, after)];
  if (was.join('\n') === is.join('\n')) return false;
  const { gone, come } = moves(rule);
  const now = new Set(is.map(unquoted));
  const moved = missing(gone, was).filter(line => now.has(unquoted(line)));
  return isBroken(rule, [...was, ...moved], is, come);
}

/** A test may patch, mock and end as it likes: its own rules look at that, and only at tests. */
function isForeign(rule: Rule, path: string): boolean {
  if (typeof rule.brings === 'function') return !isTestFile(path);
  const isOfSources = rule.files === sources || sourceRules.includes(rule);
  return isOfSources && (isTestFile(path) || (isTestConfiguration(path) && !/\.py$/.test(path)));
}

/** `programs`: what the checks start by their names. */
export function surroundingFindings(
  files: readonly ChangedFile[],
  checks: readonly string[],
  programs: ReadonlySet<string>,
): readonly Finding[] {
  const asked = all.filter(({ check }) => check === undefined || checks.some(line => check.test(line)));
  const known = new Map<Rule, Moves>();
  const moves = (rule: Rule): Moves => {
    const found = known.get(rule) ?? movesOf(rule, files);
    known.set(rule, found);
    return found;
  };
  return files.flatMap(file => {
    const found = asked.filter(rule => !isForeign(rule, file.path) && breaks(rule, file, moves));
    const findings = found.map(({ severity, what }) => (severity === 'report' ? changed : weakened)(file.path, what));
    const isShim = file.after !== undefined && file.before === undefined && programs.has(baseName(file.path));
    return isShim ? [...findings, weakened(file.path, 'it is called like a program that a check starts')] : findings;
  });
}

/** Files that are read for that. */
export const isSurrounding = (path: string): boolean =>
  languageOf(path) === undefined && all.some(({ files }) => files.test(path));
