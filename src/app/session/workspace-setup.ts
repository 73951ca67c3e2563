// Sets up the workspace of a loop: its own worktree if it has one, its proof protected, its checks run once before any work.

import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { CheckResult } from '../../checks/check.ts';
import type { State } from '../../core/state.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { makeRedactor, redactDeep, secretValues } from '../../secrets/redactor.ts';
import { UsageError } from '../../text/errors.ts';
import { ledgerEvents, loopFolder } from '../app.ts';
import { filesToProtect, redStart } from '../checks.ts';
import { refreshProtection, unprotectable } from '../protected-files.ts';
import type { Prepared } from './prepare.ts';
import { checkpointsOf, forksOf, refusalError, worktreeOf } from './repository.ts';
import type { Chosen } from './resume-rules.ts';
import { type LoopWorkspace, neverStopped, openWorkspace, setupProblem } from './workspace.ts';

export interface CreateNeeds {
  readonly say: (line: string) => void;
  readonly announce: (line: string) => void;
  readonly stop: AbortSignal;
  /** Whether the ledger knows a loop of this id. */
  readonly isLoop: (id: string) => boolean;
}

export interface Created {
  readonly workspace: LoopWorkspace;
  /** Checks that fail before any work was done; the caller says whether it begins all the same. */
  readonly red: readonly CheckResult[];
}

/** For a new loop. Undefined: it was stopped, and what was made is gone. */
export async function createWorkspace(
  prepared: Prepared,
  chosen: Chosen,
  needs: CreateNeeds,
): Promise<Created | undefined> {
  const { announce, stop } = needs;
  const redact = makeRedactor(secretValues(prepared.env));
  let workspace: LoopWorkspace | undefined;
  let ran: readonly CheckResult[] = [];
  try {
    workspace = await setUp(prepared, chosen, needs);
    const { checks } = workspace;
    if (checks.length > 0 && !stop.aborted) {
      announce(`Running the checks once, before any work: ${redact(checks.map(one => one.name).join(' ; '))} ...`);
      ran = await workspace.tryOut(directory => redStart(checks, directory, stop));
    }
  } catch (error) {
    await workspace?.discard();
    if (stop.aborted) return undefined;
    throw error;
  }
  if (stop.aborted) {
    await workspace.discard();
    return undefined;
  }
  if (workspace.checks.length === 0) return { workspace, red: [] };
  const outcomes = redactDeep(ran, redact);
  const baseline = outcomes.map(({ name: check, passed }) => ({ check, passed }));
  return { workspace: { ...workspace, baseline }, red: outcomes.filter(one => !one.passed) };
}

export function redRefusal(red: readonly CheckResult[]): UsageError {
  return new UsageError(
    `${red.length === 1 ? 'A check fails' : `${red.length} checks fail`} before any work was done: ${red.map(one => one.name).join(' ; ')}.`,
    'Mend it, or say --allow-red-start when the work is meant to turn it green.',
  );
}

/** Makes the worktree of a new loop ready and copies the files that prove the work. */
async function setUp(prepared: Prepared, chosen: Chosen, { say, stop, isLoop }: CreateNeeds): Promise<LoopWorkspace> {
  const { home, run, repositoryInfo, directory } = prepared;
  const { config, settings } = run;
  const { repository } = repositoryInfo;
  const { loop } = chosen;
  const { worktreePerTask: forked } = settings;
  const folder = loopFolder(home, loop);
  const isOwn = config.worktree || forked;
  if (isOwn && repository !== undefined) {
    const { removeStaleWorktrees } = await import('../../git/worktrees/worktree.ts');
    await removeStaleWorktrees(repository, join(home, 'worktrees'), isLoop, Date.now());
  }
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
    const kept = await protectFiles({
      directory: folderOfWork,
      folder: join(folder, 'protected'),
      ...filesToProtect(config),
    });
    if (!kept.ok) throw unprotectable(kept.problem);
    const place = { loop, directory: folderOfWork, branch: own?.branch, protectedHash: kept.hash, forked };
    return { ...(await openWorkspace(prepared, place, stop)), discard };
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
): Promise<LoopWorkspace> {
  const { home, env, run } = prepared;
  const { id: loop, directory, branch } = state.loop;
  const { worktreePerTask: forked } = state.settings;
  const tree = await reopenWorktree(prepared, state);
  for (const notice of tree.notices) say(`note: ${notice}`);
  if (tree.isNew && !forked) await setUpWorktree(prepared, directory, say, neverStopped);
  const checkpoints = await checkpointsOf(home, env, state, run.config);
  const worked = () => lastWorkAt(ledger, loop);
  const protection = await refreshProtection(prepared, { state, checkpoints, lastWorkAt: worked });
  for (const notice of protection.notices) say(`note: ${notice}`);
  return openWorkspace(prepared, { loop, directory, branch, protectedHash: protection.hash, forked });
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
  { run: { config }, home, env }: Prepared,
  directory: string,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<void> {
  if (config.worktreeSetup === undefined) return;
  say(`Making the worktree ready: ${config.worktreeSetup}`);
  const refusal = await setupProblem({ config, directory, home, env }, directory, config.worktreeSetup, stop);
  if (refusal !== undefined) throw refusalError(refusal);
}

interface OwnTree {
  readonly directory: string;
  readonly branch: string;
  readonly notices: readonly string[];
}

/** Makes the loop's own worktree on a branch `ralph/NAME`, or takes it up again. */
async function makeLoopWorktree(prepared: Prepared, { loop, name }: Pick<Chosen, 'loop' | 'name'>): Promise<OwnTree> {
  const { home, repositoryInfo, directory, run } = prepared;
  const { repository } = repositoryInfo;
  if (repository === undefined) throw new UsageError('A worktree needs a git repository.', 'git init');
  const { makeWorktree } = await import('../../git/worktrees/worktree.ts');
  mkdirSync(join(home, 'worktrees'), { recursive: true, mode: 0o700 });
  const order = { path: worktreeOf(home, loop), branch: `ralph/${name}`, untracked: run.config.worktreeCopy };
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
  const { revision } = await import('../../git/call.ts');
  if ((await revision(repository, `refs/heads/${branch}^{commit}`)) === '')
    throw new UsageError(
      `The branch ${branch} on which loop ${name} works is gone.`,
      `Make it again where its work is (git branch ${branch} COMMIT), ${over}`,
    );
  const path = worktreeOf(prepared.home, loop);
  if (existsSync(path)) return { notices: [], isNew: false };
  const gone = `The worktree of loop ${name} was gone`;
  if (!existsSync(`${path}.json`))
    throw new UsageError(`${gone}.`, `Make it again: git worktree add ${path} ${branch}, ${over}`);
  const made = await makeLoopWorktree(prepared, { loop, name });
  mkdirSync(state.loop.directory, { recursive: true });
  const kept =
    state.checkpoints.latest === undefined ? '' : ` What was not committed is in ralph checkpoint list ${name}.`;
  return { notices: [`${gone}: laid out again from its branch ${branch}.${kept}`, ...made.notices], isNew: true };
}
