// Splits one line into words as a shell would, by quotes and backslashes; nothing in it is expanded or executed.
import { good, type Reading, refuse, shown } from './reading.ts';

const wordsMax = 200;

type Quote = '' | "'" | '"';

/** Inside double quotes a backslash protects only these (POSIX). */
const escapedInQuotes = new Set(['"', '\\', '$', '`']);

export function splitWords(label: string, text: string): Reading<readonly string[]> {
  const words: string[] = [];
  let word: string | undefined;
  let quote: Quote = '';
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (quote === "'") {
      if (letter === "'") quote = '';
      else word = `${word ?? ''}${letter}`;
    } else if (letter === '\\') {
      const next = text[at + 1];
      if (next === undefined) return refuse(`${label}: ${shown(text)} ends with a backslash; write it twice.`);
      if (quote === '"' && !escapedInQuotes.has(next)) word = `${word ?? ''}\\`;
      else {
        word = `${word ?? ''}${next}`;
        at += 1;
      }
    } else if (letter === quote) quote = '';
    else if (quote === '' && (letter === "'" || letter === '"')) {
      quote = letter;
      word ??= '';
    } else if (quote === '' && /\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${letter}`;
  }
  if (quote !== '') return refuse(`${label}: ${shown(text)} opens a ${quote} that is never closed; close it.`);
  if (word !== undefined) words.push(word);
  return words.length > wordsMax
    ? refuse(`${label}: ${words.length} words are more than ${wordsMax}; give fewer.`)
    : good(words);
}
