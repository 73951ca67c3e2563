// Where a loop works: the repository it is in (or none), its own worktree, its forks; opened once per command.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Config } from '../../config/settings.ts';
import type { Settings } from '../../core/settings.ts';
import type { State } from '../../core/state.ts';
import type { ForkOptions } from '../../git/forks/fork.ts';
import type { GitWorkspace } from '../../git/git.ts';
import type { Repository } from '../../git/repository.ts';
import type { Refusal } from '../../git/workspace.ts';
import { UsageError } from '../../text/errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a look at the folder found, before anything is written. */
export interface Ground {
  /** Absent: not in a repository, so there is neither undo nor commits. */
  readonly repository?: Repository;
  readonly notices: readonly string[];
  /** A merge or rebase is not finished. */
  readonly isMidway: boolean;
  /** Patterns of files that stand behind a filter, such as those of LFS. */
  readonly filters: readonly string[];
}

/** Git finds the settings of the user by these, and nothing else of ours. */
export const gitEnvironment = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'HOME', 'XDG_CONFIG_HOME'].flatMap(name => (env[name] === undefined ? [] : [[name, env[name]]])),
  );

export function refusalError({ problem, fix }: Refusal): UsageError {
  return new UsageError(problem, fix);
}

/** Refused in one sentence where Ralph could not keep its promises. */
export async function lookAround(directory: string, env: Environment): Promise<Ground> {
  const { openRepository } = await import('../../git/repository.ts');
  const opened = await openRepository({ directory, environment: gitEnvironment(env) });
  if (!opened.ok) {
    if (opened.kind === 'not-a-repository') return { notices: [], isMidway: false, filters: [] };
    throw refusalError(opened);
  }
  const { repository } = opened;
  const { preflight } = await import('../../git/repository.ts');
  const found = await preflight(repository, directory);
  if (!found.ok) throw refusalError(found);
  const { notices, isMidway, filters } = found;
  return { repository, notices, isMidway, filters };
}

/** A git that does not take our settings from the environment would run hooks and ask. */
const firstCommit = `git --version >/dev/null || exit
[ "$(git config core.hooksPath)" = /dev/null ] || { echo 'error: git is older than 2.31' >&2; exit 1; }
git init -q --template= . && git config user.name Ralph && git config user.email ralph@localhost &&
git add -A && git commit -q -m "$1"`;

/** A folder of our own becomes a repository with one commit; where that fails it stays a plain folder. */
export async function makeRepository(directory: string, env: Environment): Promise<Refusal | undefined> {
  const refusal = await unmade(directory, env);
  if (refusal !== undefined) rmSync(join(directory, '.git'), { recursive: true, force: true });
  return refusal;
}

async function unmade(directory: string, env: Environment): Promise<Refusal | undefined> {
  const { complaint, gitShell } = await import('../../git/call.ts');
  const place = { directory, environment: gitEnvironment(env), settings: [['init.defaultBranch', 'main'] as const] };
  const made = await gitShell(place, firstCommit, ['Before the loop'], { timeMsMax: 10_000 });
  if (made.code === 127) return { ok: false, problem: 'git is not installed' };
  if (made.code !== 0) return { ok: false, problem: complaint(made) };
  return lookAround(directory, env).then(
    () => undefined,
    ({ message }: Error) => ({ ok: false, problem: message }),
  );
}

/** What the folder allows of what was asked for. */
export function settingsHere(settings: Settings, config: Config, ground: Ground): Settings {
  const isGit = ground.repository !== undefined;
  const checkpoints = isGit && !config.noCheckpoints;
  const forked = config.parallel > 1;
  if ((forked || config.worktree) && !isGit)
    throw new UsageError(
      `${forked ? '--parallel' : '--worktree'} needs a git repository, and this folder is in none.`,
      'Make one (git init, and a first commit), or leave the flag out.',
    );
  if ((forked || config.rollbackAfter !== undefined) && !checkpoints)
    throw new UsageError(
      `${forked ? '--parallel' : '--rollback-after'} needs checkpoints.`,
      isGit ? 'Leave --no-checkpoints out.' : 'They need a git repository: git init.',
    );
  if (forked && ground.filters.length > 0)
    throw new UsageError(
      `--parallel would commit files that stand behind a filter without it: ${ground.filters.slice(0, 5).join(', ')}.`,
      'Say --worktree without --parallel: what stands behind a filter is never committed there.',
    );
  return {
    ...settings,
    parallel: config.parallel,
    worktreePerTask: forked,
    checkpoints,
    commits: checkpoints && !config.noCommit && !ground.isMidway,
    tamperScreen: checkpoints,
    rollbackAfter: checkpoints ? (config.rollbackAfter ?? settings.rollbackAfter) : null,
  };
}

export interface PlaceNeeds {
  readonly home: string;
  readonly env: Environment;
  readonly loop: string;
  readonly directory: string;
  readonly document: string;
  readonly config: Pick<Config, 'worktreeCopy' | 'maxCheckpointFile'>;
  /** Of the loop; undefined when it works in the user's own folder. */
  readonly branch?: string | undefined;
  readonly forked: boolean;
  /** Makes a new fork ready for work. */
  readonly ready?: ((directory: string) => Promise<Refusal | undefined>) | undefined;
}

/** With what a parallel loop needs beside: a fork can be thrown away. */
export interface OwnGit extends GitWorkspace {
  drop(task: string): Promise<void>;
}

export const worktreeOf = (home: string, loop: string): string => join(home, 'worktrees', loop);
export const forksOf = (home: string, loop: string): string => join(home, 'worktrees', `${loop}-forks`);

