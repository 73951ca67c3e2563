// Which files are tests and in which language, and which ones configure how tests run: by their names, as test runners do it.

import type { Finding } from '../../core/event.ts';
import { addCounts, type Counts, countsOf, noCounts } from './count.ts';
import type { ChangedFile } from './screen.ts';

export type Language =
  | 'js'
  | 'python'
  | 'go'
  | 'rust'
  | 'jvm'
  | 'ruby'
  | 'php'
  | 'csharp'
  | 'shell'
  | 'elixir'
  | 'cpp'
  | 'swift'
  | 'dart';

const languages: readonly (readonly [Language, RegExp])[] = [
  ['js', /\.([cm]?[jt]sx?|vue|svelte)$/],
  ['python', /\.py$/],
  ['go', /\.go$/],
  ['rust', /\.rs$/],
  ['jvm', /\.(java|kt|kts|scala|groovy)$/],
  ['ruby', /\.rb$/],
  ['php', /\.php$/],
  ['csharp', /\.(cs|fs|vb)$/],
  ['shell', /\.(sh|bash|bats)$/],
  ['elixir', /\.exs?$/],
  ['cpp', /\.(c|cc|cpp|cxx|h|hpp|m|mm)$/],
  ['swift', /\.swift$/],
  ['dart', /\.dart$/],
];

export function languageOf(path: string): Language | undefined {
  return languages.find(([, ending]) => ending.test(path))?.[0];
}

const testNames: Readonly<Record<Language, RegExp>> = {
  js: /(^|[._-])(test|tests|spec|e2e|cy)\.[a-z]+$/,
  python: /^(test_.*|.*_test|tests?)\.py$/,
  go: /_test\.go$/,
  rust: /^(tests?|.*_tests?|test_.*)\.rs$/,
  jvm: /^(Test[A-Z].*|.*(Tests?|TestCase|IT|Specs?|Suite))\.[a-z]+$/,
  ruby: /^(test_.*|.*_(test|spec))\.rb$/,
  php: /^.*(Test|Cest|_test)\.php$/,
  csharp: /^.*(Tests?|Specs?)\.[a-z]+$/,
  shell: /(\.bats|^test[_-].*\.(sh|bash)|.*[._-]test\.(sh|bash))$/,
  elixir: /_test\.exs$/,
  cpp: /^(test_.*|.*[_-]?(tests?|Tests?|unittest))\.[a-z]+$/,
  swift: /Tests?\.swift$/,
  dart: /_test\.dart$/,
};

const testFolders = /^(tests?|specs?|__tests?__|e2e|cypress|unit|integration|.*[.-]?Tests?)$/;
const otherFolders =
  /^(fixtures?|__fixtures__|testdata|test-data|__snapshots__|node_modules|vendor|dist|build|target|\.venv|venv)$/;

/** By its name alone, or where runners take every file of a folder. Others are not run by themselves. */
function isFoundByRunners(path: string): boolean {
  if (!isTestFile(path)) return false;
  if (isNamedAsTest(path)) return true;
  const language = languageOf(path) as Language;
  return language === 'js' ? /(^|\/)(test|__tests__)\//.test(path) : /^(rust|csharp|cpp|swift)$/.test(language);
}

export function isNamedAsTest(path: string): boolean {
  const language = languageOf(path);
  return language !== undefined && testNames[language].test(path.slice(path.lastIndexOf('/') + 1));
}

/** By name or folder. Rust keeps tests inside its sources, so for it every file may hold some. */
export function isTestFile(path: string): boolean {
  const language = languageOf(path);
  if (language === undefined) return false;
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  if (parts.some(part => otherFolders.test(part)) || isTestConfiguration(path)) return false;
  return testNames[language].test(name) || parts.some(part => testFolders.test(part));
}

const dataFolders =
  /^(data|snapshots?|goldens?|expected|samples?|examples?|assets|resources|mocks?|__mocks__|stubs?|images)$/;
const dataNames =
  /^\.|^(README|LICENSE|Dockerfile)|\.(json[c5l]?|ya?ml|toml|txt|mdx?|rst|adoc|snap|png|jpe?g|gif|svg|ico|webp|bmp|pdf|csv|tsv|xml|html?|s?css|less|sql|log|lock|env|ini|cfg|conf|golden|out|expected|in|input|output|bin|dat|data|zip|gz|tgz|tar|wasm|map|woff2?|ttf|db|sqlite|pem|key|crt|diff|patch|tmpl|approved)$/i;

/** Below a folder of tests, in a language that we cannot read, and no mere data. */
function isStrangeTest(path: string): boolean {
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  if (languageOf(path) !== undefined || isTestConfiguration(path) || dataNames.test(name)) return false;
  if (parts.some(part => otherFolders.test(part) || dataFolders.test(part))) return false;
  return /\.(t|feature|robot|hurl)$/.test(name) || parts.some(part => testFolders.test(part));
}

export const mayHoldTests = (path: string): boolean =>
  isTestFile(path) || languageOf(path) === 'rust' || isStrangeTest(path);

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

/** Manifests and the configuration of test runners and linters: a change is told, never put back. */
export function isTestConfiguration(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const module = /([^/]+?)(?:\/__(?:init|main)__)?\.py$/.exec(path)?.[1] ?? '';
  return (
    configurationNames.some(pattern => pattern.test(name)) ||
    runnerModules.test(module) ||
    /(^|\/)\.(cargo\/config(\.toml)?|config\/nextest\.toml)$/.test(path)
  );
}

// Where the tests of deleted files went: moved, split, merged or rewritten tests are not lost ones.

