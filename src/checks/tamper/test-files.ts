// Test files and the settings of test runners, told by their names as the runners do it.
import { isNamedAsTest, type Language, languageOf } from './source-code.ts';

const testFolders = /^(tests?|specs?|__tests?__|e2e|cypress|unit|integration|.*[.-]?Tests?)$/;
const otherFolders =
  /^(fixtures?|__fixtures__|testdata|test-data|__snapshots__|node_modules|vendor|dist|build|target|\.venv|venv)$/;

/** By its name alone, or where runners take every file of a folder. Others are not run by themselves. */
export function isFoundByRunners(path: string): boolean {
  if (!isTestFile(path)) return false;
  if (isNamedAsTest(path)) return true;
  const language = languageOf(path) as Language;
  return language === 'js' ? /(^|\/)(test|__tests__)\//.test(path) : /^(rust|csharp|cpp|swift)$/.test(language);
}

/** By name or folder. Rust keeps tests inside its sources, so for it every file may hold some. */
export function isTestFile(path: string): boolean {
  if (languageOf(path) === undefined) return false;
  const parts = path.split('/').slice(0, -1);
  if (parts.some(part => otherFolders.test(part)) || isTestConfiguration(path)) return false;
  return isNamedAsTest(path) || parts.some(part => testFolders.test(part));
}

const dataFolders =
  /^(data|snapshots?|goldens?|expected|samples?|examples?|assets|resources|mocks?|__mocks__|stubs?|images)$/;
const dataNames =
  /^\.|^(README|LICENSE|Dockerfile)|\.(json[c5l]?|ya?ml|toml|txt|mdx?|rst|adoc|snap|png|jpe?g|gif|svg|ico|webp|bmp|pdf|csv|tsv|xml|html?|s?css|less|sql|log|lock|env|ini|cfg|conf|golden|out|expected|in|input|output|bin|dat|data|zip|gz|tgz|tar|wasm|map|woff2?|ttf|db|sqlite|pem|key|crt|diff|patch|tmpl|approved)$/i;

/** Below a folder of tests, in a language that we cannot read, and no mere data. */
export function isUnreadableTest(path: string): boolean {
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  if (languageOf(path) !== undefined || isTestConfiguration(path) || dataNames.test(name)) return false;
  if (parts.some(part => otherFolders.test(part) || dataFolders.test(part))) return false;
  return /\.(t|feature|robot|hurl)$/.test(name) || parts.some(part => testFolders.test(part));
}

export const mayHoldTests = (path: string): boolean =>
  isTestFile(path) || languageOf(path) === 'rust' || isUnreadableTest(path);

/** What a check may run with Python's -m, and what nobody's own module is called. */
export const runnerModules =
  /^(unittest|pytest|_pytest|nose2?|tox|nox|coverage|doctest|mypy|pyright|ruff|flake8|pylint|black|isort|compileall|trial|twisted|behave|robot|ward|green|stestr|pip|pre_commit|hypothesis)$/;

const configurationNames: readonly RegExp[] = [
  /^(package|deno|composer|turbo|nx|project|angular|lerna)\.jsonc?$/,
  /^(pnpm-workspace|lefthook|\.pre-commit-config|dart_test)\.ya?ml$/,
  /^(GNUm|[Mm])akefile$|\.mk$|^[Jj]ustfile$|^Taskfile\.ya?ml$|^Rakefile$|^CMakeLists\.txt$/,
  /^(pyproject\.toml|pytest\.ini|tox\.ini|setup\.(cfg|py)|conftest\.py|noxfile\.py|\.coveragerc)$/,
  /^(vite|vitest|jest|karma|playwright|cypress|ava|babel|nyc|wdio|c8|tap)[.\w-]*\.(config|conf|workspace|setup)\.[a-z]+$/,
  /^(vitest|jest)\.(workspace|setup|global-setup)[.\w-]*$/,
  /^\.(mocharc|nycrc|taprc|c8rc|rspec|eslintrc|babelrc)(\.\w+)?$|^(eslint|biome|mocha)\.(config\.\w+|jsonc?|opts)$/,
  /^tsconfig[.\w-]*\.json$|^jsconfig\.json$/,
  /^(Cargo\.toml|rust-toolchain(\.toml)?|nextest\.toml)$/,
  /^go\.(mod|work)$/,
  /^(pom\.xml|build\.gradle(\.kts)?|settings\.gradle(\.kts)?|gradle\.properties|build\.sbt|testng\.xml)$/,
  /^(Gemfile|spec_helper\.rb|rails_helper\.rb|test_helper\.(rb|exs))$/,
  /^(phpunit\.xml(\.dist)?|Pest\.php)$/,
  /\.(csproj|fsproj|sln|runsettings)$|^Directory\.Build\.(props|targets)$/,
  /^\.npmrc$|^\.yarnrc(\.\w+)?$|^bunfig\.toml$|^(site|user)customize\.py$/,
  /^(mix\.exs|pubspec\.yaml|Package\.swift|WORKSPACE|BUILD(\.bazel)?)$/,
];

/** Manifests and the configuration of test runners and linters: a change is reported, never undone. */
export function isTestConfiguration(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const module = /([^/]+?)(?:\/__(?:init|main)__)?\.py$/.exec(path)?.[1] ?? '';
  return (
    configurationNames.some(pattern => pattern.test(name)) ||
    runnerModules.test(module) ||
    /(^|\/)\.(cargo\/config(\.toml)?|config\/nextest\.toml)$/.test(path)
  );
}
