// Blanks comments and texts in source code with one index scan, so that words in them are not taken for code.
import type { Language } from './test-files.ts';

interface Lexis {
  readonly line: readonly string[];
  readonly isBlock: boolean;
  /** Quotes of texts that end with their line at the latest. */
  readonly short: string;
  /** Quotes of texts that may run over lines. */
  readonly long: string;
  /** Three of a quote open a text over several lines. */
  readonly hasTriple: boolean;
  /** Between quotes of this kind a backslash is just a letter. */
  readonly raw: string;
}

const cLike: Lexis = { line: ['//'], isBlock: true, short: `"'`, long: '', hasTriple: false, raw: '' };
const hashed: Lexis = { line: ['#'], isBlock: false, short: '', long: `"'`, hasTriple: false, raw: '' };

const lexes: Readonly<Record<Language, Lexis>> = {
  js: { ...cLike, long: '`' },
  python: { ...hashed, short: `"'`, long: '', hasTriple: true },
  go: { ...cLike, long: '`', raw: '`' },
  rust: { ...cLike, short: '', long: '"' },
  jvm: { ...cLike, hasTriple: true },
  ruby: hashed,
  php: { ...cLike, line: ['//', '#'], short: '', long: `"'` },
  csharp: { ...cLike, hasTriple: true },
  shell: { ...hashed, raw: "'" },
  elixir: { ...hashed, hasTriple: true, long: '"', short: "'" },
  cpp: cLike,
  swift: { ...cLike, hasTriple: true },
  dart: { ...cLike, hasTriple: true },
};

const beforeRegex = new Set('(,=:[!&|?{};+~\n>'.split(''));

/** The last character before `at` that is no blank; '\n' at the start. */
function lastBefore(text: string, at: number): string {
  let back = at - 1;
  while (back >= 0 && (text[back] === ' ' || text[back] === '\t')) back -= 1;
  return back < 0 ? '\n' : (text[back] as string);
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end === -1 ? text.length : end + mark.length;
}

/** After the closing quote; a short text also ends at its line's end, so that a stray quote spoils one line only. */
function endOfText(text: string, from: number, quote: string, isShort: boolean, isRaw: boolean): number {
  let at = from;
  while (at < text.length) {
    const letter = text[at];
    if (letter === quote) return at + 1;
    if (isShort && letter === '\n') return at;
    at += letter === '\\' && !isRaw ? 2 : 1;
  }
  return text.length;
}

/** A template of JavaScript; what it holds between `${` and `}` is blanked with it. */
function endOfTemplate(text: string, from: number): number {
  const open: number[] = [];
  let at = from;
  while (at < text.length) {
    const letter = text[at];
    const isText = open.length === 0 || open.at(-1) === -1;
    if (letter === '\\') at += 1;
    else if (letter === '`') {
      if (open.length === 0) return at + 1;
      if (open.at(-1) === -1) open.pop();
      else open.push(-1);
    } else if (isText && letter === '$' && text[at + 1] === '{') {
      open.push(0);
      at += 1;
    } else if (!isText && letter === '{') open.push((open.pop() as number) + 1);
    else if (!isText && letter === '}') {
      const depth = open.pop() as number;
      if (depth > 0) open.push(depth - 1);
    }
    at += 1;
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

/** Where the comment that begins here ends; undefined when none does. */
function afterComment(text: string, at: number, language: Language, lexis: Lexis): number | undefined {
  const mark = lexis.line.find(each => text.startsWith(each, at));
  if (mark === '#') {
    const before = at === 0 ? '\n' : (text[at - 1] as string);
    if (language === 'php' && text[at + 1] === '[') return undefined;
    if (language === 'shell' && !' \t\n;(&|'.includes(before)) return undefined;
    return endOfLine(text, at);
  }
  if (mark !== undefined) return endOfLine(text, at);
  return lexis.isBlock && text.startsWith('/*', at) ? endOf(text, '*/', at + 2) : undefined;
}

/** Where the text that begins here ends; undefined when none does. */
function afterText(text: string, at: number, language: Language, lexis: Lexis): number | undefined {
  const letter = text[at] as string;
  if (language === 'js' && letter === '/')
    return beforeRegex.has(lastBefore(text, at)) ? endOfRegex(text, at + 1) : undefined;
  if (language === 'rust' && letter === 'r' && (text[at + 1] === '"' || text[at + 1] === '#')) {
    const opening = /^r(#{0,10})"/.exec(text.slice(at, at + 12));
    return opening === null ? undefined : endOf(text, `"${opening[1]}`, at + opening[0].length);
  }
  if (language === 'rust' && letter === "'") {
    if (text[at + 1] === '\\') return endOfText(text, at + 1, "'", true, false);
    return text[at + 2] === "'" ? at + 3 : undefined; // else a lifetime
  }
  if (lexis.hasTriple && (letter === '"' || letter === "'") && text.startsWith(letter.repeat(3), at))
    return endOf(text, letter.repeat(3), at + 3);
  if (language === 'csharp' && letter === '@' && text[at + 1] === '"') return endOfText(text, at + 2, '"', false, true);
  if (language === 'js' && letter === '`') return endOfTemplate(text, at + 1);
  const isShort = lexis.short.includes(letter);
  if (!isShort && !lexis.long.includes(letter)) return undefined;
  return endOfText(text, at + 1, letter, isShort, lexis.raw.includes(letter));
}

/** Only here a comment or a text can begin; `r` for Rust's raw texts. */
const beginning = /["'`/#@]|r[#"]/g;

/** Of the same length and lines: comments become spaces; texts too, all but their quotes. */
export function codeOnly(text: string, language: Language): string {
  const lexis = lexes[language];
  const kept: string[] = [];
  const blank = (from: number, to: number): string => text.slice(from, to).replace(/[^\n]/g, ' ');
  let from = 0;
  beginning.lastIndex = 0;
  for (let hit = beginning.exec(text); hit !== null; hit = beginning.exec(text)) {
    const at = hit.index;
    const comment = afterComment(text, at, language, lexis);
    const end = comment ?? afterText(text, at, language, lexis);
    if (end === undefined) {
      beginning.lastIndex = at + 1;
      continue;
    }
    kept.push(text.slice(from, at));
    if (comment !== undefined || end - at < 2) kept.push(blank(at, end));
    else kept.push('"', blank(at + 1, end - 1), '"');
    from = end;
    beginning.lastIndex = end;
  }
  kept.push(text.slice(from));
  return kept.join('');
}