/** The same folder in the worktree, made if it is not in git. */
function sameFolder(repository: Repository, directory: string, top: string): string {
  const inside = relative(realpathSync(repository.directory), realpathSync(directory));
  const folder = inside === '' ? top : join(top, inside);
  mkdirSync(folder, { recursive: true });
  return folder;
}

export interface OwnTree {
  readonly directory: string;
  readonly branch: string;
  readonly notices: readonly string[];
}

/** Makes the loop's own worktree on a branch `ralph/NAME`, or takes it up again. */
export async function makeOwnTree(
  ground: Ground,
  order: {
    readonly home: string;
    readonly loop: string;
    readonly name: string;
    readonly directory: string;
    readonly needed: readonly string[];
  },
): Promise<OwnTree> {
  const { repository } = ground;
  if (repository === undefined) throw new UsageError('A worktree needs a git repository.', 'git init');
  const { makeWorktree } = await import('../../git/worktree.ts');
  mkdirSync(join(order.home, 'worktrees'), { recursive: true, mode: 0o700 });
  const path = worktreeOf(order.home, order.loop);
  const made = await makeWorktree(repository, { path, branch: `ralph/${order.name}`, needed: order.needed });
  if (!made.ok) throw refusalError(made);
  const missing = made.missing.length === 0 ? [] : [`Not copied into the worktree: ${made.missing.join(', ')}.`];
  const directory = sameFolder(repository, order.directory, made.directory);
  return { directory, branch: made.branch, notices: [...made.notices, ...missing] };
}

/** The workspace of a loop in a repository; undefined elsewhere. */
export async function openGit(needs: PlaceNeeds): Promise<OwnGit | undefined> {
  const { home, env, loop, directory, config, forked } = needs;
  if (!existsSync(directory)) return undefined;
  const { openRepository } = await import('../../git/repository.ts');
  const environment = gitEnvironment(env);
  const opened = await openRepository({ directory, environment });
  if (!opened.ok) {
    if (opened.kind === 'not-a-repository') return undefined;
    throw refusalError(opened);
  }
  const { repository } = opened;
  const { gitWorkspace } = await import('../../git/git.ts');
  const folder = join(home, 'loops', loop);
  if (forked) mkdirSync(forksOf(home, loop), { recursive: true, mode: 0o700 });
  const forks = await forksFor(needs, repository);
  const workspace = gitWorkspace({
    loop,
    repository,
    directory,
    folder: join(folder, 'git'),
    uncovered: [home],
    replaced: [needs.document],
    fileBytesMax: config.maxCheckpointFile ?? undefined,
    forks,
  });
  const placed = inside(workspace, repository, directory);
  const ready = needs.ready === undefined ? placed : madeReady(placed, folder, needs.ready);
  return {
    ...ready,
    async drop(task) {
      if (forks === undefined) return;
      const { dropFork } = await import('../../git/forks/fork.ts');
      await dropFork(repository, forks, task);
    },
  };
}

async function forksFor(needs: PlaceNeeds, repository: Repository): Promise<ForkOptions | undefined> {
  const { home, env, loop, document, config, branch, forked } = needs;
  if (!forked || branch === undefined) return undefined;
  return {
    loop,
    folder: forksOf(home, loop),
    loopDirectory: worktreeOf(home, loop),
    branch,
    needed: config.worktreeCopy,
    apart: await inTreeOf(document, repository, gitEnvironment(env)),
    privateFolder: join(home, 'loops', loop, 'git'),
  };
}

/** Once for every fork that is new: a folder is known again by its number and the time it was made. */
function madeReady(
  workspace: GitWorkspace,
  folder: string,
  ready: (directory: string) => Promise<Refusal | undefined>,
): GitWorkspace {
  return {
    ...workspace,
    async fork(task) {
      const made = await workspace.fork(task);
      if (!made.ok) return made;
      const directory = workspace.directory(task);
      const stamp = join(folder, 'ready', createHash('sha256').update(task).digest('hex'));
      const { ino, birthtimeMs } = statSync(directory);
      const identity = `${ino} ${birthtimeMs}`;
      if (existsSync(stamp) && readFileSync(stamp, 'utf8') === identity) return made;
      const refusal = await ready(directory);
      if (refusal !== undefined) return refusal;
      mkdirSync(dirname(stamp), { recursive: true, mode: 0o700 });
      writeFileSync(stamp, identity, { mode: 0o600 });
      return made;
    },
  };
}

/** The task document, as a path in any working tree of this repository: what a fork does to it is not for the branch. */
async function inTreeOf(
  document: string,
  { commonDirectory }: Repository,
  environment: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const { openRepository } = await import('../../git/repository.ts');
  const around = await openRepository({ directory: dirname(document), environment });
  const isSame = around.ok && around.repository.commonDirectory === commonDirectory;
  return isSame ? [relative(around.repository.directory, document)] : [];
}

/** A loop that works in a folder of the tree works in the same folder of every fork. */
function inside(workspace: GitWorkspace, repository: Repository, directory: string): GitWorkspace {
  const folder = relative(realpathSync(repository.directory), realpathSync(directory));
  if (folder === '') return workspace;
  const directoryOf = (task: string): string => {
    const found = workspace.directory(task);
    return found === directory ? directory : join(found, folder);
  };
  return {
    ...workspace,
    directory: directoryOf,
    async fork(task) {
      const made = await workspace.fork(task);
      if (made.ok) mkdirSync(directoryOf(task), { recursive: true });
      return made;
    },
  };
}

/** The workspace of a loop that exists: for commands about it. */
export async function workspaceOf(
  home: string,
  env: Environment,
  state: State,
  config: PlaceNeeds['config'] = { worktreeCopy: [] },
): Promise<GitWorkspace | undefined> {
  const { loop, directory, document, branch, settings } = state;
  return openGit({ home, env, loop, directory, document, config, branch, forked: settings.worktreePerTask });
}
