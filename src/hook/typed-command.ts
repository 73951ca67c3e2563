// A command of the plugin as its user typed it: what is to be done, then options. No shell reads it, so any text may stand in it.
import { type Fields, textOf } from '../text/fields.ts';

export interface TypedCommand {
  readonly name: string;
  readonly session: string;
  readonly directory: string;
  /** All that stands behind the name. */
  readonly text: string;
}

const beginning = ['ralph-loop', 'review-loop'];

/** Undefined: it is no command that begins a loop. */
export function typedCommand(event: Fields): TypedCommand | undefined {
  const name = textOf(event['command_name']).replace(/^.*:/, '');
  const [session, directory] = [textOf(event['session_id']), textOf(event['cwd'])];
  if (session === '' || !beginning.includes(name)) return undefined;
  return { name, session, directory, text: textOf(event['command_args']) };
}

export type Split =
  | { readonly ok: true; readonly what: string; readonly options: readonly string[] }
  | { readonly ok: false; readonly problem: string };

/** One option with its value, up to the next one or the end. */
const option = /(--[a-z][a-z-]*)(?:(?:=|\s+)("(?:[^"\\]|\\.)*"|'[^']*'|(?!--)[^\s"']+))?(?=\s|$)\s*/sy;

/** All of them from here on; undefined where something else stands between. */
function optionsFrom(text: string, at: number): readonly string[] | undefined {
  const words: string[] = [];
  option.lastIndex = at;
  while (option.lastIndex < text.length) {
    const [, name, value] = option.exec(text) ?? [];
    if (name === undefined) return undefined;
    words.push(name, ...(value === undefined ? [] : [unquoted(value)]));
  }
  return words;
}

const unquoted = (value: string): string =>
  value.startsWith('"') ? value.slice(1, -1).replaceAll('\\"', '"') : value.replace(/^'(.*)'$/s, '$1');

const optionsMax = 50;

/** What is quoted as a whole is words, whatever stands in it; else nobody can tell words from options that are not at the end. */
export function splitCommand(text: string): Split {
  const whole = text.trim();
  const starts = [...whole.matchAll(/(?<!\S)--[a-z]/g)].map(({ index }) => index);
  for (const at of starts.slice(-optionsMax)) {
    const options = optionsFrom(whole, at);
    if (options !== undefined) return withWhat(whole.slice(0, at).trim(), options);
  }
  return withWhat(whole, []);
}

function withWhat(what: string, options: readonly string[]): Split {
  const [, quote = '', words = ''] = /^(["'])(.*)\1$/s.exec(what) ?? [];
  if (quote !== '') return { ok: true, what: words.includes(quote) ? what : words, options };
  const [stray] = /(?<!\S)--[a-z][a-z-]*/.exec(what) ?? [];
  if (stray === undefined) return { ok: true, what, options };
  const problem = `${stray} stands among the words. Options come last, a value of several words in quotes; if it belongs to the words, put all of these in quotes.`;
  return { ok: false, problem };
}
