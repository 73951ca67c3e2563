// Sets up the workspace of a loop: its own worktree if it has one, its proof protected, its checks run once before any work.

import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { CheckResult } from '../../checks/check.ts';
import type { State } from '../../core/state.ts';
import type { GitCheckpoints } from '../../git/git-checkpoints.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { makeRedactor, redactDeep, secretValues } from '../../secrets/redactor.ts';
import { UsageError } from '../../text/errors.ts';
import { plural } from '../../text/format.ts';
import { restoreExclusions } from '../../views/checkpoints.ts';
import { ledgerEvents, loopFolder } from '../app.ts';
import { filesToProtect, redStart, refuseUnknownScripts } from '../checks.ts';
import { refreshProtection, unprotectable } from '../protected-files.ts';
import type { Prepared } from './prepare.ts';
import { checkpointsOf, forksOf, refusalError, worktreeOf } from './repository.ts';
import { inTemporaryFork, neverStopped, openWorkspace, setupProblem, type Workspace } from './workspace.ts';

/** Who is told while a workspace is made, and who may stop it. */
interface Watcher {
  readonly say: (line: string) => void;
  readonly announce: (line: string) => void;
  readonly stop: AbortSignal;
}

type NewLoop = Pick<State['loop'], 'id' | 'name'>;

/** For a new loop: its checks have run once, so that nobody is blamed for what was broken before. Undefined: it was stopped, and what was made is gone. */
export async function createWorkspace(
  prepared: Prepared,
  chosen: NewLoop,
  ledger: Ledger,
  watcher: Watcher,
): Promise<Workspace | undefined> {
  const { announce, stop } = watcher;
  const redact = makeRedactor(secretValues(prepared.env));
  let workspace: Awaited<ReturnType<typeof setUp>> | undefined;
  let baseline: readonly CheckResult[] | undefined;
  try {
    await sweepStale(prepared, ledger);
    for (const sentence of await strangersIn(prepared, ledger)) announce(`note: ${sentence}`);
    workspace = await setUp(prepared, chosen, watcher);
    const { checks, forks, directory } = workspace;
    if (checks.length > 0 && !stop.aborted) {
      announce(`Running the checks once, before any work: ${redact(checks.map(one => one.name).join(' ; '))} ...`);
      const once = (folder: string) => redStart(checks, folder, stop);
      baseline = redactDeep(await (forks === undefined ? once(directory) : inTemporaryFork(forks, once)), redact);
    }
  } catch (error) {
    await workspace?.discard();
    if (stop.aborted) return undefined;
    throw error;
  }
  if (!stop.aborted) return { ...workspace, baseline };
  await workspace.discard();
  return undefined;
}

export function redRefusal(red: readonly CheckResult[]): UsageError {
  return new UsageError(
    `${red.length === 1 ? 'A check fails' : `${red.length} checks fail`} before any work was done: ${red.map(one => one.name).join(' ; ')}.`,
    'Mend it, or say --allow-red-start when the work is meant to turn it green.',
  );
}

/** What runs left that were killed while they prepared a loop. */
async function sweepStale({ home, repositoryInfo }: Prepared, ledger: Ledger): Promise<void> {
  const { repository } = repositoryInfo;
  const folder = join(home, 'worktrees');
  if (repository === undefined || !existsSync(folder)) return;
  const { removeStaleWorktrees } = await import('../../git/worktrees/stale-worktrees.ts');
  const isLoop = async (loop: string): Promise<boolean> => (await ledger.store.loops()).some(row => row.loop === loop);
  for (const loop of await removeStaleWorktrees({ repository, folder, isLoop, now: Date.now() }))
    await rm(loopFolder(home, loop), { recursive: true, force: true });
}

/** Two ledgers know nothing of each other's leases: both could work in one folder at once. */
async function strangersIn({ home, repositoryInfo }: Prepared, ledger: Ledger): Promise<readonly string[]> {
  const { repository } = repositoryInfo;
  if (repository === undefined) return [];
  const refs = join(repository.commonDirectory, 'refs', 'ralph');
  const names = await readdir(refs).catch(() => []);
  if (names.length === 0) return [];
  const known = new Set((await ledger.store.loops()).map(row => row.loop));
  const others = names.filter(name => name !== 'forks' && !known.has(name));
  if (others.length === 0) return [];
  return [
    `This repository holds checkpoints of ${plural(others.length, 'loop')} that are not in ${home}: another RALPH_HOME works here, or did. Run one of them at a time. To see the refs of those loops: git for-each-ref refs/ralph`,
  ];
}

