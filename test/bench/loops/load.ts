// Ralph under load: an agent that prints a lot, and several agents at a time.
import { join } from 'node:path';
import type { BenchRow } from '../row.ts';
import { checked } from './git.ts';
import { agentsIn, type Ground, run } from './ground.ts';
import { type Build, type Figures, measure, type RowOrder } from './section.ts';

const megabytes = 100;
const agents = 8;
const tasks = 16;
const seconds = 2;
const sizes = [50, 1_000];

const rows: readonly RowOrder[] = [
  {
    name: `output: a bare Node that reads it through a pipe / ${megabytes} MB that an agent prints`,
    ...{ of: 'pipe', per: 'printed', limit: 0.6, higherIsBetter: true },
  },
  { name: 'output: the most MB of memory in that loop (VmHWM)', of: 'most', limit: 110, unit: 'MB' },
  ...sizes.map(files => ({
    name: `parallel: ${tasks} tasks of ${seconds} s by ${agents} agents, ${files} files, ralph run as a whole / ideal`,
    ...{ of: `parallel ${files}`, per: 'ideal', limit: files === 50 ? 1.25 : undefined },
  })),
];

export async function benchLoad(
  isQuick: boolean,
  builds: readonly Build[],
  ground: Ground,
): Promise<readonly BenchRow[]> {
  const words = [String(megabytes * 1_000_000)];
  const pipe = async (): Promise<Figures> => {
    const project = ground.project(1);
    const command = ground.command('floods', project.log, words);
    run(process.execPath, [join(import.meta.dirname, 'pipe-floor.mjs'), command], project);
    const [only] = agentsIn(project.log);
    return { pipe: [only!.ended - only!.begun], ideal: [((tasks * seconds) / agents) * 1_000] };
  };
  const output = async (build: Build): Promise<Figures> => {
    const ran = await ground.ralph(build, { agent: 'floods', words, tasks: 1, iterations: 1, watched: true });
    const [only] = ran.agents;
    return { printed: [only!.ended - only!.begun], most: [ran.memory.at(-1)!.peakMb] };
  };
  const parallelWith =
    (files: number) =>
    async (build: Build): Promise<Figures> => {
      const flags = [...checked, '--parallel', String(agents)];
      const order = { agent: 'worksFor', words: [String(seconds)], tasks, files, flags, iterations: 100 } as const;
      const { tookMs, agents: done } = await ground.ralph(build, order);
      if (done.length !== tasks) throw new Error(`${done.length} agents for ${tasks} tasks`);
      return { [`parallel ${files}`]: [tookMs] };
    };
  const parallel = sizes.map(parallelWith);
  return measure({ rounds: isQuick ? 2 : 5, floors: [pipe], probes: [output, ...parallel], rows }, builds);
}
