// Source files: language, tests and settings of test runners by their names, and their code with comments and literals blanked.

interface Syntax {
  readonly files: RegExp;
  /** What test runners take for a test, by its name without folders. */
  readonly tests: RegExp;
  /** Patterns of its comments, and of its literals; the first that fits is taken. */
  readonly comments: readonly string[];
  readonly literals: readonly string[];
}

const { raw } = String;

const slashes = raw`\/\/[^\n]*`;
const block = raw`\/\*[\s\S]*?(?:\*\/|$)`;
const hash = raw`#[^\n]*`;

/** A literal that ends with its line at the latest, so that a stray quote spoils one line only. */
const short = (quote: string): string => raw`${quote}(?:[^${quote}\\\n]+|\\[\s\S]?)*${quote}?`;
/** A literal that may run over lines. */
const long = (quote: string): string => raw`${quote}(?:[^${quote}\\]+|\\[\s\S]?)*${quote}?`;
/** Between these a backslash is just a letter. */
const verbatim = (quote: string): string => raw`${quote}[^${quote}]*${quote}?`;
const triple = raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)`;

const shorts = [short('"'), short("'")];
const cLike = { comments: [slashes, block], literals: shorts };
const tripled = { ...cLike, literals: [triple, ...shorts] };
const hashed = { comments: [hash], literals: [long('"'), long("'")] };

/** Where a regular expression can begin: at the start of a line or behind one of these characters. */
const regexStart = raw`\/(?<=(?:^|[(,=:[!&|?{};+~\n>])[ \t]*\/)`;

const languages = {
  js: {
    comments: cLike.comments,
    literals: ['`', regexStart, ...shorts],
    files: /\.([cm]?[jt]sx?|vue|svelte)$/,
    tests: /(^|[._-])(test|tests|spec|e2e|cy)\.[a-z]+$/,
  },
  python: {
    comments: [hash],
    literals: tripled.literals,
    files: /\.py$/,
    tests: /^(test_.*|.*_test|tests?)\.py$/,
  },
  go: { ...cLike, literals: [...shorts, verbatim('`')], files: /\.go$/, tests: /_test\.go$/ },
  rust: {
    comments: cLike.comments,
    // A lone ' begins a lifetime.
    literals: [raw`(?='\\)${short("'")}|'[^\\]'`, raw`r(?<hashes>#{0,10})"[\s\S]*?(?:"\k<hashes>|$)`, long('"')],
    files: /\.rs$/,
    tests: /^(tests?|.*_tests?|test_.*)\.rs$/,
  },
  jvm: {
    ...tripled,
    files: /\.(java|kt|kts|scala|groovy)$/,
    tests: /^(Test[A-Z].*|.*(Tests?|TestCase|IT|Specs?|Suite))\.[a-z]+$/,
  },
  ruby: { ...hashed, files: /\.rb$/, tests: /^(test_.*|.*_(test|spec))\.rb$/ },
  php: {
    comments: [slashes, raw`#(?!\[)[^\n]*`, block],
    literals: hashed.literals,
    files: /\.php$/,
    tests: /^.*(Test|Cest|_test)\.php$/,
  },
  csharp: {
    comments: cLike.comments,
    literals: [`@${verbatim('"')}`, ...tripled.literals],
    files: /\.(cs|fs|vb)$/,
    tests: /^.*(Tests?|Specs?)\.[a-z]+$/,
  },
  shell: {
    comments: [raw`(?<![^ \t\n;(&|])${hash}`],
    literals: [long('"'), verbatim("'")],
    files: /\.(sh|bash|bats)$/,
    tests: /(\.bats|^test[_-].*\.(sh|bash)|.*[._-]test\.(sh|bash))$/,
  },
  elixir: { comments: [hash], literals: [triple, short("'"), long('"')], files: /\.exs?$/, tests: /_test\.exs$/ },
  cpp: {
    ...cLike,
    files: /\.(c|cc|cpp|cxx|h|hpp|m|mm)$/,
    tests: /^(test_.*|.*[_-]?(tests?|Tests?|unittest))\.[a-z]+$/,
  },
  swift: { ...tripled, files: /\.swift$/, tests: /Tests?\.swift$/ },
  dart: { ...tripled, files: /\.dart$/, tests: /_test\.dart$/ },
} satisfies Record<string, Syntax>;

export type Language = keyof typeof languages;

const names = Object.keys(languages) as readonly Language[];

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export function languageOf(path: string): Language | undefined {
  return names.find(name => languages[name].files.test(path));
}

export function isNamedAsTest(path: string): boolean {
  const language = languageOf(path);
  return language !== undefined && languages[language].tests.test(baseName(path));
}

const testFolders = /^(tests?|specs?|__tests?__|e2e|cypress|unit|integration|.*[.-]?Tests?)$/;
const otherFolders =
  /^(fixtures?|__fixtures__|testdata|test-data|__snapshots__|node_modules|vendor|dist|build|target|\.venv|venv)$/;