/** Somebody may have deleted `refs/ralph`: what git still has is held again. */
async function heldAgain(checkpoints: GitCheckpoints | undefined, { checkpoints: own, loop }: State) {
  const marks = [own.first, own.lastGood, own.latest].filter(mark => mark !== undefined);
  const { did, missing } = (await checkpoints?.repair(marks)) ?? { did: [], missing: [] };
  const lost = `no longer in this repository (refs/ralph was deleted): what they held is lost. What is left: ralph checkpoint list ${loop.name}`;
  return [
    ...did.map(one => `Checkpoints of this loop: ${one}.`),
    ...(missing.length === 0 ? [] : [`Checkpoints ${missing.join(', ')} are ${lost}`]),
  ];
}

/** Makes the worktree of a new loop ready and copies the files that prove the work. */
async function setUp(prepared: Prepared, chosen: NewLoop, { say, stop }: Watcher) {
  const { home, config, env, repositoryInfo, directory } = prepared;
  const { repository } = repositoryInfo;
  const { id: loop } = chosen;
  refuseUnknownScripts(config, env);
  const { worktreePerTask: forked } = prepared.settings;
  const folder = loopFolder(home, loop);
  const isOwn = config.worktree || forked;
  const own = isOwn ? await makeLoopWorktree(prepared, chosen) : undefined;
  for (const notice of own?.notices ?? []) say(`note: ${notice}`);
  const folderOfWork = own?.directory ?? directory;
  const discard = async (): Promise<void> => {
    if (own !== undefined && repository !== undefined) {
      const { abandonWorktree, dropTree } = await import('../../git/worktrees/worktree.ts');
      await dropTree(repository, worktreeOf(home, loop)); // only the set-up and the checks wrote there
      await abandonWorktree(repository, worktreeOf(home, loop));
      await rm(forksOf(home, loop), { recursive: true, force: true });
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    if (own !== undefined && !forked) await setUpWorktree(prepared, folderOfWork, say, stop);
    const { protectFiles } = await import('../../checks/protected-files.ts');
    const copies = join(folder, 'protected');
    const kept = await protectFiles({ directory: folderOfWork, folder: copies, ...filesToProtect(config, env) });
    if (!kept.ok) throw unprotectable(kept.problem);
    const place = { loop, directory: folderOfWork, branch: own?.branch, protectedHash: kept.hash };
    const workspace = await openWorkspace(prepared, place, stop);
    return {
      ...workspace,
      async discard() {
        await workspace.engine.checkpoints?.close?.(); // it may still write there
        await discard();
      },
    };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** For a loop that exists: where its ledger says. */
export async function resumeWorkspace(
  prepared: Prepared,
  state: State,
  ledger: Ledger,
  say: (line: string) => void,
): Promise<Workspace> {
  const { home, env, config, settings } = prepared;
  const { id: loop, directory, branch } = state.loop;
  const tree = await reopenWorktree(prepared, state);
  for (const notice of tree.notices) say(`note: ${notice}`);
  if (tree.isNew && !settings.worktreePerTask) await setUpWorktree(prepared, directory, say, neverStopped);
  const checkpoints = await checkpointsOf(home, env, state, config);
  for (const sentence of await heldAgain(checkpoints, state)) say(`note: ${sentence}`);
  const unfilled = tree.isNew ? await fillFromCheckpoint(checkpoints, state) : undefined;
  if (unfilled !== undefined) say(`note: ${unfilled}`);
  const worked = () => lastWorkAt(ledger, loop);
  const protection = await refreshProtection(prepared, { state, checkpoints, lastWorkAt: worked });
  for (const notice of protection.notices) say(`note: ${notice}`);
  return openWorkspace(prepared, { loop, directory, branch, protectedHash: protection.hash });
}

/** While the loop is at work: why its worktree could not be made again, or not wholly. */
export async function remakeWorktree(prepared: Prepared, state: State): Promise<string | undefined> {
  const { home, env, config } = prepared;
  try {
    await reopenWorktree(prepared, state);
    if (!state.settings.worktreePerTask) await setUpWorktree(prepared, state.loop.directory, () => {}, neverStopped);
    return await fillFromCheckpoint(await checkpointsOf(home, env, state, config), state);
  } catch (error) {
    if (error instanceof UsageError) return `It is gone, and could not be made again: ${error.message} ${error.hint}`;
    throw error;
  }
}

/** A worktree that was just made from its branch gets what the last checkpoint held beyond it. Why not, if it could not. */
async function fillFromCheckpoint(checkpoints: GitCheckpoints | undefined, state: State): Promise<string | undefined> {
  const { latest } = state.checkpoints;
  if (checkpoints === undefined || latest === undefined) return undefined;
  const failed = (problem: string): string => `What checkpoint ${latest.number} holds was not put back: ${problem}`;
  const made = await checkpoints.preview();
  if (!made.ok) return failed(made.problem);
  const now = made.commit; // nobody worked in it yet
  const filled = await checkpoints.restore({
    ...{ to: latest.commit, base: now, now, left: latest.left },
    except: restoreExclusions(state),
  });
  return filled.ok ? undefined : failed(filled.problem);
}

/** What a person asks of a loop is no work. */
const work = /^(iteration|check|proof|work|merge|checkpoint|signal|usage)\./;

async function lastWorkAt(ledger: Ledger, loop: string): Promise<number> {
  let last = 0;
  for await (const page of ledgerEvents(ledger, loop))
    for (const { event } of page) if (work.test(event.type)) last = Math.max(last, event.at);
  return last;
}

/** Forks are made ready one by one, when each is made. */
async function setUpWorktree(
  { config, home, env }: Prepared,
  directory: string,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<void> {
  if (config.worktreeSetup === undefined) return;
  say(`Making the worktree ready: ${config.worktreeSetup}`);
  const refusal = await setupProblem({ config, directory, home, env }, directory, config.worktreeSetup, stop);
  if (refusal !== undefined) throw refusalError(refusal);
}

/** Makes the loop's own worktree on a branch `ralph/NAME`, or takes it up again. */
async function makeLoopWorktree(prepared: Prepared, { id: loop, name }: NewLoop, existing?: string) {
  const { home, repositoryInfo, directory, config } = prepared;
  const { repository } = repositoryInfo;
  if (repository === undefined) throw new UsageError('A worktree needs a git repository.', 'git init');
  const { makeWorktree } = await import('../../git/worktrees/worktree.ts');
  mkdirSync(join(home, 'worktrees'), { recursive: true, mode: 0o700 });
  const order = { path: worktreeOf(home, loop), branch: `ralph/${name}`, untracked: config.worktreeCopy, existing };
  const made = await makeWorktree(repository, order);
  if (!made.ok) throw refusalError(made);
  const missing = made.missing.length === 0 ? [] : [`Not copied into the worktree: ${made.missing.join(', ')}.`];
  // The same folder in the worktree, made if it is not in git.
  const folder = join(made.directory, relative(realpathSync(repository.directory), realpathSync(directory)));
  mkdirSync(folder, { recursive: true });
  return { directory: folder, branch: made.branch, notices: [...made.notices, ...missing] };
}

/** The worktree of a loop that goes on: made again when its folder is gone (`isNew`), refused when its branch is. */
async function reopenWorktree(
  prepared: Prepared,
  state: State,
): Promise<{ readonly notices: readonly string[]; readonly isNew: boolean }> {
  const { repository } = prepared.repositoryInfo;
  const { id: loop, name, branch } = state.loop;
  if (branch === undefined) return { notices: [], isNew: false };
  const over = 'or start over: the same command with --new';
  if (repository === undefined)
    throw new UsageError(`Loop ${name} works on the branch ${branch} of a repository, and this folder is in none.`);
  const { revision } = await import('../../git/objects.ts');
  if ((await revision(repository, `refs/heads/${branch}^{commit}`)) === '')
    throw new UsageError(
      `The branch ${branch} on which loop ${name} works is gone.`,
      `Make it again where its work is (git branch ${branch} COMMIT), ${over}`,
    );
  const path = worktreeOf(prepared.home, loop);
  if (existsSync(join(path, '.git'))) return { notices: [], isNew: false };
  const aside = await setAsideFolder(path);
  const made = await makeLoopWorktree(prepared, state.loop, branch);
  mkdirSync(state.loop.directory, { recursive: true });
  const { latest } = state.checkpoints;
  const from = latest === undefined ? `its branch ${branch}` : `its branch ${branch} and checkpoint ${latest.number}`;
  const left = aside === undefined ? [] : [`What was left in its folder is in ${aside}.`];
  const gone = `The worktree of loop ${name} was gone: made again from ${from}.`;
  return { notices: [gone, ...left, ...made.notices], isNew: true };
}

/** A folder that is no worktree any more may hold work. Where it is now, when there was one. */
async function setAsideFolder(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  const aside = `${path}.aside-${Date.now()}`;
  await rename(path, aside);
  return aside;
}
