// Shows that comparing two outputs is cheap, also when they are far longer than what the loop compares.
import { similarity } from '../../src/text/similarity.ts';
import { type BenchRow, bestMs } from './row.ts';

function words(chars: number, seed: number): string {
  let state = seed;
  let text = '';
  while (text.length < chars) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += `${(state >>> 8).toString(36)} `;
  }
  return text.slice(0, chars);
}

/** One pass over both strings, 64 times: what any method must pay for looking at 64 characters per step. */
function passes(a: string, b: string): number {
  let sum = 0;
  for (let round = 0; round < 64; round += 1) {
    for (let i = 0; i < a.length; i += 1) sum = (sum + (a.charCodeAt(i) ^ b.charCodeAt(i) ^ round)) | 0;
  }
  return sum;
}

export async function benchSimilarity(): Promise<BenchRow[]> {
  const a = words(100_000, 1);
  const b = words(100_000, 2);
  const near = `x${a.slice(0, 50_000)}y${a.slice(50_002)}z`;
  const floorMs = bestMs(() => passes(a, b), 5);
  const exactMs = bestMs(() => similarity(a, b), 3);
  const cutoffMs = bestMs(() => similarity(a, b, 0.9), 3);
  const nearMs = bestMs(() => similarity(a, near, 0.9), 3);
  return [
    {
      name: 'similarity of two 100 kB texts, exact / 64 passes over both',
      ratio: exactMs / floorMs,
      limit: 60,
      detail: `${exactMs.toFixed(0)} ms, floor ${floorMs.toFixed(1)} ms; near texts with cutoff ${nearMs.toFixed(0)} ms`,
    },
    {
      name: 'similarity of two 100 kB texts that differ, cutoff 0.90 / 64 passes over both',
      ratio: cutoffMs / floorMs,
      limit: 15,
      detail: `${cutoffMs.toFixed(0)} ms, floor ${floorMs.toFixed(1)} ms`,
    },
  ];
}
