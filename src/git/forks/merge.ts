// The forks of a parallel loop: made, merged with what the loop's branch became, and landed on it one after the other.
import type { CommitOrder, Refusal, Workspace } from '../workspace.ts';
import { ask } from '../ask.ts';
import { bring } from './merge-into-fork.ts';
import { type ForkOptions, forkDirectory, forkRecord, isForkThere, makeFork, rememberFork } from './fork.ts';
import { finishLanding, land } from './merge-fork.ts';
import { type Repository, refuse } from '../repository.ts';

export type Forks = Pick<Workspace, 'directory' | 'fork' | 'base' | 'bring' | 'land'>;

/** Merging without touching files came with git 2.38. */
const versionMin = [2, 38] as const;

export function openForks(repository: Repository, options: ForkOptions): Forks {
  let unfit: Promise<Refusal | undefined> | undefined;
  const inTurn = oneAtATime();
  return {
    directory: task => forkDirectory(options, task),
    fork: task =>
      inTurn(async () => {
        unfit ??= tooOld(repository);
        const refusal = await unfit;
        if (refusal !== undefined) return refusal;
        const cut = await finishLanding(repository, options);
        return cut.ok ? takeUpOrMake(repository, options, task) : cut;
      }),
    base: async task => (await forkRecord(options, task))?.base ?? '',
    bring: task =>
      inTurn(async () => {
        const cut = await finishLanding(repository, options);
        return cut.ok ? bring(repository, options, task) : { ...cut, conflicts: [] };
      }),
    land: (order: Omit<CommitOrder, 'spans' | 'document'>) =>
      inTurn(async () => {
        const cut = await finishLanding(repository, options);
        return cut.ok ? land(repository, options, order) : cut;
      }),
  };
}

/** A task may begin while another one lands: both change what the repository knows of its worktrees. */
function oneAtATime(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return work => {
    const turn = last.then(work, work);
    last = turn.catch(() => {});
    return turn;
  };
}

async function tooOld(repository: Repository): Promise<Refusal | undefined> {
  const said = await ask(repository, ['version']);
  if (!said.ok) return said;
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(said.text) ?? [];
  const isOld = Number(major) < versionMin[0] || (Number(major) === versionMin[0] && Number(minor) < versionMin[1]);
  if (!isOld) return undefined;
  return refuse(`Parallel tasks need git ${versionMin.join('.')}, and this is ${major}.${minor}.`, 'Update git.');
}

async function takeUpOrMake(repository: Repository, options: ForkOptions, task: string): ReturnType<Workspace['fork']> {
  const record = await forkRecord(options, task);
  const isThere = record?.state === 'ready' && (await isForkThere(repository, forkDirectory(options, task)));
  if (!isThere) return makeFork(repository, options, task);
  if (record.bringing !== undefined) {
    const finished = await bring(repository, options, task);
    if (!finished.ok && finished.conflicts.length === 0) return finished;
  }
  const { unheard: _heard, ...rest } = (await forkRecord(options, task)) ?? record;
  await rememberFork(options, task, rest);
  return { ok: true, base: rest.base };
}
