// A hint for words that wanted quotes: `ralph run make the tests pass` is one goal to whoever typed it.
import { existsSync } from 'node:fs';

/** Commands that take a text in words, and what that text is called; without any command it may be a goal. */
const texts: Readonly<Record<string, string>> = { '': 'goal', run: 'goal', tell: 'text', 'task add': 'title' };
const goalWordsMin = 3;

const quoted = (text: string): string => (/["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`);
const shellWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word));

/** What was typed besides the words of the text: the flags, in their order. */
function without(typed: readonly string[], words: readonly string[]): readonly string[] {
  let next = 0;
  return typed.filter(word => {
    if (word !== words[next]) return true;
    next += 1;
    return false;
  });
}

interface Typed {
  /** The name of the command, such as `task add`. */
  readonly command: string;
  /** What came after the name. */
  readonly typed: readonly string[];
  /** Those of it that are neither flags nor their values. */
  readonly words: readonly string[];
}

/** One sentence that ends in the command to type, or nothing where quotes would not help. */
export function unquotedHint({ command, typed, words: all }: Typed): string | undefined {
  const noun = texts[command];
  const flag = command === '' ? all.findIndex(word => word.startsWith('-')) : -1; // of no command, none is known
  const words = flag < 0 ? all : all.slice(0, flag);
  const [first = ''] = words;
  if (noun === undefined || words.length < (command === '' ? goalWordsMin : 2)) return undefined;
  const text = words.filter(word => word !== '--').join(' ');
  if (command === 'run' && existsSync(first))
    return `Give one document at a time, or a goal in quotes: ralph run ${shellWord(first)}`;
  const line = ['ralph', command || 'run', quoted(text), ...without(typed, words).map(shellWord)].join(' ');
  return command === '' ? `"${first}" is no command; if this is a goal: ${line}` : `Put the ${noun} in quotes: ${line}`;
}
