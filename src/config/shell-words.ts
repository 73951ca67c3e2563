// Shell words: one line split as a shell would, by quotes and backslashes; nothing in it is expanded or executed.
import { good, type Reading, refuse, shown } from './reading.ts';

const wordsMax = 200;

/** White space, 'single quotes', "double quotes", an escaped character, or anything plain. */
const piece = /(\s+)|'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|([^\s'"\\]+)/y;
/** Inside double quotes a backslash protects only these (POSIX). */
const escapedInQuotes = /\\(["\\$`])/g;

export function splitWords(label: string, text: string): Reading<readonly string[]> {
  const words: string[] = [];
  let word: string | undefined;
  let at = 0;
  while (at < text.length) {
    piece.lastIndex = at;
    const found = piece.exec(text);
    if (found === null) return refuse(`${label}: ${shown(text)} ${unfinished(text.slice(at))}`);
    const [whole, blank, single, double, escaped, plain] = found;
    at += whole.length;
    if (blank === undefined)
      word = `${word ?? ''}${single ?? double?.replace(escapedInQuotes, '$1') ?? escaped ?? plain}`;
    else if (word !== undefined) words.push(word);
    if (blank !== undefined) word = undefined;
  }
  if (word !== undefined) words.push(word);
  return words.length > wordsMax
    ? refuse(`${label}: ${words.length} words are more than ${wordsMax}; give fewer.`)
    : good(words);
}

function unfinished(rest: string): string {
  if (/^("(\\[\s\S]|[^"\\])*)?\\$/.test(rest)) return 'ends with a backslash; write it twice.';
  return `opens a ${rest[0]} that is never closed; close it.`;
}
