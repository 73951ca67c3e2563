// How text looks on this terminal: colour where it helps and is wanted, never as the only signal.

import { stripVTControlCharacters, styleText } from 'node:util';
import { stripControls } from '../text/text.ts';
import type { Flags } from './context.ts';

export type Tone = 'good' | 'bad' | 'attention' | 'quiet' | 'strong';

const formats = { good: 'green', bad: 'red', attention: 'yellow', quiet: 'gray', strong: 'bold' } as const;

export interface Style {
  readonly ascii: boolean;
  readonly live: boolean;
  readonly columns: () => number;
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

const speaksUtf8 = (env: NodeJS.ProcessEnv): boolean =>
  /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || 'utf-8');

export function makeStyle(flags: Flags, stream: NodeJS.WriteStream = process.stderr): Style {
  const { env } = process;
  const ascii = flags['ascii'] === true || !speaksUtf8(env) || env['TERM'] === 'dumb';
  const live = stream.isTTY === true && env['TERM'] !== 'dumb' && !env['CI'];
  return {
    ascii,
    live,
    columns: () => Math.min(stream.columns || (stream.isTTY ? 80 : pipeColumns), 400),
    paint: (tone, text) => styleText(formats[tone], text, { stream }),
    marks: ascii
      ? { done: '+', failed: 'x', ask: '?', dot: '|', rule: '-' }
      : { done: '✓', failed: '✗', ask: '?', dot: '·', rule: '─' },
  };
}

/** Agent text is data: control sequences never reach the terminal. */
export const plain = (text: string): string => stripControls(text);

/** One line, cut to the width of the terminal. */
export function fitted(text: string, columns: number, { ascii }: Pick<Style, 'ascii'>): string {
  const line = plain(text).replaceAll('\n', ' ');
  const mark = ascii ? '...' : '…';
  return line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - mark.length))}${mark}`;
}

/** `first` stands before the first line; the others begin below its end. */
export const hanging = (first: string, text: string, columns: number): string =>
  `${first}${wrapped(text, columns - first.length - 1).join(`\n${' '.repeat(first.length)}`)}`;

/**
 * Text over as many lines as it needs: broken between words, and inside a word only when it is longer than a line. With
 * `wholeWords` not even then: a path that the terminal itself breaks can still be copied.
 */
export function wrapped(text: string, columns: number, wholeWords = false): readonly string[] {
  const width = Math.min(Math.max(columns, 20), proseColumnsMax);
  const cut = wholeWords ? /.+/gsu : new RegExp(`.{1,${width}}`, 'gsu');
  return plain(text)
    .split('\n')
    .flatMap(paragraph => {
      if (paragraph.length <= width) return [paragraph];
      const lines: string[] = [''];
      for (const word of paragraph.split(' ').flatMap(one => one.match(cut) ?? [''])) {
        const last = lines.at(-1) ?? '';
        if (last === '') lines[lines.length - 1] = word;
        else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
        else lines.push(word);
      }
      return lines;
    });
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
      if (stripVTControlCharacters(line).length < width || line.includes('\x1b')) return line; // painted: fitted before
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
