// The default iteration in a repository: the agent edits a file and claims, the claim is checked, marked, checkpointed, committed.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BenchRow, bestMs } from '../row.ts';
import { agentsIn, documentOf, type Ground, gapsOf, type LoopOrder, run } from './ground.ts';
import { type Build, type Figures, measure, type RowOrder } from './section.ts';

const floor = join(import.meta.dirname, 'git-floor.sh');
const ballast = pathToFileURL(join(import.meta.dirname, 'ballast.mjs')).href;
export const checked: readonly string[] = ['--verify', 'true'];

/** Figures of one size: `gap`, and `floor` of the same work. */
interface Size {
  readonly name: string;
  readonly order: Omit<LoopOrder, 'iterations'>;
  readonly hasFloor?: boolean;
}

const sizes = (isQuick: boolean): readonly Size[] => {
  const works = (tasks: number, files: number): Size['order'] => ({ agent: 'works', tasks, files, flags: checked });
  return [
    { name: '50 tasks, 1,000 files', order: works(50, 1_000), hasFloor: true },
    { name: '1,000 tasks, 1,000 files', order: works(1_000, 1_000), hasFloor: true },
    { name: '10,000 tasks, 1,000 files', order: works(10_000, 1_000), hasFloor: true },
    { name: '50 tasks, 10,000 files', order: works(50, 10_000), hasFloor: true },
    ...(isQuick ? [] : [{ name: '50 tasks, 100,000 files', order: works(50, 100_000), hasFloor: true }]),
    { name: '10,000 tasks, edited by the agent', order: { ...works(10_000, 1_000), agent: 'edits' } },
    ...[100, 400].map(mb => ({
      name: `${mb} MB`,
      order: { ...works(50, 1_000), node: ['--import', `${ballast}?mb=${mb}`] },
    })),
  ];
};

const [tens, thousands, extra] = ['50 tasks, 1,000 files', '10,000 tasks, 1,000 files', '10,000 tasks'] as const;

function rows(isQuick: boolean): readonly RowOrder[] {
  const toFloor = (name: string): RowOrder => ({
    name: `git: gap of a default iteration, ${name} / the same durable work with plain git in one script`,
    of: name,
    per: `floor of ${name}`,
    limit: 2,
  });
  return [
    ...sizes(isQuick)
      .filter(one => one.hasFloor)
      .map(one => toFloor(one.name)),
    { name: `git: extra gap at ${extra} / JSON.parse of them`, of: thousands, minus: tens, per: 'parse', limit: 1 },
    {
      name: `git: extra gap at ${extra} when the agent edits the document / JSON.parse of them`,
      of: '10,000 tasks, edited by the agent',
      minus: tens,
      per: 'parse',
      limit: 5,
    },
    { name: "git: gap with 400 MB in Ralph's memory / with 100 MB", of: '400 MB', per: '100 MB', limit: 1.1 },
  ];
}

export async function benchGit(
  isQuick: boolean,
  builds: readonly Build[],
  ground: Ground,
): Promise<readonly BenchRow[]> {
  const warmUp = isQuick ? 6 : 15;
  const iterations = warmUp + (isQuick ? 12 : 25);
  const parsed = documentOf(10_000);
  const probe =
    ({ name, order }: Size) =>
    async (build: Build): Promise<Figures> => {
      const { agents, project } = await ground.ralph(build, { ...order, iterations });
      ground.drop(project);
      return { [name]: gapsOf(agents, warmUp) };
    };
  const plainGit =
    ({ name, order: { agent, tasks, files } }: Size) =>
    async (): Promise<Figures> => {
      const project = ground.project(tasks, files);
      const command = ground.command(agent, project.log);
      run('bash', ['--norc', floor, String(iterations), command, `${project.directory}-ledger`], project);
      ground.drop(project);
      return { [`floor of ${name}`]: gapsOf(agentsIn(project.log), warmUp) };
    };
  const all = sizes(isQuick);
  return measure(
    {
      rounds: isQuick ? 2 : 5,
      floors: [
        async () => ({ parse: [bestMs(() => JSON.parse(parsed))] }),
        ...all.filter(one => one.hasFloor).map(plainGit),
      ],
      probes: all.map(probe),
      rows: rows(isQuick),
    },
    builds,
  );
}