/** Go builds it on some other system alone. */
const ofOtherSystem =
  /_(windows|plan9|darwin|js|wasip1|wasm|solaris|illumos|aix|freebsd|netbsd|openbsd|android|ios)_test\.go$/;
/** These take every script below `test`, whatever it is called. */
const folderRunners = /\b(mocha|ava|tape?|jasmine|npm|pnpm|yarn|bun)\b|--test\b/;

/** By its name alone, or where runners take every file of a folder. Others are not run by themselves. `checks`: of any runner unless given. */
export function isFoundByRunners(path: string, checks?: readonly string[]): boolean {
  if (!isTestFile(path) || ofOtherSystem.test(path)) return false;
  if (isNamedAsTest(path)) return true;
  const language = languageOf(path) as Language;
  if (language !== 'js') return /^(rust|csharp|cpp|swift)$/.test(language);
  const isByFolder = checks === undefined || checks.length === 0 || checks.some(check => folderRunners.test(check));
  return /(^|\/)__tests__\//.test(path) || (isByFolder && /(^|\/)test\//.test(path));
}

/** By name or folder. Rust keeps tests inside its sources, so for it every file may hold some. */
export function isTestFile(path: string): boolean {
  if (languageOf(path) === undefined) return false;
  const parts = path.split('/').slice(0, -1);
  if (parts.some(part => otherFolders.test(part)) || isTestConfiguration(path)) return false;
  return isNamedAsTest(path) || parts.some(part => testFolders.test(part));
}

/** What a test file is about, by its name: `CartTest.java`, `cart.test.ts`, `test_cart.py`. */
export const subjectOf = (path: string): string =>
  baseName(path)
    .replace(/\.(test|spec|tests|e2e)?\.?\w+$/, '')
    .replace(/^tests?_|_(tests?|spec)$|(Tests?|Spec)$/g, '');

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
  const name = baseName(path);
  const module = /([^/]+?)(?:\/__(?:init|main)__)?\.py$/.exec(path)?.[1] ?? '';
  return (
    configurationNames.some(pattern => pattern.test(name)) ||
    runnerModules.test(module) ||
    /(^|\/)\.(cargo\/config(\.toml)?|config\/nextest\.toml)$/.test(path)
  );
}

/** A template of JavaScript; what it holds between `${` and `}` is blanked with it. */
function endOfTemplate(text: string, from: number): number {
  const open = ['`'];
  const marks = /\\[\s\S]?|`|\$\{|[{}]/g;
  marks.lastIndex = from;
  for (let hit = marks.exec(text); hit !== null; hit = marks.exec(text)) {
    const isText = open.at(-1) === '`';
    const mark = hit[0];
    if (isText ? mark === '`' : mark === '}') open.pop();
    else if (mark === '`' || mark === '${' || (mark === '{' && !isText)) open.push(mark);
    if (open.length === 0) return marks.lastIndex;
  }
  return text.length;
}

const regexCharsMax = 300; // a stray slash must not send us over the whole of a long line, again and again

function endOfRegex(text: string, from: number): number | undefined {
  const most = Math.min(text.length, from + regexCharsMax);
  let inClass = false;
  for (let at = from; at < most && text[at] !== '\n'; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '[') inClass = true;
    else if (text[at] === ']') inClass = false;
    else if (text[at] === '/' && !inClass) return at + 1;
  }
  return undefined;
}

/** Literals of which a pattern finds only the beginning. */
const endings: Readonly<Record<string, (text: string, from: number) => number | undefined>> = {
  '`': endOfTemplate,
  '/': endOfRegex,
};

const tokens = new Map(
  names.map(name => {
    const { comments, literals } = languages[name];
    return [name, new RegExp(`(${comments.join('|')})|${literals.join('|')}`, 'g')];
  }),
);

/** Of the same length and lines: comments become spaces; literals too, all but their quotes. */
export function codeOnly(text: string, language: Language): string {
  const token = tokens.get(language) as RegExp;
  const parts: string[] = [];
  const blank = (from: number, to: number): string => text.slice(from, to).replace(/[^\n]/g, ' ');
  let from = 0;
  token.lastIndex = 0;
  for (let hit = token.exec(text); hit !== null; hit = token.exec(text)) {
    const at = hit.index;
    const ending = endings[hit[0]];
    const end = ending === undefined ? token.lastIndex : ending(text, token.lastIndex);
    if (end === undefined) continue;
    token.lastIndex = end;
    parts.push(text.slice(from, at));
    if (hit[1] !== undefined || end - at < 2) parts.push(blank(at, end));
    else parts.push('"', blank(at + 1, end - 1), '"');
    from = end;
  }
  parts.push(text.slice(from));
  return parts.join('');
}
