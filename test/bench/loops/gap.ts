// What the loop itself costs without git: the time from one agent's last instruction to the next agent's first.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contained, containment } from '../../../src/processes/contain.ts';
import { type BenchRow, bestMs } from '../row.ts';
import { agentsIn, documentOf, type Ground, gapsOf, type LoopOrder } from './ground.ts';
import { type Build, type Figures, measure, type Section } from './section.ts';

const floor = join(import.meta.dirname, 'floor.mjs');
const warmUp = 15;
const iterations = warmUp + 25;
const room = iterations + 10; // more tasks than iterations: nothing ends before the last gap

const cases: Readonly<Record<string, Omit<LoopOrder, 'iterations'>>> = {
  ralph: { agent: 'idle', tasks: 10 },
  many: { agent: 'idle', tasks: 10_000 },
  'many, edited': { agent: 'touches', tasks: 10_000 },
  saves: { agent: 'claims', tasks: room },
  checks: { agent: 'claims', tasks: room, flags: ['--verify', 'true'] },
};

/** The least that any durable loop does, bare or through the wrapper that Ralph puts round every agent. */
function runFloor(ground: Ground, isContained: boolean): readonly number[] {
  const { directory, log } = ground.project(1);
  const plain = { command: 'sh', args: ['-c', ground.command('idle', log)] };
  const { command, args } = isContained ? contained(plain.command, plain.args) : plain;
  const ran = spawnSync(process.execPath, [floor, String(iterations), command, ...args], {
    cwd: directory,
    env: { PATH: process.env['PATH'], FLOOR_CONTROL: isContained ? '1' : '0' },
    encoding: 'utf8',
  });
  if (ran.status !== 0) throw new Error(`the floor exited with ${ran.status}: ${ran.stderr}`);
  return gapsOf(agentsIn(log), warmUp);
}

/** All that this process and its finished descendants ever read, as Linux counts it. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'latin1'))?.[1]);
}

async function kbReadPerIteration(ground: Ground, build: Build, agent: LoopOrder['agent']): Promise<number> {
  const read: number[] = [];
  for (const count of [warmUp, warmUp + 20]) {
    const before = bytesRead();
    await ground.ralph(build, { agent, tasks: 10_000, iterations: count });
    read.push(bytesRead() - before);
  }
  return (read[1]! - read[0]!) / 20 / 1_000;
}

function gaps(isQuick: boolean, ground: Ground): Section {
  const text = documentOf(10_000);
  const perParse = { minus: 'ralph', per: 'parse' };
  return {
    rounds: isQuick ? 3 : 8,
    floors: [
      async () => ({
        contained: runFloor(ground, true),
        floor: runFloor(ground, false),
        parse: [bestMs(() => JSON.parse(text))],
      }),
    ],
    probes: Object.entries(cases).map(([name, order]) => async (build): Promise<Figures> => {
      const { agents } = await ground.ralph(build, { ...order, iterations });
      return { [name]: gapsOf(agents, warmUp) };
    }),
    rows: [
      { name: 'gap without git: ralph run / bare loop, one durable row', of: 'ralph', per: 'floor', limit: 4 },
      {
        name: `gap: the same / bare loop with our containment (${containment()})`,
        of: 'ralph',
        per: 'contained',
      },
      { name: 'gap: containment alone, bare loop with it / without', of: 'contained', per: 'floor' },
      { name: 'gap: a task closed and the document saved / neither', of: 'saves', per: 'ralph' },
      { name: 'gap: that and one check (`true`) / closed and saved unchecked', of: 'checks', per: 'saves' },
      { name: 'gap: extra gap at 10,000 tasks / JSON.parse of them', of: 'many', ...perParse, limit: 1 },
      { name: 'gap: the same when the agent edits the document', of: 'many, edited', ...perParse, limit: 5 },
    ],
  };
}

/** Agents that take a moment: a large document is saved while the next one works (ADR 19). */
const working = (isQuick: boolean, ground: Ground): Section => ({
  rounds: isQuick ? 1 : 4,
  probes: [room, 10_000].map(tasks => async (build): Promise<Figures> => {
    const { agents } = await ground.ralph(build, { agent: 'claimsAfterWork', tasks, iterations });
    return { [tasks]: gapsOf(agents, warmUp) };
  }),
  rows: [
    {
      name: `gap: 10,000 tasks / ${room}, each closed, saved by agents of 0.1 s`,
      of: '10000',
      per: `${room}`,
      limit: 2,
    },
  ],
});

const reread = (ground: Ground): Section => ({
  rounds: 1,
  probes: (['idle', 'touches'] as const).map(agent => async build => ({
    [agent]: [await kbReadPerIteration(ground, build, agent)],
  })),
  floors: [async () => ({ document: [documentOf(10_000).length / 1_000] })],
  rows: [
    {
      name: 'gap: bytes read per iteration while the document is unchanged / size of the document',
      of: 'idle',
      per: 'document',
      limit: 0.1,
      unit: 'kB',
    },
    { name: 'gap: the same when the agent writes to it', of: 'touches', per: 'document', unit: 'kB' },
  ],
});

export async function benchGap(
  isQuick: boolean,
  builds: readonly Build[],
  ground: Ground,
): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const section of [gaps(isQuick, ground), working(isQuick, ground), reread(ground)]) {
    rows.push(...(await measure(section, builds)));
  }
  return rows;
}
