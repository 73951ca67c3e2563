// Other programs that run agents in a loop, beside ours: whoever is in peers.json and installed is measured with the same stub.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchRow } from '../row.ts';
import { checked } from './git.ts';
import { agentsIn, type Ground, gapsOf, type Project, started } from './ground.ts';
import { type Build, type Figures, measure } from './section.ts';

/** See docs/bench.md. */
interface Peer {
  readonly name: string;
  /** A shell line that exits with 0 where the peer can be run. */
  readonly needs?: string;
  /** A shell line that runs the loop, in a repository of 1,000 files with PRD.json. */
  readonly start: string;
}

const warmUp = 3;
const iterations = 15;
const peers = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'peers.json'), 'utf8')) as readonly Peer[];

export async function benchPeers(
  isQuick: boolean,
  builds: readonly Build[],
  ground: Ground,
): Promise<readonly BenchRow[]> {
  const order = { agent: 'works', tasks: 50, files: 1_000 } as const;
  const shell = (line: string, { directory, env, log }: Project): ReturnType<typeof started> => {
    const agent = ground.command(order.agent, log);
    const more = { BENCH_AGENT: agent, BENCH_ITERATIONS: String(iterations), RALPH_TASK: 'US-00001' };
    return started('sh', ['-c', line], { directory, env: { ...env, ...more } });
  };
  const skipped: BenchRow[] = [];
  const there: Peer[] = [];
  for (const peer of peers) {
    const isThere = (await shell(peer.needs ?? 'true', ground.project(50, 1_000))).code === 0;
    if (isThere) there.push(peer);
    else
      skipped.push({
        name: `peers: ${peer.name}`,
        ratio: Number.NaN,
        detail: '',
        skipped: `it is not installed here (${peer.needs})`,
      });
  }
  const gap = (peer: Peer) => async (): Promise<Figures> => {
    const project = ground.project(50, 1_000);
    const { code, said } = await shell(peer.start, project);
    if (code !== 0) throw new Error(`${peer.name} exited with ${code}: ${said}`);
    return { [peer.name]: gapsOf(agentsIn(project.log), warmUp) };
  };
  const ours = async (build: Build): Promise<Figures> => ({
    ralph: gapsOf((await ground.ralph(build, { ...order, flags: checked, iterations })).agents, warmUp),
  });
  const rows = there.map(({ name }) => ({
    name: `peers: gap of a default git iteration / ${name}`,
    of: 'ralph',
    per: name,
  }));
  return [
    ...(await measure({ rounds: isQuick ? 2 : 5, floors: there.map(gap), probes: [ours], rows }, builds)),
    ...skipped,
  ];
}
