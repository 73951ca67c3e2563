// How large Ralph is while an agent works: at rest, and after a few default iterations with many tasks.
import { join } from 'node:path';
import type { BenchRow } from '../row.ts';
import { checked } from './git.ts';
import type { Ground } from './ground.ts';
import { type Build, type Figures, measure, type RowOrder } from './section.ts';

const rows = (worked: number): readonly RowOrder[] => [
  { name: 'memory: MB resident while an agent works, 10 tasks, git (VmRSS)', of: '10 now', limit: 75, unit: 'MB' },
  { name: 'memory: the most in that loop (VmHWM)', of: '10 most', unit: 'MB' },
  {
    name: `memory: MB resident with 5,000 tasks, after ${worked} default iterations (VmRSS)`,
    of: '5000 now',
    unit: 'MB',
  },
  { name: 'memory: the most in that loop (VmHWM)', of: '5000 most', limit: 160, unit: 'MB' },
];

export async function benchMemory(
  isQuick: boolean,
  builds: readonly Build[],
  ground: Ground,
): Promise<readonly BenchRow[]> {
  const [seconds, worked] = isQuick ? [8, 20] : [30, 60];
  const program = (build: Build): string => join(ground.install(build), 'bin/ralph');
  // What V8 compiles is there from the second run on.
  for (const build of builds) {
    const { project } = await ground.ralph(build, {
      agent: 'claims',
      tasks: 1,
      iterations: 1,
      program: program(build),
    });
    ground.drop(project);
  }
  const probe =
    (tasks: number, before: number) =>
    async (build: Build): Promise<Figures> => {
      const { agents, memory } = await ground.ralph(build, {
        ...{ agent: 'rests', words: [String(seconds), String(before)], tasks, files: 1_000 },
        ...{ flags: checked, iterations: before + 1, watched: true, program: program(build) },
      });
      const settled = memory.findLast(one => one.atMs < agents.at(-1)!.ended - 1_000)!;
      return { [`${tasks} now`]: [settled.residentMb], [`${tasks} most`]: [memory.at(-1)!.peakMb] };
    };
  return measure({ rounds: isQuick ? 1 : 3, probes: [probe(10, 0), probe(5_000, worked)], rows: rows(worked) }, builds);
}
