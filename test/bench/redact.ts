// Shows that hiding secrets costs little on ordinary text, against floors measured in the same run, and against another source.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeRedactor } from '../../src/secrets/redactor.ts';
import { type BenchRow, bestMs, median } from './row.ts';

const megabyte = 1_000_000;
const root = join(import.meta.dirname, '..', '..');
const known = ['an-exact-value-1', 'another/exact+value=', 'a third value of many words'];

function ordinaryLog(chars: number): string {
  const lines: string[] = [];
  for (let i = 0, length = 0; length < chars; i += 1) {
    const line =
      i % 5 === 0
        ? `src/core/file-${i % 97}.ts:${i % 300}:5 error TS2345: Argument of type 'string' is not assignable to 'number'.`
        : i % 5 === 1
          ? `  ✓ the parser keeps unknown keys (${i % 40} ms), used ${i} tokens of the window`.replace('✓', '+')
          : `2026-01-02T03:${String(i % 60).padStart(2, '0')}:05.678Z INFO request ${i} GET /api/items?page=${i % 9} took ${i % 80} ms`;
    lines.push(line);
    length += line.length + 1;
  }
  return Buffer.from(lines.join('\n')).toString('latin1');
}

/** The files of a folder again and again, up to so many characters. */
function filesOf(folder: string, end: string, chars: number): string {
  const names = (readdirSync(join(root, folder), { recursive: true }) as string[]).filter(name => name.endsWith(end));
  const all = names
    .sort()
    .map(name => readFileSync(join(root, folder, name), 'utf8'))
    .join('\n');
  return Buffer.from(all.repeat(Math.ceil(chars / all.length)).slice(0, chars)).toString();
}

const texts: Readonly<Record<string, () => string>> = {
  '10 MB of log': () => ordinaryLog(10 * megabyte),
  '3 MB of source text': () => filesOf('src', '.ts', 3 * megabyte),
  '3 MB of prose': () => filesOf('docs', '.md', 3 * megabyte),
  '3 MB of JSON lines': () => filesOf('test/fixtures/streams', '.jsonl', 3 * megabyte),
};

function tookMs(work: () => unknown): number {
  const begin = performance.now();
  work();
  return performance.now() - begin;
}

/** The other source's time over ours in each round, one after the other: more is faster. The text whole, and line by line. */
function speedRows(redact: (text: string) => string, other: (text: string) => string, rounds: number): BenchRow[] {
  return Object.entries(texts).flatMap(([name, make]) => {
    const text = make();
    const lines = text.slice(0, megabyte).split(/(?<=\n)/);
    return [name, `${name}, line by line`].map((title, at) => {
      const parts = at === 0 ? [text] : lines;
      const pass = (by: (text: string) => string): number => tookMs(() => parts.forEach(part => void by(part)));
      const pairs = Array.from({ length: rounds + 2 }, () => ({ ours: pass(redact), theirs: pass(other) })).slice(2);
      const speed = (ms: number): string => `${Math.round(parts.join('').length / 1_000 / ms)} MB/s`;
      const [ours, theirs] = [median(pairs.map(pair => pair.ours)), median(pairs.map(pair => pair.theirs))];
      return {
        ...{ name: `redact ${title}: speed / speed of the other source`, limit: 0.8, higherIsBetter: true },
        ratio: median(pairs.map(pair => pair.theirs / pair.ours)),
        detail: `${speed(ours)}, the other ${speed(theirs)}`,
      };
    });
  });
}

export async function benchRedact(isQuick: boolean, against?: string): Promise<BenchRow[]> {
  const path = against === undefined ? '' : join(against, 'src', 'secrets', 'redactor.ts');
  if (existsSync(path)) {
    const other: { makeRedactor: typeof makeRedactor } = await import(path);
    return speedRows(makeRedactor(known), other.makeRedactor(known), isQuick ? 7 : 25);
  }
  const text = ordinaryLog(10 * megabyte);
  const redact = makeRedactor(known);
  let splitLines = 0;
  const floorMs = bestMs(() => {
    splitLines = text.split('\n').join('\n').length;
  });
  if (redact(text) !== text || splitLines !== text.length) throw new Error('ordinary text was changed');
  const ordinaryMs = bestMs(() => redact(text));
  const hostile = [
    'sk-proj-',
    'eyJ',
    '-eyJ.',
    '://',
    'token=',
    '"password":"',
    'token=a/a/a/',
    'mailgun ',
    ',password\n',
  ].map(piece => piece.repeat(megabyte / piece.length));
  const hostileMs = Math.max(...hostile.map(each => bestMs(() => redact(each), 2)));
  const speed = Math.round(text.length / 1_000 / ordinaryMs);
  return [
    {
      name: 'redact 10 MB of ordinary log / split and join its lines',
      ratio: ordinaryMs / floorMs,
      limit: 9,
      detail: `${ordinaryMs.toFixed(1)} ms (${speed} MB/s), floor ${floorMs.toFixed(1)} ms`,
    },
    {
      name: 'redact 1 MB of hostile text / split and join the lines of 1 MB of ordinary log',
      ratio: hostileMs / (floorMs / 10),
      limit: 2_000,
      detail: `${hostileMs.toFixed(1)} ms at worst of ${hostile.length} texts`,
    },
  ];
}
