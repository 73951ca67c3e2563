// Terminal text: style, wrapping and yes-or-no questions; color where it helps, never as the only signal.

import { createInterface, type Interface } from 'node:readline/promises';
import { stripVTControlCharacters, styleText } from 'node:util';
import { columnsOf, takeColumns } from '../text/columns.ts';
import { UsageError } from '../text/errors.ts';
import { stripControls } from '../text/text.ts';

export type Tone = 'good' | 'bad' | 'attention' | 'quiet' | 'strong';

const formats = { good: 'green', bad: 'red', attention: 'yellow', quiet: 'gray', strong: 'bold' } as const;

export interface Style {
  readonly ascii: boolean;
  readonly live: boolean;
  readonly columns: () => number;
  readonly rows: () => number;
  paint(tone: Tone, text: string): string;
  /** Marks in words' stead: done, failed, question, bullet. */
  readonly marks: {
    readonly done: string;
    readonly failed: string;
    readonly ask: string;
    readonly dot: string;
    readonly rule: string;
  };
}

const pipeColumns = 100;
const proseColumnsMax = 100;
const usualRows = 24;

const speaksUtf8 = (env: NodeJS.ProcessEnv): boolean =>
  /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || 'utf-8');

/** What a person said for the whole process, beside what each terminal can. */
let told = { color: true, input: true };

export function beTold(manners: typeof told): void {
  told = manners;
}

/** Of a variable that switches something on. */
export const isSet = (text: string | undefined): boolean =>
  !['', '0', 'false', 'no'].includes((text ?? '').toLowerCase());

/** Decided for each stream: standard output may be a file while standard error is a terminal. */
export function isColored({ isTTY }: Pick<NodeJS.WriteStream, 'isTTY'>, env: NodeJS.ProcessEnv = process.env): boolean {
  if (!told.color || env['NO_COLOR']) return false;
  if (env['FORCE_COLOR'] === '0') return false;
  if (isSet(env['CLICOLOR_FORCE']) || isSet(env['FORCE_COLOR'])) return true;
  return isTTY === true && env['TERM'] !== 'dumb' && env['CLICOLOR'] !== '0';
}

/** Text for a stream: without escape codes where it shows no color, whoever painted it. */
export const shownOn = (text: string, stream: NodeJS.WriteStream): string =>
  !text.includes('\x1b') || isColored(stream) ? text : stripVTControlCharacters(text);

export function makeStyle(
  flags: Readonly<Record<string, unknown>>,
  stream: NodeJS.WriteStream = process.stderr,
): Style {
  const { env } = process;
  const ascii = flags['ascii'] === true || !speaksUtf8(env) || env['TERM'] === 'dumb';
  const live = stream.isTTY === true && env['TERM'] !== 'dumb' && !env['CI'];
  return {
    ascii,
    live,
    columns: () => Math.min(stream.columns || (stream.isTTY ? 80 : pipeColumns), 400),
    rows: () => stream.rows || usualRows,
    paint: (tone, text) => (isColored(stream) ? styleText(formats[tone], text, { validateStream: false }) : text),
    marks: ascii
      ? { done: '+', failed: 'x', ask: '?', dot: '|', rule: '-' }
      : { done: '✓', failed: '✗', ask: '?', dot: '·', rule: '─' },
  };
}

/** Agent text is data: control sequences never reach the terminal. */
export const plain = (text: string): string => stripControls(text);

export const oneLine = (text: string): string => plain(text).replaceAll('\n', ' ');

/** One line, cut to the width of the terminal. */
export function fitted(text: string, columns: number, { ascii }: Pick<Style, 'ascii'>): string {
  const line = oneLine(text);
  const mark = ascii ? '...' : '…';
  return columnsOf(line) <= columns ? line : `${takeColumns(line, columns - mark.length)}${mark}`;
}

/** `first` stands before the first line; the others begin below its end. */
export const hanging = (first: string, text: string, columns: number): string =>
  `${first}${wrapped(text, columns - columnsOf(first) - 1).join(`\n${' '.repeat(columnsOf(first))}`)}`;

/**
 * Text over as many lines as it needs: broken between words, and inside a word only when it is longer than a line. With
 * `wholeWords` not even then: a path that the terminal itself breaks can still be copied.
 */
