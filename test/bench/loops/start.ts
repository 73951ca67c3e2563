// What a person waits for: commands that only look, and the way from `ralph run` to the first agent, against Node's own start.
import { join } from 'node:path';
import type { BenchRow } from '../row.ts';
import { checked } from './git.ts';
import { type Ground, type LoopOrder, type Project, started } from './ground.ts';
import { type Build, type Figures, measure, type RowOrder } from './section.ts';

const bare = 'node -e 0';
const looks: Readonly<Record<string, number>> = { '--version': 1.5, '--help': 2, status: 2 };
const plain = { agent: 'claims', tasks: 10, iterations: 1 } as const;
const runs: readonly { readonly name: string; readonly order: LoopOrder; readonly limit: number }[] = [
  { name: 'without git', order: plain, limit: 4 },
  { name: 'git', order: { ...plain, agent: 'works', files: 1_000, flags: checked }, limit: 6.5 },
];
const program = 'bin/ralph';
const homes = ['fresh', 'used'] as const;

/** Every way to begin a loop; `of` is the name of its figure. */
const ways = runs.flatMap(one =>
  homes.map(home => ({ ...one, home, of: `start to first agent, ${one.name}, ${home} home: ${program}` })),
);

const rows: readonly RowOrder[] = [
  ...Object.entries(looks).map(([word, limit]) => ({
    ...{ name: `start: ralph ${word} / bare node`, of: word, per: bare, limit },
  })),
  ...ways.map(({ of, limit }) => ({ name: `${of} / bare node`, of, per: bare, limit })),
];

export async function benchStart(
  isQuick: boolean,
  builds: readonly Build[],
  ground: Ground,
): Promise<readonly BenchRow[]> {
  const used = new Map<Build, Project>();
  for (const build of builds)
    used.set(build, (await ground.ralph({ ...build, root: ground.install(build) }, plain)).project);
  const node = async (name: string, words: readonly string[], build: Build): Promise<Figures> => {
    const { code, said, tookMs } = await started(process.execPath, words, used.get(build)!);
    if (code !== 0) throw new Error(`${name} exited with ${code}: ${said}`);
    return { [name]: [tookMs] };
  };
  const begun =
    ({ order, home, of }: (typeof ways)[number]) =>
    async (build: Build): Promise<Figures> => {
      const { agents, startedMs, project } = await ground.ralph(build, {
        ...order,
        program: join(ground.install(build), program),
        ...(home === 'used' ? { home: used.get(build)!.env['RALPH_HOME']! } : {}),
      });
      ground.drop(home === 'used' ? { ...project, env: {} } : project);
      return { [of]: [agents[0]!.begun - startedMs] };
    };
  return measure(
    {
      rounds: isQuick ? 5 : 20,
      floors: [() => node(bare, ['-e', '0'], builds[0]!)],
      probes: [
        ...Object.keys(looks).map(
          word => (build: Build) => node(word, [join(ground.install(build), program), word], build),
        ),
        ...ways.map(begun),
      ],
      rows,
    },
    builds,
  );
}
