// A parallel loop without its engine: a repository, the loop's own worktree, and its forks.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Forks } from '../../src/git/forks.ts';
import { safeName } from '../../src/git/paths.ts';
import type { Repository } from '../../src/git/repository.ts';
import type { ForkOptions } from '../../src/git/worktrees/fork.ts';
import { openForks } from '../../src/git/worktrees/merge-fork.ts';
import { makeWorktree } from '../../src/git/worktrees/worktree.ts';
import { copyOf, type Scratch, scratch } from './scratch.ts';

export interface Parallel {
  readonly one: Scratch;
  readonly repository: Repository;
  readonly options: ForkOptions;
  /** As a process of ours has them; another one has its own. */
  open(): Forks;
  write(task: string, path: string, text: string): void;
  read(task: string, path: string): string;
  /** In the loop's own worktree. */
  readonly loop: { git(...args: readonly string[]): string; read(path: string): string };
}

export const orderOf = (task: string, iteration = 1) => ({
  loop: 'loop-1',
  task,
  title: `Title of ${task}`,
  iteration,
});

let model: Scratch | undefined;

/** `prepare`: what a person does before the loop begins. */
export async function parallel(more: Partial<ForkOptions> = {}, prepare?: (one: Scratch) => void): Promise<Parallel> {
  if (model !== undefined && prepare === undefined) return parallelIn(copyOf(model), more);
  const one = scratch();
  prepare?.(one);
  const order = { path: join(one.root, 'trees', 'loop'), branch: 'ralph/x', untracked: more.untracked ?? [] };
  good(await makeWorktree(await one.open(), order));
  if (prepare !== undefined) return parallelIn(one, more);
  model = one;
  return parallelIn(copyOf(model), more);
}

/** A copy for the next story. */
export const again = ({ one, options }: Parallel): Promise<Parallel> =>
  parallelIn(copyOf(one), { untracked: options.untracked });

async function parallelIn(one: Scratch, more: Partial<ForkOptions>): Promise<Parallel> {
  const repository = await one.open();
  const path = join(one.root, 'trees', 'loop');
  const options: ForkOptions = {
    loop: 'loop-1',
    folder: join(one.root, 'forks'),
    loopDirectory: path,
    branch: 'ralph/x',
    untracked: [],
    isReusable: true,
    privateFolder: one.folder,
    ...more,
  };
  const at = (task: string, name: string) => join(options.folder, safeName(task), name);
  return {
    one,
    repository,
    options,
    open: () => openForks(repository, options),
    write(task, name, text) {
      mkdirSync(dirname(at(task, name)), { recursive: true });
      writeFileSync(at(task, name), text);
    },
    read: (task, name) => readFileSync(at(task, name), 'utf8'),
    loop: { git: (...args) => one.gitIn(path, ...args), read: name => readFileSync(join(path, name), 'utf8') },
  };
}

/** Or the sentence of the refusal as an error. */
export function good<Result extends { readonly ok: boolean }>(result: Result): Extract<Result, { readonly ok: true }> {
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result as Extract<Result, { readonly ok: true }>;
}
