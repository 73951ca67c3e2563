// Joined assertions: several became one, or moved into another test; what they spoke of is all still there.
import { countsOf } from './count.ts';
import { assertionsIn } from './guards.ts';
import { codeOnly, isTestFile, type Language, languageOf } from './source-files.ts';
import { strengthOf } from './strength.ts';
import type { ChangedFile } from './weakening.ts';

/** Words of assertions and of the language, which say nothing about what is asserted. */
const frame =
  /^(?:expect|assert\w*|refute\w*|should|to|to[A-Z_]\w*|not|be|have|eq\w*|[eE]qual\w*|strict\w*|deep\w*|[sS]ame|is|ok|self|this|t|const|let|var|await|async|for|in|of|return|resolves|rejects|static|True|Assertions|Assert)$/;
const opener =
  /^\s*(?:(?:export|async|public|private|pub|static)\s+)*(?:x?it|x?test|describe|context|specify|def|func|function|fn|void|class|const\s+\w+\s*=\s*(?:async\s*)?\()\b/;
/** A line that only opens a test; one that holds it whole says what it says. */
const opensOnly = (line: string): boolean => opener.test(line) && /(?:[{(:]|=>|\bdo(?:\s*\|[^|]*\|)?)$/.test(line);
/** Here a test that lost its mark is still a function like others. */
const marked: ReadonlySet<Language> = new Set<Language>(['rust', 'jvm', 'csharp', 'php', 'swift', 'cpp']);

/** Its lines without comments. */
function linesOf(text: string, language: Language): readonly string[] {
  const code = codeOnly(text, language);
  const plain = code.replace(/"[^"]*"/g, (literal, at: number) => text.slice(at, at + literal.length));
  return plain.split('\n').map(line => line.trim());
}

export function missing(from: readonly string[], other: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const each of other) left.set(each, (left.get(each) ?? 0) + 1);
  return from.filter(each => {
    const times = left.get(each) ?? 0;
    left.set(each, times - 1);
    return times <= 0 && each !== '';
  });
}

const literals = /(["'`])[^"'`\n]*\1|(?<![\w$])(?:\d[\w.]*|true|false|null|None|nil)(?!\w)/g;
const literalsOf = (lines: readonly string[]): readonly string[] => lines.join('\n').match(literals) ?? [];
const wordsOf = (lines: readonly string[]): readonly string[] =>
  (
    lines
      .join('\n')
      .replace(literals, ' ')
      .match(/[A-Za-z_$][\w$]*/g) ?? []
  ).filter(word => !frame.test(word));

/** What tests are called, what they say when they fail, and places in a list. */
const titles =
  /\b(?:it|test|describe|context|specify|scenario|example|step|Run)(?:\.\w+)*\s*\(?\s*(["'`])[^"'`\n]*\1|\bt\.(?:Error|Fatal)f?\("[^"\n]*"|\.(?:get|at|nth)\(\d+\)|(?<=[\w)\]])\[\d+\]/g;
const valuesOf = (lines: readonly string[]): ReadonlySet<string> =>
  new Set(literalsOf(lines.map(line => line.replace(titles, ' '))).map(value => value.replace(/["`]/g, "'")));
const dataFile = /["'`][\w./-]+\.(?:json|ya?ml|csv|tsv|toml|txt)["'`]/;

function areOfSame(lines: readonly string[], others: readonly string[]): boolean {
  const words = new Set(wordsOf(others));
  return wordsOf(lines).some(word => words.has(word));
}

const frameOpener = /^\s*(?:describe|context|RSpec)\b/;
/** Lines that open a test open one that its runner finds, or a table of them. */
const areTests = (lines: readonly string[], language: Language): boolean => {
  const openers = lines.filter(line => opener.test(line) && !frameOpener.test(line));
  return openers.length === 0 || countsOf(openers.join('\n'), language).tests > 0;
};

/** Whether a text has all these values, quoted or not: a snapshot has them without. */
function hasValues(text: string, values: ReadonlySet<string>): boolean {
  const numbers = new Set(text.match(/\d[\w.]*/g));
  return [...values].every(value => {
    const bare = value.replace(/^'|'$/g, '');
    return bare.length < 2 || /^\d/.test(value) ? text.includes(value) || numbers.has(bare) : text.includes(bare);
  });
}

const othersMax = 50; // each is looked through for every file that lost something

interface Change {
  readonly lost: readonly string[];
  readonly gained: readonly string[];
  /** A gained line is an assertion that can fail. */
  readonly isFirm: boolean;
}

const changes = new WeakMap<ChangedFile, Change>();

function changeOf(file: ChangedFile): Change {
  const known = changes.get(file) ?? compared(file);
  changes.set(file, known);
  return known;
}

function compared({ path, before = '', after = '' }: ChangedFile): Change {
  const language = languageOf(path) as Language;
  const [was, is] = [linesOf(before, language), linesOf(after, language)];
  const gained = missing(is, was);
  const firm = new Set(assertionsIn(after, language, isTestFile(path)).firm);
  return { lost: missing(was, is), gained, isFirm: gained.some(line => firm.has(line)) };
}

/**
 * Written anew, as a table, a loop, a helper or in other words: every value that went stands in what came, in this or another
 * file of tests, with an assertion that can fail.
 */
export function isRewritten(file: ChangedFile, tests: readonly ChangedFile[]): boolean {
  const language = languageOf(file.path);
  if (file.before === undefined || language === undefined) return false;
  const own = changeOf(file);
  const others = tests.filter(
    one => one.path !== file.path && one.after !== undefined && languageOf(one.path) === language,
  );
  const all = [own, ...others.slice(0, othersMax).map(changeOf)];
  const gained = all.flatMap(one => one.gained);
  const values = valuesOf(own.lost);
  if (values.size === 0 || !all.some(one => one.isFirm) || !areTests(gained, language)) return false;
  return hasValues(gained.map(line => line.replaceAll(/["`]/g, "'")).join('\n'), values) && areOfSame(own.lost, gained);
}

/** Its cases stand in a file of data now. */
export function readsData({ path, before = '', after = '' }: ChangedFile): boolean {
  const language = languageOf(path) as Language;
  return missing(linesOf(after, language), linesOf(before, language)).some(line => dataFile.test(line));
}

/** An exact assertion went, its value with it, and a loose one about the same came. */
export function isLoosened({ path, before, after }: ChangedFile): boolean {
  const language = languageOf(path);
  if (before === undefined || after === undefined || language === undefined) return false;
  const [was, is] = [assertionsIn(before, language, isTestFile(path)), assertionsIn(after, language, isTestFile(path))];
  const lost = missing([...was.firm], [...is.firm, ...is.guarded]).filter(line => strengthOf(line) === 'exact');
  if (lost.length === 0) return false;
  const gained = missing([...is.firm, ...is.guarded], [...was.firm, ...was.guarded]);
  const now = valuesOf(gained);
  return gained
    .filter(line => strengthOf(line) === 'loose')
    .some(line => lost.some(old => areOfSame([old], [line]) && [...valuesOf([old])].some(value => !now.has(value))));
}

/** Of the lines that went, every value stands as often in those that came, and every name. */
export function isJoined({ path, before, after }: ChangedFile, what: 'tests' | 'assertions'): boolean {
  const language = languageOf(path);
  if (before === undefined || after === undefined || language === undefined) return false;
  const [was, is] = [linesOf(before, language), linesOf(after, language)];
  const [lost, gained] = [missing(was, is), missing(is, was)];
  if (what === 'tests' && (marked.has(language) || !areTests(gained, language))) return false;
  const firm = assertionsIn(after, language, isTestFile(path)).firm;
  if (what === 'tests' && gained.length === 0) return areSaid(lost, gained);
  if (what === 'assertions' && !gained.some(line => firm.includes(line))) return false;
  return areSaid(lost, gained);
}

/** Whether the lines that came say all that those that went did. */
function areSaid(lost: readonly string[], gained: readonly string[]): boolean {
  const said = lost.filter(line => !opensOnly(line) && /\w/.test(line) && !/^end$/.test(line));
  if (said.length > 0 && gained.length === 0) return false;
  const known = new Set(wordsOf(gained));
  return missing(literalsOf(said), literalsOf(gained)).length === 0 && wordsOf(said).every(word => known.has(word));
}

export function keepsWords({ path, before = '', after = '' }: ChangedFile): boolean {
  const language = languageOf(path) as Language;
  const [was, is] = [linesOf(before, language), linesOf(after, language)];
  return areSaid(missing(was, is), missing(is, was));
}
