// Everything of a loop that depends on where it works: workspace, agents, checks, judge, protected files.
import { join, relative } from 'node:path';
import type { RunConfig } from '../config/run-config.ts';
import { UsageError } from '../core/errors.ts';
import { makeRedactor } from '../core/redact.ts';
import { secretValues } from '../core/redact-environment.ts';
import type { State } from '../core/state.ts';
import type { Engine } from '../engine/engine.ts';
import type { Check } from '../ports/check.ts';
import type { GitWorkspace } from '../workspaces/git.ts';
import { boundsOf, environmentOf } from './bounds.ts';
import { buildChecks, buildJudge, filesToProtect } from './checks.ts';
import { buildPerformers, type Staff } from './performers.ts';
import { forksOf, type Ground, makeOwnTree, openGit, worktreeOf } from './place.ts';
import { guardOf, judgeOf, screenOf } from './proof.ts';

/** What `ralph run` found out before it wrote anything. */
export interface Basis {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly path: string;
  readonly run: RunConfig;
  readonly staff: Staff;
  readonly checks: readonly Check[];
  readonly ground: Ground;
}

export interface Placed {
  readonly directory: string;
  readonly branch?: string;
  readonly staff: Staff;
  readonly checks: readonly Check[];
  readonly protectedHash?: string;
  readonly engine: Pick<Engine, 'workspace' | 'guard' | 'screen' | 'judge'>;
  /** Takes back what was made, when the loop does not begin after all. */
  leave(): Promise<void>;
}

interface Spot {
  readonly loop: string;
  readonly directory: string;
  readonly branch?: string | undefined;
  readonly protectedHash?: string | undefined;
  readonly forked: boolean;
}

async function engineParts(basis: Basis, spot: Spot, git: GitWorkspace | undefined): Promise<Placed['engine']> {
  const { home, env, run, ground } = basis;
  const { fileGuard } = await import('../checks/protect.ts');
  const { plainWorkspace } = await import('../workspaces/plain.ts');
  const guard = guardOf(fileGuard(join(home, 'loops', spot.loop, 'protected')), spot.protectedHash);
  const needs = { config: run.config, settings: run.settings, directory: spot.directory, home, env };
  const judge = await buildJudge({ ...needs, redact: makeRedactor(secretValues(env)) });
  const top = ground.repository?.directory ?? spot.directory;
  const inside = relative(top, basis.directory);
  const isKept = git !== undefined && run.settings.checkpoints;
  return {
    ...(isKept
      ? { workspace: git, screen: screenOf(git, top, inside) }
      : { workspace: plainWorkspace(spot.directory) }),
    ...(guard === undefined ? {} : { guard }),
    ...(judge === undefined ? {} : { judge: judgeOf(judge.judge, isKept ? git : undefined, spot.loop) }),
  };
}

/** Agents and checks see the folder of the loop, also where it lies in our own home. */
async function built(basis: Basis, spot: Spot): Promise<Placed> {
  const { home, env, run, directory, path } = basis;
  const { config, settings } = run;
  const isElsewhere = spot.directory !== directory;
  const workplaces = spot.forked ? [forksOf(home, spot.loop)] : [];
  const needs = { config, settings, directory: spot.directory, home, env, workplaces };
  const git = await openGit({ ...spot, home, env, document: path, config });
  return {
    directory: spot.directory,
    ...(spot.branch === undefined ? {} : { branch: spot.branch }),
    staff: isElsewhere ? await buildPerformers(needs) : basis.staff,
    checks: isElsewhere ? await buildChecks(needs) : basis.checks,
    ...(spot.protectedHash === undefined ? {} : { protectedHash: spot.protectedHash }),
    engine: await engineParts(basis, spot, git),
    leave: async () => {},
  };
}

export async function buildPlaced(basis: Basis, { loop, state }: { loop: string; state: State }): Promise<Placed> {
  const { directory, branch, protectedHash, settings } = state;
  return built(basis, { loop, directory, branch, protectedHash, forked: settings.forked });
}

interface NewLoop {
  readonly loop: string;
  readonly name: string;
  readonly folder: string;
  /** Whether the ledger knows a loop of this id. */
  readonly isLoop: (id: string) => boolean;
}

/** For a new loop: makes its worktree ready and keeps the files that prove the work. */
export async function setUp(basis: Basis, order: NewLoop, say: (line: string) => void): Promise<Placed> {
  const { home, run, ground, directory } = basis;
  const { config, settings } = run;
  const { loop, name, folder } = order;
  const isOwn = config.worktree || settings.forked;
  if (isOwn && ground.repository !== undefined) {
    const { sweepWorktrees } = await import('../workspaces/git/sweep.ts');
    await sweepWorktrees(ground.repository, join(home, 'worktrees'), order.isLoop, Date.now());
  }
  const own = isOwn
    ? await makeOwnTree(ground, { home, loop, name, directory, needed: config.worktreeCopy })
    : undefined;
  for (const notice of own?.notices ?? []) say(`note: ${notice}`);
  const place = own?.directory ?? directory;
  const leave = async (): Promise<void> => {
    if (own === undefined || ground.repository === undefined) return;
    const { abandonWorktree } = await import('../workspaces/git/abandon.ts');
    await abandonWorktree(ground.repository, worktreeOf(home, loop), own.branch);
  };
  try {
    if (own !== undefined && config.worktreeSetup !== undefined) await ready(basis, place, config.worktreeSetup, say);
    const { protectFiles } = await import('../checks/protect.ts');
    const files = filesToProtect(config);
    const kept = await protectFiles({ directory: place, folder: join(folder, 'protected'), ...files });
    if (!kept.ok) throw new UsageError(`${kept.problem}.`, 'Check --protect and the files that --verify names.');
    const spot = { loop, directory: place, branch: own?.branch, protectedHash: kept.hash, forked: settings.forked };
    return { ...(await built(basis, spot)), leave };
  } catch (error) {
    await leave();
    throw error;
  }
}

async function ready(basis: Basis, directory: string, command: string, say: (line: string) => void): Promise<void> {
  const { run, home, env } = basis;
  const { commandCheck } = await import('../checks/command.ts');
  const needs = { config: run.config, directory, home, env };
  say(`Making the worktree ready: ${command}`);
  const timeMsMax = 30 * 60_000;
  const check = commandCheck({ command, environment: environmentOf(needs), timeMsMax, ...boundsOf(needs) });
  const done = await check.run(directory, new AbortController().signal);
  if (done.passed) return;
  throw new UsageError(`The worktree could not be made ready: ${command} failed.`, done.detail.slice(-1_000));
}
