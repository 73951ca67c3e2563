// What a long loop leaves behind: objects and refs in the repository, and how long its history takes to look at.
import { join } from 'node:path';
import type { BenchRow } from '../row.ts';
import { checked } from './git.ts';
import { type Ground, type Project, run, started } from './ground.ts';
import { type Build, type Figures, measure, type RowOrder } from './section.ts';

const looks = ['audit verify', 'report', 'events', 'explain'];

function rows(count: number, isWhole: boolean): readonly RowOrder[] {
  const left = (of: string, limit: number): RowOrder => ({
    ...{ name: `history: ${of} after ${count} default iterations`, of, unit: of },
    limit: isWhole ? limit : undefined,
    note: isWhole
      ? ''
      : `${limit} is the limit after 1,000, which --quick does not reach: multiply by ${1_000 / count} if nothing packs`,
  });
  return [
    left('loose objects', 500),
    left('refs', 50),
    ...looks.map(of => ({
      ...{ name: `history: ralph ${of}, ${count} iterations / a fresh Node that reads the rows once`, of, per: 'rows' },
      limit: isWhole ? 3 : undefined, // a short one is read faster than Node starts
    })),
  ];
}

export async function benchHistory(
  isQuick: boolean,
  builds: readonly Build[],
  ground: Ground,
): Promise<readonly BenchRow[]> {
  const count = isQuick ? 50 : 1_000;
  const worked = new Map<Build, Project>();
  for (const build of builds) {
    const order = { agent: 'works', tasks: count + 10, files: 1_000, flags: checked, iterations: count } as const;
    worked.set(build, (await ground.ralph(build, order)).project);
  }
  const timed = async (name: string, words: readonly string[], project: Project): Promise<Figures> => {
    const { code, said, tookMs } = await started(process.execPath, words, project);
    if (code !== 0) throw new Error(`${name} exited with ${code}: ${said}`);
    return { [name]: [tookMs] };
  };
  const reading = (): Promise<Figures> => {
    const project = worked.get(builds[0]!)!;
    const words = [join(import.meta.dirname, 'rows.mjs'), join(project.env['RALPH_HOME']!, 'ralph.db')];
    return timed('rows', words, project);
  };
  const left = async (build: Build): Promise<Figures> => {
    const project = worked.get(build)!;
    return {
      'loose objects': [Number(run('git', ['count-objects'], project).split(' ')[0])],
      refs: [run('git', ['for-each-ref'], project).trim().split('\n').length],
    };
  };
  // As users start it: what V8 compiled for a command is kept beside the bundle.
  const looking = (look: string) => (build: Build) =>
    timed(look, [join(ground.install(build), 'bin/ralph'), ...look.split(' ')], worked.get(build)!);
  return measure(
    { rounds: isQuick ? 3 : 7, floors: [reading], probes: [left, ...looks.map(looking)], rows: rows(count, !isQuick) },
    builds,
  );
}
