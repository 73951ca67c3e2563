// A simulated place of work: its files are the set of tasks whose work is there, so that a restore really takes work away.
import type { Checkpoints } from '../../src/git/checkpoints.ts';
import type { Commits } from '../../src/git/commits.ts';
import type { Forks } from '../../src/git/forks.ts';
import type { Random } from './random.ts';

export interface SimulatedPlace {
  readonly chances: Random;
  /** What is there now. */
  readonly present: Set<string>;
  readonly saved: Map<string, ReadonlySet<string>>;
  readonly landed: Set<number>;
}

const textOf = (present: ReadonlySet<string>): string => `tree ${[...present].sort().join(',')}`;

const namesIn = (tree: string): readonly string[] =>
  tree
    .slice('tree '.length)
    .split(',')
    .filter(name => name !== '');

export interface SimulatedGit {
  readonly checkpoints: Checkpoints;
  readonly commits: Commits;
  readonly forks: Forks;
}

const refusal = { ok: false as const, problem: 'simulated trouble' };

/** Refuses now and then what a real one may refuse: a save (the disk), a restore (a person's edits), a merge (a conflict). */
export function simulatedGit(place: SimulatedPlace): SimulatedGit {
  const { chances } = place;
  return {
    checkpoints: checkpointsIn(place),
    commits: {
      commit: async () =>
        chances.is(0.1) ? refusal : { ok: true, commit: 'c', head: 'c', paths: ['a.txt'], left: [] },
    },
    forks: forksIn(place),
  };
}

const checkpointsIn = ({ chances, present, saved }: SimulatedPlace): Checkpoints => ({
  save: async ({ number }) => {
    if (chances.is(0.01)) return refusal;
    const commit = `commit ${number}`;
    saved.set(commit, new Set(present));
    return { ok: true, ref: `refs/${number}`, commit, tree: textOf(present), skipped: [] };
  },
  treeNow: async () => (chances.is(0.1) ? 'tree written by a check' : textOf(present)),
  restore: async ({ to }) => {
    if (chances.is(0.1)) return { ...refusal, conflicts: ['a.txt'] };
    present.clear();
    for (const task of saved.get(to) ?? []) present.add(task);
    return { ok: true, written: ['a.txt'], deleted: [], merged: [], kept: chances.is(0.2) ? ['mine.txt'] : [] };
  },
  exchange: async ({ spans }) => {
    if (chances.is(0.05)) return refusal;
    for (const { from, to } of spans) {
      for (const task of namesIn(from).filter(name => !namesIn(to).includes(name))) present.delete(task);
      for (const task of namesIn(to).filter(name => !namesIn(from).includes(name))) present.add(task);
    }
    return { ok: true, paths: ['a.txt'], kept: [], tree: textOf(present) };
  },
  changes: async spans => spans.filter(span => span.from !== span.to).map(() => ({ path: 'a.txt', how: 'changed' })),
  repair: async () => ({ did: [], missing: [] }),
});

/** The name of a task is the place of its work, so that a check knows whose work it looks at. */
const forksIn = ({ chances, landed }: SimulatedPlace): Forks => ({
  directory: task => task,
  fork: async () => (chances.is(0.02) ? refusal : { ok: true, base: 'base' }),
  base: async () => 'base',
  mergeIntoFork: async () => {
    if (chances.is(0.15)) return { ...refusal, conflicts: ['a.txt'] };
    return { ok: true, changed: chances.is(0.3), isMerged: false };
  },
  mergeFork: async ({ iteration }) => {
    if (chances.is(0.05)) return refusal;
    landed.add(iteration);
    return { ok: true, commit: 'c' };
  },
});
