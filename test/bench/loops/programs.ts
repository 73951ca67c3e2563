// Programs and fsyncs of a default iteration: the counts behind its gap, which no busy machine changes.
import { join } from 'node:path';
import { whyNoTracing } from '../../ledger/run-program.ts';
import { type BenchRow, median } from '../row.ts';
import { checked } from './git.ts';
import type { Ground } from './ground.ts';
import { type Build, type Figures, measure } from './section.ts';
import { counting, type Iteration, iterationsIn } from './trace.ts';

const warmUp = 3;
const iterations = 10;
const limits = { 'git programs': 8, 'other programs': 4, fsyncs: 8 } as const;

/** One default iteration after the other; the first ones, which find things out, are left out. */
export async function countIterations(build: Build, ground: Ground): Promise<readonly Iteration[]> {
  const log = join(ground.folder, 'trace');
  const order = { agent: 'works', tasks: iterations + 5, files: 100, flags: checked, iterations } as const;
  await ground.ralph(build, { ...order, before: counting(log) });
  return iterationsIn(log, join(ground.folder, order.agent)).slice(warmUp);
}

export async function benchPrograms(
  _isQuick: boolean,
  builds: readonly Build[],
  ground: Ground,
): Promise<readonly BenchRow[]> {
  const skipped = whyNoTracing();
  const names = Object.keys(limits) as (keyof typeof limits)[];
  const name = (figure: string): string => `programs: ${figure} per default iteration (counted by strace -f)`;
  if (skipped !== undefined) return names.map(one => ({ name: name(one), ratio: Number.NaN, detail: '', skipped }));
  const probe = async (build: Build): Promise<Figures> => {
    const counted = await countIterations(build, ground);
    const of = (count: (one: Iteration) => number): readonly number[] => [median(counted.map(count))];
    return {
      'git programs': of(one => one.git.length),
      'other programs': of(one => one.other.length),
      fsyncs: of(one => one.fsyncs),
    };
  };
  const rows = names.map(one => ({ name: name(one), of: one, limit: limits[one], unit: one }));
  return measure({ rounds: 1, probes: [probe], rows }, builds);
}
