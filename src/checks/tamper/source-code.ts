// Source code by language: the language and the tests by file name, and the text with comments and string literals blanked.

interface Syntax {
  readonly files: RegExp;
  /** What test runners take for a test, by its name without folders. */
  readonly tests: RegExp;
  readonly lineComments: readonly string[];
  readonly hasBlockComments: boolean;
  /** Quotes of literals that end with their line at the latest. */
  readonly short: string;
  /** Quotes of literals that may run over lines. */
  readonly long: string;
  /** Three of a quote open a literal over several lines. */
  readonly hasTriple: boolean;
  /** Between quotes of this kind a backslash is just a letter. */
  readonly raw: string;
}

const cLike = { lineComments: ['//'], hasBlockComments: true, short: `"'`, long: '', hasTriple: false, raw: '' };
const hashed = { ...cLike, lineComments: ['#'], hasBlockComments: false, short: '', long: `"'` };
const tripled = { ...cLike, hasTriple: true };

const languages = {
  js: { ...cLike, files: /\.([cm]?[jt]sx?|vue|svelte)$/, tests: /(^|[._-])(test|tests|spec|e2e|cy)\.[a-z]+$/ },
  python: {
    ...tripled,
    ...{ lineComments: ['#'], hasBlockComments: false },
    files: /\.py$/,
    tests: /^(test_.*|.*_test|tests?)\.py$/,
  },
  go: { ...cLike, long: '`', raw: '`', files: /\.go$/, tests: /_test\.go$/ },
  rust: { ...cLike, short: '', long: '"', files: /\.rs$/, tests: /^(tests?|.*_tests?|test_.*)\.rs$/ },
  jvm: {
    ...tripled,
    files: /\.(java|kt|kts|scala|groovy)$/,
    tests: /^(Test[A-Z].*|.*(Tests?|TestCase|IT|Specs?|Suite))\.[a-z]+$/,
  },
  ruby: { ...hashed, files: /\.rb$/, tests: /^(test_.*|.*_(test|spec))\.rb$/ },
  php: {
    ...{ ...cLike, lineComments: ['//', '#'], short: '', long: `"'` },
    files: /\.php$/,
    tests: /^.*(Test|Cest|_test)\.php$/,
  },
  csharp: { ...tripled, files: /\.(cs|fs|vb)$/, tests: /^.*(Tests?|Specs?)\.[a-z]+$/ },
  shell: {
    ...{ ...hashed, raw: "'" },
    files: /\.(sh|bash|bats)$/,
    tests: /(\.bats|^test[_-].*\.(sh|bash)|.*[._-]test\.(sh|bash))$/,
  },
  elixir: { ...hashed, hasTriple: true, long: '"', short: "'", files: /\.exs?$/, tests: /_test\.exs$/ },
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

export function languageOf(path: string): Language | undefined {
  return names.find(name => languages[name].files.test(path));
}

export function isNamedAsTest(path: string): boolean {
  const language = languageOf(path);
  return language !== undefined && languages[language].tests.test(path.slice(path.lastIndexOf('/') + 1));
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end === -1 ? text.length : end + mark.length;
}

/** After the closing quote; a short literal also ends at its line's end, so that a stray quote spoils one line only. */
function endOfLiteral(text: string, from: number, quote: string, kind: 'short' | 'long' | 'raw'): number {
  for (let at = from; at < text.length; at += text[at] === '\\' && kind !== 'raw' ? 2 : 1) {
    if (text[at] === quote) return at + 1;
    if (text[at] === '\n' && kind === 'short') return at;
  }
  return text.length;
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

/** The last character before `at` that is no blank; '\n' at the start. */
function lastBefore(text: string, at: number): string {
  let back = at - 1;
  while (back >= 0 && (text[back] === ' ' || text[back] === '\t')) back -= 1;
  return text[back] ?? '\n';
}

const beforeRegex = new Set('(,=:[!&|?{};+~\n>');

type EndOf = (text: string, at: number) => number | undefined;

/** Literals that only one language has. */
const ownLiterals: Readonly<Partial<Record<Language, EndOf>>> = {
  js(text, at) {
    if (text[at] === '`') return endOfTemplate(text, at + 1);
    return text[at] === '/' && beforeRegex.has(lastBefore(text, at)) ? endOfRegex(text, at + 1) : undefined;
  },
  rust(text, at) {
    if (text.startsWith("'\\", at)) return endOfLiteral(text, at + 1, "'", 'short');
    if (text[at] === "'") return text[at + 2] === "'" ? at + 3 : undefined; // else a lifetime
    const opening = /^r(#{0,10})"/.exec(text.slice(at, at + 12));
    return opening === null ? undefined : endOf(text, `"${opening[1]}`, at + opening[0].length);
  },
  csharp: (text, at) => (text.startsWith('@"', at) ? endOfLiteral(text, at + 2, '"', 'raw') : undefined),
};

/** Where the comment that begins here ends; undefined when none does. */
function afterComment(text: string, at: number, language: Language): number | undefined {
  const { lineComments, hasBlockComments } = languages[language];
  const mark = lineComments.find(each => text.startsWith(each, at));
  if (mark === undefined) return hasBlockComments && text.startsWith('/*', at) ? endOf(text, '*/', at + 2) : undefined;
  const isAttribute = language === 'php' && mark === '#' && text[at + 1] === '[';
  const isInWord = language === 'shell' && !' \t\n;(&|'.includes(text[at - 1] ?? '\n');
  return isAttribute || isInWord ? undefined : endOfLine(text, at);
}

/** Where the literal that begins here ends; undefined when none does. */
function afterLiteral(text: string, at: number, language: Language): number | undefined {
  const own = ownLiterals[language]?.(text, at);
  if (own !== undefined) return own;
  const { short, long, hasTriple, raw } = languages[language];
  const quote = text[at] as string;
  if (hasTriple && `"'`.includes(quote) && text.startsWith(quote.repeat(3), at))
    return endOf(text, quote.repeat(3), at + 3);
  if (short.includes(quote)) return endOfLiteral(text, at + 1, quote, 'short');
  return long.includes(quote) ? endOfLiteral(text, at + 1, quote, raw.includes(quote) ? 'raw' : 'long') : undefined;
}

/** Only here a comment or a literal can begin; `r` for Rust's raw strings. */
const beginning = /["'`/#@]|r[#"]/g;

/** Of the same length and lines: comments become spaces; literals too, all but their quotes. */
export function codeOnly(text: string, language: Language): string {
  const parts: string[] = [];
  const blank = (from: number, to: number): string => text.slice(from, to).replace(/[^\n]/g, ' ');
  let from = 0;
  beginning.lastIndex = 0;
  for (let hit = beginning.exec(text); hit !== null; hit = beginning.exec(text)) {
    const at = hit.index;
    const comment = afterComment(text, at, language);
    const end = comment ?? afterLiteral(text, at, language);
    beginning.lastIndex = end ?? at + 1;
    if (end === undefined) continue;
    parts.push(text.slice(from, at));
    if (comment !== undefined || end - at < 2) parts.push(blank(at, end));
    else parts.push('"', blank(at + 1, end - 1), '"');
    from = end;
  }
  parts.push(text.slice(from));
  return parts.join('');
}
