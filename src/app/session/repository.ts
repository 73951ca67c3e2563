// The place of a loop: the repository it works in (or none), what that allows, and its git workspace with forks.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Config } from '../../config/settings.ts';
import type { Settings } from '../../core/settings.ts';
import type { State } from '../../core/state.ts';
import type { Branch, Commits } from '../../git/commits.ts';
import type { GitCheckpoints } from '../../git/git-checkpoints.ts';
import type { Refusal } from '../../git/refusal.ts';
import type { Findings, Repository } from '../../git/repository.ts';
import type { GitForks, openForks } from '../../git/worktrees/merge-fork.ts';
import { UsageError } from '../../text/errors.ts';
import { present } from '../../text/fields.ts';
import { type Environment, loopFolder } from '../app.ts';

/** What a look at the folder found, before anything is written. */
export interface RepositoryInfo extends Findings {
  /** Absent: not in a repository, so there is neither undo nor commits. */
  readonly repository?: Repository;
}

/** Git finds the settings of the user by these, and nothing else of ours. */
export const gitEnvironment = ({ PATH, HOME, XDG_CONFIG_HOME }: Environment): Record<string, string> =>
  present({ PATH, HOME, XDG_CONFIG_HOME }) as Record<string, string>;

export const refusalError = ({ problem, fix }: Refusal): UsageError => new UsageError(problem, fix);

/** Undefined: not in a repository. */
async function opened(directory: string, env: Environment) {
  const { openRepository } = await import('../../git/repository.ts');
  const found = await openRepository({ directory, environment: gitEnvironment(env) });
  if (found.ok) return found;
  if (found.kind === 'not-a-repository') return undefined;
  throw refusalError(found);
}

/** Refused in one sentence where Ralph could not keep its promises. */
export async function inspectRepository(directory: string, env: Environment): Promise<RepositoryInfo> {
  const { listAhead, preflight } = await import('../../git/repository.ts');
  const opening = opened(directory, env);
  const ahead = listAhead({ directory, environment: gitEnvironment(env) });
  const { repository, names } = (await opening) ?? {};
  if (repository === undefined) return { notices: [], isMidway: false, filters: [] };
  const found = await preflight(repository, directory, names ?? [], ahead);
  if (!found.ok) throw refusalError(found);
  return { repository, ...found.findings };
}

/** A git that does not take our settings from the environment would run hooks and ask. */
const firstCommit = `git --version >/dev/null || exit
[ "$(git config core.hooksPath)" = /dev/null ] || { echo 'error: git is older than 2.31' >&2; exit 1; }
git init -q --template= . && git config user.name Ralph && git config user.email ralph@localhost &&
git add -A && git commit -q -m 'Before the loop'`;

/** A folder of our own becomes a repository with one commit; where that fails it stays a plain folder. */
export async function makeRepository(directory: string, env: Environment): Promise<Refusal | undefined> {
  const problem = await firstCommitProblem(directory, env);
  if (problem === undefined) return undefined;
  rmSync(join(directory, '.git'), { recursive: true, force: true });
  return { ok: false, problem };
}

async function firstCommitProblem(directory: string, env: Environment): Promise<string | undefined> {
  const { complaint, gitShell } = await import('../../git/call.ts');
  const place = { directory, environment: gitEnvironment(env), settings: [['init.defaultBranch', 'main'] as const] };
  const made = await gitShell(place, firstCommit, { timeMsMax: 10_000 });
  if (made.code !== 0) return made.code === 127 ? 'git is not installed' : complaint(made);
  return inspectRepository(directory, env).then(
    () => undefined,
    ({ message }: Error) => message,
  );
}

/** What the folder cannot do of what was asked for. */
export function refuseImpossible(config: Config, { repository, filters }: RepositoryInfo): void {
  const isParallel = config.parallel > 1;
  if (repository === undefined && (isParallel || config.worktree))
    throw new UsageError(
      `${isParallel ? '--parallel' : '--worktree'} needs a git repository, and this folder is in none.`,
      'Make one (git init, and a first commit), or leave the flag out.',
    );
  const needs = [
    isParallel && '--parallel',
    config.worktree && '--worktree', // without commits nothing could be merged
    config.rollbackAfter !== undefined && '--rollback-after',
  ].find(one => one !== false);
  if ((repository === undefined || config.noCheckpoints) && needs !== undefined)
    throw new UsageError(
      `${needs} needs checkpoints.`,
      repository === undefined ? 'They need a git repository: git init.' : 'Leave --no-checkpoints out.',
    );
  if (isParallel) refuseParallel(config, filters);
}

/** Its tasks meet in commits, which run no filter. */
function refuseParallel({ noCommit }: Config, filters: RepositoryInfo['filters']): void {
  if (noCommit)
    throw new UsageError(
      '--parallel makes a commit of every task that is done, on a branch of its own: it cannot work with --no-commit.',
      'Leave --no-commit out (your own branch stays as it is until you merge), or leave --parallel out.',
    );
  if (filters.length > 0)
    throw new UsageError(
      `--parallel would commit files that stand behind a filter without it: ${filters.slice(0, 5).join(', ')}.`,
      'Say --worktree without --parallel: its commits run the filter.',
    );
}