export interface Entry {
  readonly path: string;
  readonly before: Counts;
  readonly after: Counts;
  /** It was there before, under this name or another. */
  readonly isOld: boolean;
}

const count = (path: string, text: string | undefined): Counts => {
  const language = languageOf(path);
  return text === undefined || language === undefined ? noCounts : countsOf(text, language, isTestFile(path));
};

type Bag = Map<string, number>;

/** Lines that say something, so that brackets and blanks do not make two files alike. */
function linesOf(text: string | undefined): Bag {
  const lines: Bag = new Map();
  for (const line of (text ?? '').split('\n')) {
    const trimmed = line.trim();
    if (trimmed.length > 5 && !/^(import|from|use|package|require|\/\/|#|\*)\b/.test(trimmed))
      lines.set(trimmed, (lines.get(trimmed) ?? 0) + 1);
  }
  return lines;
}

const name =
  /"([^"\\\n]{3,80})"|'([^'\\\n]{3,80})'|`([^`\\\n]{3,80})`|\b(?:def|func|fn|fun|void|function)\s+(\w{3,80})/g;

/** What tests are called, whichever runner they are written for: texts and functions. */
function namesOf(text: string | undefined): Bag {
  const names: Bag = new Map();
  for (const line of (text ?? '').split('\n')) {
    if (/^\s*(import|from|use|using|package|require|#include)\b|\brequire\(/.test(line)) continue;
    for (const [, ...forms] of line.matchAll(name)) {
      const found = forms.find(form => form !== undefined) as string;
      names.set(found, (names.get(found) ?? 0) + 1);
    }
  }
  return names;
}

const movedShare = 0.5; // a file that kept half of its lines elsewhere was moved and edited; less is another file

const homesMax = 50; // a line that is everywhere says nothing about where a file went

/** For each part that some file gained: which file, how often. */
type Gained = ReadonlyMap<string, ReadonlyMap<string, number>>;
type Parts = (text: string | undefined) => Bag;

function gainedBy(files: readonly ChangedFile[], partsOf: Parts): Gained {
  const gained = new Map<string, Map<string, number>>();
  for (const { path, before, after } of files) {
    if (after === undefined) continue;
    const old = partsOf(before);
    for (const [part, times] of partsOf(after)) {
      const more = times - (old.get(part) ?? 0);
      if (more <= 0) continue;
      const by = gained.get(part) ?? new Map<string, number>();
      if (by.size < homesMax) gained.set(part, by.set(path, more));
    }
  }
  return gained;
}

/** The files into which a deleted one went, most of it first; none when less than half of it went anywhere. */
function homesOf(parts: Bag, gained: Gained, isHome: (path: string) => boolean): readonly string[] {
  const kept: Bag = new Map();
  let [total, found] = [0, 0];
  for (const [part, times] of parts) {
    total += times;
    let here = 0;
    for (const [path, more] of gained.get(part) ?? []) {
      if (!isHome(path)) continue;
      kept.set(path, (kept.get(path) ?? 0) + Math.min(times, more));
      here += more;
    }
    found += Math.min(times, here);
  }
  if (found === 0 || found < movedShare * total) return [];
  return [...kept].sort(([, a], [, b]) => b - a).map(([path]) => path);
}

export const said = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

const gone = (path: string, detail: string): Finding => ({ kind: 'test-deleted', path, detail, severity: 'refuse' });

/** More than comments and imports. */
const holdsSomething = (text: string): boolean =>
  text.split('\n').some(line => !/^\s*($|#|\/\/|\/?\*|--|import\b|from\b|use\b|package\b|require\b)/.test(line));

/** Deleted test files that live on elsewhere are counted there. */
export function entriesOf(files: readonly ChangedFile[]): { readonly entries: Entry[]; readonly deleted: Finding[] } {
  const entries = new Map<string, Entry>();
  for (const { path, before, after } of files) {
    if (after === undefined) continue;
    entries.set(path, { path, before: count(path, before), after: count(path, after), isOld: before !== undefined });
  }
  const deleted: Finding[] = [];
  const away = files.filter(file => file.after === undefined);
  const [lines, names] = [linesOf, namesOf].map(partsOf => (away.length === 0 ? new Map() : gainedBy(files, partsOf)));
  for (const file of away) {
    const lost = count(file.path, file.before);
    const isCounted = lost.tests > 0 || lost.assertions > 0;
    const isTest = isCounted || isNamedAsTest(file.path) || isStrangeTest(file.path);
    if (!isTest || !(isCounted || holdsSomething(file.before ?? ''))) continue;
    const isHome = (path: string): boolean => !isFoundByRunners(file.path) || isFoundByRunners(path);
    const moved = homesOf(linesOf(file.before), lines as Gained, isHome);
    const homes = moved.length > 0 ? moved : homesOf(namesOf(file.before), names as Gained, isHome);
    for (const [at, path] of homes.entries()) {
      const home = entries.get(path) as Entry;
      entries.set(path, { ...home, before: at === 0 ? addCounts(home.before, lost) : home.before, isOld: true });
    }
    if (homes.length > 0) continue;
    const [hidden] = homesOf(linesOf(file.before), lines as Gained, () => true);
    const held = `it held ${said(lost.tests, 'test')} and ${said(lost.assertions, 'assertion')}`;
    if (hidden !== undefined) deleted.push(gone(file.path, 'it was moved to a name that test runners do not look for'));
    else deleted.push(gone(file.path, isCounted ? held : 'its tests cannot be counted'));
  }
  return { entries: [...entries.values()], deleted };
}
