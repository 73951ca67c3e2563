// The default iteration in a repository: the agent edits a file and claims, the claim is checked, marked, checkpointed, committed.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BenchRow, bestMs } from '../row.ts';
import { agentsIn, documentOf, type Ground, gapsOf, type LoopOrder, started } from './ground.ts';
import { type Build, type Figures, measure, type RowOrder } from './section.ts';

const floor = join(import.meta.dirname, 'git-floor.sh');
const ballast = pathToFileURL(join(import.meta.dirname, 'ballast.mjs')).href;
export const checked: readonly string[] = ['--verify', 'true'];

type Order = Omit<LoopOrder, 'iterations'>;
const works = (tasks: number, files: number): Order => ({ agent: 'works', tasks, files, flags: checked });
const [tens, many, edited] = ['50 tasks, 1,000 files', '10,000 tasks, 1,000 files', '10,000 tasks, edited'] as const;

/** Loops by the names of their figures. */
type Orders = Readonly<Record<string, Order>>;
const sizes = (isQuick: boolean): Orders => ({
  [tens]: works(50, 1_000),
  '1,000 tasks, 1,000 files': works(1_000, 1_000),
  [many]: works(10_000, 1_000),
  '50 tasks, 10,000 files': works(50, 10_000),
  ...(isQuick ? {} : { '50 tasks, 100,000 files': works(50, 100_000) }),
});

const toFloor = (name: string): RowOrder => ({
  name: `git: gap of a default iteration, ${name} / the same durable work with plain git in one script`,
  of: name,
  per: `floor of ${name}`,
  limit: 2,
});

/** Runs them and their floors in turn. */
class Iterations {
  readonly #ground: Ground;
  readonly #warmUp: number;
  readonly #count: number;

  constructor(isQuick: boolean, ground: Ground) {
    this.#ground = ground;
    this.#warmUp = isQuick ? 6 : 15;
    this.#count = this.#warmUp + (isQuick ? 12 : 25);
  }

  readonly probe =
    ([name, order]: readonly [string, Order]) =>
    async (build: Build): Promise<Figures> => {
      const { agents, project } = await this.#ground.ralph(build, { ...order, iterations: this.#count });
      this.#ground.drop(project);
      return { [name]: gapsOf(agents, this.#warmUp) };
    };

  readonly floor =
    ([name, { agent, tasks, files }]: readonly [string, Order]) =>
    async (): Promise<Figures> => {
      const project = this.#ground.project(tasks, files);
      const command = this.#ground.command(agent, project.log);
      const words = ['--norc', floor, String(this.#count), command, `${project.directory}-ledger`];
      const { code, said, cpuMs } = await started('bash', words, project);
      if (code !== 0) throw new Error(`the floor exited with ${code}: ${said}`);
      this.#ground.drop(project);
      const gaps = gapsOf(agentsIn(project.log), this.#warmUp);
      return { [`floor of ${name}`]: gaps, 'floor of cpu': [cpuMs / this.#count] };
    };

  readonly cpu = async (build: Build): Promise<Figures> => ({
    cpu: [await this.#ground.cpuMsPerIteration(build, works(50, 1_000), this.#count)],
  });
}

type Bench = (isQuick: boolean, builds: readonly Build[], ground: Ground) => Promise<readonly BenchRow[]>;

export const benchGit: Bench = (isQuick, builds, ground) => {
  const iterations = new Iterations(isQuick, ground);
  const one = [tens, works(50, 1_000)] as const;
  const cpu = { of: 'cpu', per: 'floor of cpu' };
  const rows = [toFloor(tens), { name: 'git: CPU of that iteration / of the same work with plain git', ...cpu }];
  const probes = [iterations.probe(one), iterations.cpu];
  return measure({ rounds: isQuick ? 2 : 8, floors: [iterations.floor(one)], probes, rows }, builds);
};

export const benchSizes: Bench = (isQuick, builds, ground) => {
  const iterations = new Iterations(isQuick, ground);
  const text = documentOf(10_000);
  const all = Object.entries(sizes(isQuick));
  const perParse = { minus: tens, per: 'parse' };
  const rows: readonly RowOrder[] = [
    ...all.slice(1).map(([name]) => toFloor(name)),
    { name: 'git: extra gap at 10,000 tasks / JSON.parse of them', of: many, ...perParse, limit: 1 },
    { name: 'git: the same when the agent edits the document', of: edited, ...perParse, limit: 5 },
  ];
  return measure(
    {
      rounds: isQuick ? 1 : 4,
      floors: [async () => ({ parse: [bestMs(() => JSON.parse(text))] }), ...all.slice(1).map(iterations.floor)],
      probes: [...all, [edited, { ...works(10_000, 1_000), agent: 'edits' }] as const].map(iterations.probe),
      rows,
    },
    builds,
  );
};

export const benchBallast: Bench = (isQuick, builds, ground) => {
  const iterations = new Iterations(isQuick, ground);
  const loaded = (mb: number): readonly [string, Order] => [
    `${mb} MB`,
    { ...works(50, 1_000), node: ['--import', `${ballast}?mb=${mb}`] },
  ];
  const name = "git: gap with 400 MB in Ralph's memory / with 100 MB";
  const rows = [{ name, of: '400 MB', per: '100 MB', limit: 1.1 }];
  const probes = [loaded(100), loaded(400)].map(iterations.probe);
  return measure({ rounds: isQuick ? 2 : 8, probes, rows }, builds);
};
