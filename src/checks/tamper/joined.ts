// Joined assertions: several became one, or moved into another test; what they spoke of is all still there.
import { assertionsIn } from './guards.ts';
import { codeOnly, isTestFile, type Language, languageOf } from './source-files.ts';
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

function missing(from: readonly string[], other: readonly string[]): readonly string[] {
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

/** Of the lines that went, every value stands as often in those that came, and every name. */
export function isJoined({ path, before, after }: ChangedFile, what: 'tests' | 'assertions'): boolean {
  const language = languageOf(path);
  if (before === undefined || after === undefined || language === undefined) return false;
  const [was, is] = [linesOf(before, language), linesOf(after, language)];
  const [lost, gained] = [missing(was, is), missing(is, was)];
  if (what === 'tests' && (marked.has(language) || gained.some(line => opener.test(line)))) return false;
  const firm = assertionsIn(after, language, isTestFile(path)).firm;
  if (what === 'assertions' && !gained.some(line => firm.includes(line))) return false;
  return areSaid(lost, gained);
}

/** Whether the lines that came say all that those that went did. */
function areSaid(lost: readonly string[], gained: readonly string[]): boolean {
  if (lost.length > 0 && gained.length === 0) return false;
  const said = lost.filter(line => !opensOnly(line));
  const known = new Set(wordsOf(gained));
  return missing(literalsOf(said), literalsOf(gained)).length === 0 && wordsOf(said).every(word => known.has(word));
}

export function keepsWords({ path, before = '', after = '' }: ChangedFile): boolean {
  const language = languageOf(path) as Language;
  const [was, is] = [linesOf(before, language), linesOf(after, language)];
  return areSaid(missing(was, is), missing(is, was));
}
