// A long loop in one repository: what it leaves there stays small, while everything it saved stays.
import { makeRepo, type Repo, saved } from '../git/repo.ts';
import { until } from './stage.ts';

interface Left {
  readonly refs: number;
  readonly loose: number;
  readonly packs: number;
}

const leftIn = (repo: Repo): Left => {
  const counted = repo.git('count-objects', '-v');
  const figure = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(counted)?.[1]);
  const refs = repo.git('for-each-ref').trim().split('\n').length;
  return { refs, loose: figure('count'), packs: figure('packs') };
};

/** Iterations that each change three files, are saved and committed; once the user's git throws away what it may. */
async function longLoop(repo: Repo, count: number, gcAt: number, look: (left: Left) => void) {
  const checkpoints = await repo.checkpoints();
  const known: { number: number; commit: string }[] = [];
  for (let number = 1; number <= count; number += 1) {
    repo.write('src/deep/file.ts', `work ${number}\n`.repeat(50));
    repo.write(`src/area-${number % 7}/file-${number % 50}.ts`, `work ${number}\n`);
    repo.write('notes.md', `iteration ${number}\n`);
    known.push({ number, commit: (await saved(checkpoints, number)).commit });
    repo.git('add', '-A');
    repo.git('commit', '-qm', `iteration ${number}`);
    if (number === gcAt) repo.git('gc', '-q', '--prune=now');
    if (number % 10 === 0) look(leftIn(repo));
  }
  if (count >= 20) await until('it is tidied up', () => leftIn(repo).refs < 40);
  await checkpoints.close?.();
  return { checkpoints, known };
}

/** The number of failures. */
export async function proveSmall(count: number): Promise<number> {
  const repo = makeRepo();
  try {
    const most = { refs: 0, loose: 0, packs: 0 };
    const { checkpoints, known } = await longLoop(repo, count, Math.ceil(count / 3), left => {
      for (const name of ['refs', 'loose', 'packs'] as const) most[name] = Math.max(most[name], left[name]);
    });
    const left = leftIn(repo);
    console.log(
      `${count} checkpoints and commits leave ${JSON.stringify(left)}; the most were ${JSON.stringify(most)}`,
    );
    const complaints = repo.git('fsck', '--no-dangling').trim();
    repo.git('gc', '-q', '--prune=now');
    const missing = await checkpoints.missing(known);
    const now = (await saved(checkpoints, count + 1)).commit;
    const back = await checkpoints.restore({ to: known[0]!.commit, base: now, now });
    const isFirst = back.ok && repo.read('notes.md') === 'iteration 1\n';
    console.log(
      `fsck says "${complaints}", ${missing.length} are missing, the first ${isFirst ? 'came back' : 'is lost'}`,
    );
    const isSmall = left.refs <= 50 && left.loose <= 500 && most.packs <= 10;
    return [isSmall, complaints === '', missing.length === 0, isFirst].filter(isSo => !isSo).length;
  } finally {
    repo.cleanUp();
  }
}