export function wrapped(text: string, columns: number, wholeWords = false): readonly string[] {
  if (columns === Number.POSITIVE_INFINITY) return plain(text).split('\n');
  const width = Math.min(Math.max(columns, 20), proseColumnsMax);
  const cut = (word: string): readonly string[] => (wholeWords ? [word] : pieces(word, width));
  return plain(text)
    .split('\n')
    .flatMap(paragraph => {
      if (columnsOf(paragraph) <= width) return [paragraph];
      const lines: string[] = [''];
      for (const word of paragraph.split(' ').flatMap(cut)) {
        const last = lines.at(-1) ?? '';
        if (last === '') lines[lines.length - 1] = word;
        else if (columnsOf(last) + 1 + columnsOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
        else lines.push(word);
      }
      return lines;
    });
}

/** A word that may be longer than a line, such as a sentence in Chinese. */
function pieces(word: string, columns: number): readonly string[] {
  const all: string[] = [];
  let rest = word;
  while (columnsOf(rest) > columns) {
    all.push(takeColumns(rest, columns));
    rest = rest.slice(all.at(-1)!.length);
  }
  return [...all, rest];
}

/** `  `, `ralph: `, `  process    `: the lines below the first begin under its end. */
const lineStart = /^(?:(?:ralph|note|warning): | *\S{1,12} {2,}(?=\S)| +)?/;

/** Sentences of ours as a terminal shows them whole, each line for itself. Where nobody looks they stay as they are. */
export function folded(text: string, { isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>): string {
  if (isTTY !== true) return text;
  const width = columns || 80;
  return text
    .split('\n')
    .map(line => {
      if (columnsOf(stripVTControlCharacters(line)) < width || line.includes('\x1b')) return line; // painted: fitted before
      const start = lineStart.exec(line)?.[0] ?? '';
      const below = ' '.repeat(start === '' || start.trim() !== '' ? start.length : start.length + 2);
      return `${start}${wrapped(line.slice(start.length), width - below.length - 1, true).join(`\n${below}`)}`;
    })
    .join('\n');
}

export const indented = (text: string, by = '  '): string =>
  plain(text)
    .split('\n')
    .map(line => `${by}${line}`)
    .join('\n');

// Output that nobody reads any more: a command that only looks ends quietly, a loop goes on without being watched.

let isWatchOnly = true;

/** From now on the work goes on, whether or not somebody reads. */
export function workWithoutReader(): void {
  isWatchOnly = false;
}

/** A reader that went away (| head), a terminal that was closed. */
export function guardOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => {
      if (isWatchOnly) process.exit(0);
    });
  }
}

/** What was written reaches a slow reader whole: a pipe takes only so much at once, and an exit loses the rest. */
export async function flushOutput(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>(done => {
      stream.write('', () => done());
    });
  }
}

// One moment at the terminal: a yes or a no, or a line.

/** Ctrl-Z stops us and the wrapper that may have started us (bin/ralph), as it does where no prompt is open. */
export function openLines(): Interface {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on('SIGTSTP', () => {
    process.once('SIGCONT', () => {
      process.stdin.setRawMode?.(true);
      lines.prompt(true);
    });
    process.stdin.setRawMode?.(false);
    process.kill(0, 'SIGTSTP');
  });
  return lines;
}

/** True on Enter, y or yes; false on n, no, Ctrl-C, Ctrl-D or when the terminal went away; anything else is asked again. */
export async function confirm(question: string, stop?: AbortSignal): Promise<boolean> {
  for (;;) {
    const word = (await askLine(question, stop))?.trim().toLowerCase() ?? 'no';
    if (['', 'y', 'yes', 'n', 'no'].includes(word)) return !word.startsWith('n');
    process.stderr.write('Enter or y says yes; n or Ctrl-C says no.\n');
  }
}

/** What was typed; undefined on Ctrl-C, Ctrl-D or when the terminal went away. */
export async function askLine(question: string, stop?: AbortSignal): Promise<string | undefined> {
  if (!told.input) throw new UsageError('There is a question, and --no-input was said.', 'Say --yes, or leave it out.');
  const lines = openLines();
  const leave = new AbortController();
  lines.on('SIGINT', () => leave.abort());
  lines.on('close', () => leave.abort());
  try {
    const signal = stop === undefined ? leave.signal : AbortSignal.any([leave.signal, stop]);
    return await lines.question(question, { signal });
  } catch {
    process.stderr.write('\n');
    return undefined;
  } finally {
    lines.close();
  }
}
