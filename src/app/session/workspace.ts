// Workspace of a loop: all of it that depends on where it works (git, agents, checks, judge, protected files).

import { relative } from 'node:path';
import type { Check, CheckResult, Judge } from '../../checks/check.ts';
import { testsBrought, workScreen } from '../../checks/work-screen.ts';
import { describeFindings } from '../../core/decide/proof.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Span } from '../../git/checkpoints.ts';
import type { GitCheckpoints } from '../../git/git-checkpoints.ts';
import type { Refusal } from '../../git/refusal.ts';
import type { GitForks } from '../../git/worktrees/merge-fork.ts';
import { makeRedactor, secretValues } from '../../secrets/redactor.ts';
import { buildPerformers } from '../agents/performers.ts';
import { checkEnvironmentOf, processLimits } from '../agents/process-limits.ts';
import { loopFolder } from '../app.ts';
import { buildChecks, buildJudge } from '../checks.ts';
import { protectedFolder } from '../protected-files.ts';
import type { Prepared } from './prepare.ts';
import { forksOf, type LoopGit, openGit, refusalError } from './repository.ts';

/** Where a loop works, and all of it that depends on that. */
export interface Workspace {
  readonly loop: string;
  readonly directory: string;
  /** Of a worktree of its own. */
  readonly branch?: string | undefined;
  /** By which the copies of its protected files prove themselves. */
  readonly protectedHash?: string | undefined;
  readonly performers: Prepared['performers'];
  readonly checks: readonly Check[];
  /** How the checks of a new loop came out before any work. */
  readonly baseline?: readonly CheckResult[];
  readonly engine: Pick<Engine, keyof LoopGit | 'guard' | 'screen' | 'bringsTests' | 'judge'>;
  /** Takes back what was made, when the loop does not begin after all. */
  discard(): Promise<void>;
}

export type WorkspacePlace = Pick<Workspace, 'loop' | 'directory' | 'branch' | 'protectedHash'>;

export const neverStopped: AbortSignal = new AbortController().signal;

/** Agents and checks see the folder of the loop, also where it lies in our own home. */
export async function openWorkspace(
  prepared: Prepared,
  place: WorkspacePlace,
  stop: AbortSignal = neverStopped,
): Promise<Workspace & { readonly forks: GitForks | undefined }> {
  const { home, env, config, settings, repositoryInfo } = prepared;
  const { loop, directory, protectedHash } = place;
  const forked = settings.worktreePerTask;
  const needs = { ...prepared, directory, workplaces: forked ? [forksOf(home, loop)] : [] };
  const setup = forked ? config.worktreeSetup : undefined;
  const ready = setup === undefined ? undefined : (fork: string) => setupProblem(needs, fork, setup, stop);
  const git = await openGit({ ...needs, ...place, ready, seen: prepared });
  const isElsewhere = directory !== prepared.directory;
  const { fileGuard } = await import('../../checks/protected-files.ts');
  const copies = protectedFolder(loopFolder(home, loop), protectedHash);
  // A judge does not work in forks.
  const redact = makeRedactor(secretValues(env));
  const judge = config.judge === undefined ? undefined : await buildJudge({ ...needs, workplaces: [], redact });
  const top = repositoryInfo.repository?.directory ?? directory;
  const history = settings.checkpoints ? git : undefined;
  history?.checkpoints.warm();
  return {
    ...place,
    forks: git?.forks,
    // Actions do not depend on where agents work.
    performers: isElsewhere ? { ...prepared.performers, ...(await buildPerformers(needs)) } : prepared.performers,
    checks: isElsewhere ? await buildChecks(needs) : prepared.checks,
    engine: {
      ...history,
      screen: history && workScreen(history.checkpoints, top, relative(top, prepared.directory)),
      bringsTests: history && testsBrought(history.checkpoints),
      guard: protectedHash === undefined ? undefined : fileGuard(copies, protectedHash),
      judge: judge && judgeOf(judge, history?.checkpoints, loop),
    },
    discard: async () => {},
  };
}

const beforeWork = 'checks before the first iteration';

/** Something where the work happens, but so that nothing of it is left in the tree of a parallel loop. */
export async function inTemporaryFork<Result>(
  forks: GitForks,
  work: (directory: string) => Promise<Result>,
): Promise<Result> {
  try {
    const made = await forks.fork(beforeWork);
    if (!made.ok) throw refusalError(made);
    return await work(forks.directory(beforeWork));
  } finally {
    await forks.discard(beforeWork);
  }
}

type SetupNeeds = Parameters<typeof processLimits>[0] & Parameters<typeof checkEnvironmentOf>[0];

/** Runs the set-up of a worktree; undefined when it passed. */
export async function setupProblem(
  needs: SetupNeeds,
  directory: string,
  command: string,
  stop: AbortSignal,
): Promise<Refusal | undefined> {
  const { commandCheck } = await import('../../checks/command.ts');
  const timeMsMax = 30 * 60_000;
  const check = commandCheck({ command, ...checkEnvironmentOf(needs), timeMsMax, ...processLimits(needs) });
  const done = await check.run(directory, stop);
  if (done.passed) return undefined;
  const problem = `The worktree could not be made ready: ${command} failed.`;
  return { ok: false, problem, fix: done.detail.slice(-1_000) };
}

// The judge behind "done".

const patchBytesMax = 400_000;

async function patchText(checkpoints: GitCheckpoints, span: Span): Promise<string> {
  const { text, isCut } = await checkpoints.patch(span, patchBytesMax);
  return isCut ? `${text}\n[The rest of the diff is left out: it is longer than ${patchBytesMax} bytes.]\n` : text;
}

function judgeOf(judge: Judge, checkpoints: GitCheckpoints | undefined, loop: string): NonNullable<Engine['judge']> {
  return async ({ task, iteration, spans, outcomes, doubts }, stop) => {
    const [from, to] = [spans[0]?.from, spans.at(-1)?.to];
    const isKnown = checkpoints !== undefined && from !== undefined && to !== undefined;
    const diff = isKnown ? await patchText(checkpoints, { from, to }) : 'Not known: this folder keeps no history.';
    return judge.judge(
      {
        loop,
        iteration,
        task: task.id,
        title: task.spec.title,
        criteria: task.spec.criteria,
        diff,
        outcomes,
        findings: doubts.length === 0 ? undefined : describeFindings(doubts),
      },
      stop,
    );
  };
}
