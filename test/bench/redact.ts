// Shows that hiding secrets costs little on ordinary output, against floors measured in the same run.
import { makeRedactor } from '../../src/secrets/redactor.ts';
import { type BenchRow, bestMs } from './row.ts';

const megabyte = 1_000_000;

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

export async function benchRedact(): Promise<BenchRow[]> {
  const text = ordinaryLog(10 * megabyte);
  const redact = makeRedactor(['an-exact-value-1', 'another/exact+value=', 'a third value of many words']);
  let splitLines = 0;
  const floorMs = bestMs(() => {
    splitLines = text.split('\n').join('\n').length;
  });
  if (redact(text) !== text || splitLines !== text.length) throw new Error('ordinary text was changed');
  const ordinaryMs = bestMs(() => redact(text));
  const hostile = ['sk-proj-', 'eyJ', '-eyJ.', '://', 'token=', '"password":"'].map(piece =>
    piece.repeat(megabyte / piece.length),
  );
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