/** Where a loop works: a part of its workspace. */
export interface GitPlace {
  readonly home: string;
  readonly env: Environment;
  readonly loop: string;
  readonly directory: string;
  /** Of its document. */
  readonly path: string;
  readonly config: Pick<Config, 'worktreeCopy' | 'maxCheckpointFile'>;
  readonly settings: Pick<Settings, 'worktreePerTask'>;
  /** Of the loop; undefined when it works in the user's own folder. */
  readonly branch?: string | undefined;
  /** What a look at the folder that `repositoryInfo` is about has found just now. */
  readonly seen?: { readonly directory: string; readonly repositoryInfo: RepositoryInfo };
  /** Makes a new fork ready for work. */
  readonly ready?: ((directory: string) => Promise<Refusal | undefined>) | undefined;
}

/** What a loop does with git. */
export interface LoopGit {
  readonly checkpoints: GitCheckpoints;
  readonly commits: Commits;
  readonly branch: Branch;
  /** Of a parallel loop. */
  readonly forks: GitForks | undefined;
}

export const worktreeOf = (home: string, loop: string): string => join(home, 'worktrees', loop);
export const forksOf = (home: string, loop: string): string => join(home, 'worktrees', `${loop}-forks`);

/** Git as a loop in a repository uses it; undefined elsewhere. */
export async function openGit(needs: GitPlace): Promise<LoopGit | undefined> {
  const { home, loop, directory, path, config } = needs;
  const repository = await repositoryAt(needs);
  if (repository === undefined) return undefined;
  const { gitCheckpoints } = await import('../../git/git-checkpoints.ts');
  const { gitCommits } = await import('../../git/progress/git-commits.ts');
  const { gitBranch } = await import('../../git/progress/branch.ts');
  const { openForks } = await import('../../git/worktrees/merge-fork.ts');
  const folder = join(loopFolder(home, loop), 'git');
  const excluded = [home];
  const options = needs.settings.worktreePerTask ? await forkOptionsOf(needs, repository, folder) : undefined;
  const forks = options && openForks(repository, options);
  const fileBytesMax = config.maxCheckpointFile ?? undefined;
  return {
    checkpoints: gitCheckpoints({ loop, repository, folder, excluded, replaced: [path], fileBytesMax, forks }),
    commits: gitCommits(repository, { folder, excluded }),
    branch: gitBranch(repository),
    forks: forks && madeReady(inside(forks, repository, directory), loopFolder(home, loop), needs.ready),
  };
}

async function repositoryAt({ directory, env, seen }: GitPlace): Promise<Repository | undefined> {
  if (seen?.directory === directory) return seen.repositoryInfo.repository;
  return existsSync(directory) ? (await opened(directory, env))?.repository : undefined;
}

/** Of a parallel loop; undefined when it has no branch. */
async function forkOptionsOf(
  { home, env, loop, path, config, branch, ready }: GitPlace,
  repository: Repository,
  privateFolder: string,
): Promise<Parameters<typeof openForks>[1] | undefined> {
  const folder = forksOf(home, loop);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (branch === undefined) return undefined;
  const excluded = await inTreeOf(path, repository, env);
  const loopDirectory = worktreeOf(home, loop);
  const untracked = config.worktreeCopy;
  const isReusable = ready === undefined && untracked.length === 0; // what made the first one ready would be missing
  return { loop, folder, loopDirectory, branch, untracked, isReusable, excluded, privateFolder };
}

/** Once for every fork that is new: a folder is known again by its number and the time it was made. */
function madeReady(forks: GitForks, folder: string, ready: GitPlace['ready']): GitForks {
  if (ready === undefined) return forks;
  return {
    ...forks,
    async fork(task) {
      const made = await forks.fork(task);
      if (!made.ok) return made;
      const directory = forks.directory(task);
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
  env: Environment,
): Promise<readonly string[]> {
  const { openRepository } = await import('../../git/repository.ts');
  const around = await openRepository({ directory: dirname(document), environment: gitEnvironment(env) });
  const isSame = around.ok && around.repository.commonDirectory === commonDirectory;
  return isSame ? [relative(around.repository.directory, document)] : [];
}

/** A loop that works in a folder of the tree works in the same folder of every fork. */
function inside(forks: GitForks, repository: Repository, directory: string): GitForks {
  const folder = relative(realpathSync(repository.directory), realpathSync(directory));
  if (folder === '') return forks;
  const directoryOf = (task: string): string => join(forks.directory(task), folder);
  return {
    ...forks,
    directory: directoryOf,
    async fork(task) {
      const made = await forks.fork(task);
      if (made.ok) mkdirSync(directoryOf(task), { recursive: true });
      return made;
    },
  };
}

/** The checkpoints of a loop that exists: for commands about it. */
export async function checkpointsOf(
  home: string,
  env: Environment,
  state: State,
  config: GitPlace['config'] = { worktreeCopy: [] },
): Promise<GitCheckpoints | undefined> {
  const { settings } = state;
  const { id: loop, directory, document, branch } = state.loop;
  return (await openGit({ home, env, loop, directory, path: document, config, branch, settings }))?.checkpoints;
}
