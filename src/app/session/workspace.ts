// Workspace of a loop: all of it that depends on where it works (git, agents, checks, judge, protected files).

import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import type { Check, Judge } from '../../checks/check.ts';
import { fingerprintOf, nothingChanged, screenWork } from '../../checks/tamper/screen.ts';
import { isTestConfiguration, mayHoldTests } from '../../checks/tamper/source-files.ts';
import type { ChangedFile } from '../../checks/tamper/weakening.ts';
import { describeFindings } from '../../core/decide/proof.ts';
import type { Doubt, Finding } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Span } from '../../git/checkpoints.ts';
import type { GitCheckpoints } from '../../git/git-checkpoints.ts';
import type { Refusal } from '../../git/refusal.ts';
import type { GitForks } from '../../git/worktrees/merge-fork.ts';
import { makeRedactor, secretValues } from '../../secrets/redactor.ts';
import { type AgentNeeds, buildPerformers, type PerformerSet, withoutProvided } from '../agents/performers.ts';
import { environmentOf, processLimits } from '../agents/process-limits.ts';
import { loopFolder } from '../app.ts';
import { buildChecks, buildJudge } from '../checks.ts';
import { protectedFolder } from '../protected-files.ts';
import type { Prepared } from './prepare.ts';
import { forksOf, type LoopGit, openGit, type PlaceNeeds, refusalError } from './repository.ts';

/** Where a loop works, and by which hash the copies of its protected files prove themselves. */
export interface WorkspacePlace extends Pick<PlaceNeeds, 'loop' | 'directory' | 'branch' | 'forked'> {
  readonly protectedHash?: string | undefined;
}

export interface LoopWorkspace extends WorkspacePlace {
  readonly performers: PerformerSet;
  readonly checks: readonly Check[];
  /** How the checks came out before any work. */
  readonly baseline?: readonly { readonly check: string; readonly passed: boolean }[];
  readonly engine: Pick<Engine, keyof LoopGit | 'guard' | 'screen' | 'judge'>;
  /** Runs something where the work happens, but so that nothing of it is left in the tree of a parallel loop. */
  tryOut<Result>(work: (directory: string) => Promise<Result>): Promise<Result>;
  /** Takes back what was made, when the loop does not begin after all. */
  discard(): Promise<void>;
}

export const neverStopped: AbortSignal = new AbortController().signal;

/** Agents and checks see the folder of the loop, also where it lies in our own home. */
export async function openWorkspace(
  prepared: Prepared,
  place: WorkspacePlace,
  stop: AbortSignal = neverStopped,
): Promise<LoopWorkspace> {
  const { home, env, run, directory, path, provided, performers, checks } = prepared;
  const { config } = run;
  const workplaces = place.forked ? [forksOf(home, place.loop)] : [];
  const readOnly = prepared.modeSession.readOnly?.(prepared, config) ?? [];
  // What a program brings along cannot be made anew for another folder.
  const settings = withoutProvided(run.settings, provided.performers);
  const needs = { config, settings, directory: place.directory, home, env, workplaces, readOnly };
  const setup = place.forked ? config.worktreeSetup : undefined;
  const ready = setup === undefined ? undefined : (fork: string) => setupProblem(needs, fork, setup, stop);
  const git = await openGit({ ...place, home, env, document: path, config, ready });
  const made = place.directory === directory ? undefined : await buildPerformers(needs);
  return {
    ...place,
    // Actions do not depend on where agents work.
    performers: {
      byName: { ...performers.byName, ...made?.byName },
      facts: { ...performers.facts, ...made?.facts },
    },
    checks: made === undefined ? checks : [...(await buildChecks(needs)), ...provided.checks],
    engine: await engineParts(prepared, place, needs, git),
    tryOut: work => (git?.forks === undefined ? work(place.directory) : inTemporaryFork(git.forks, work)),
    discard: async () => {},
  };
}

async function engineParts(
  { home, env, run, repositoryInfo, directory }: Prepared,
  { loop, directory: folder, protectedHash }: WorkspacePlace,
  needs: AgentNeeds,
  git: LoopGit | undefined,
): Promise<LoopWorkspace['engine']> {
  const { fileGuard } = await import('../../checks/protected-files.ts');
  const copies = protectedFolder(loopFolder(home, loop), protectedHash);
  // A judge does not work in forks.
  const judge = await buildJudge({ ...needs, workplaces: [], redact: makeRedactor(secretValues(env)) });
  const top = repositoryInfo.repository?.directory ?? folder;
  const history = run.settings.checkpoints ? git : undefined;
  return {
    ...history,
    screen: history && screenOf(history.checkpoints, top, relative(top, directory)),
    guard: protectedHash === undefined ? undefined : fileGuard(copies, protectedHash),
    judge: judge && judgeOf(judge.judge, history?.checkpoints, loop),
  };
}

const beforeWork = 'checks before the first iteration';

async function inTemporaryFork<Result>(forks: GitForks, work: (directory: string) => Promise<Result>): Promise<Result> {
  try {
    const made = await forks.fork(beforeWork);
    if (!made.ok) throw refusalError(made);
    return await work(forks.directory(beforeWork));
  } finally {
    await forks.discard(beforeWork);
  }
}

type SetupNeeds = Parameters<typeof processLimits>[0] & Parameters<typeof environmentOf>[0];

/** Runs the set-up of a worktree; undefined when it passed. */
export async function setupProblem(
  needs: SetupNeeds,
  directory: string,
  command: string,
  stop: AbortSignal,
): Promise<Refusal | undefined> {
  const { commandCheck } = await import('../../checks/command.ts');
  const timeMsMax = 30 * 60_000;
  const check = commandCheck({ command, environment: environmentOf(needs), timeMsMax, ...processLimits(needs) });
  const done = await check.run(directory, stop);
  if (done.passed) return undefined;
  const problem = `The worktree could not be made ready: ${command} failed.`;
  return { ok: false, problem, fix: done.detail.slice(-1_000) };
}

// The proof behind "done": protected files, the tamper screen, the judge.

const fileBytesMax = 2_000_000;
const filesMax = 2_000;

const isText = (bytes: Buffer): boolean => bytes.length <= fileBytesMax && !bytes.includes(0);
const textOf = (bytes: Buffer | undefined): string | undefined =>
  bytes && (isText(bytes) ? bytes.toString('utf8') : '');

/** A file that cannot be read any more may hide what became of its tests. */
async function filesOf(
  checkpoints: GitCheckpoints,
  { from, to }: Span,
  paths: readonly string[],
): Promise<ChangedFile[]> {
  const contents = async (tree: string): Promise<ReadonlyMap<string, Buffer>> =>
    new Map((await checkpoints.content(tree, paths)).map(({ path, bytes }) => [path, bytes]));
  const [before, after] = [await contents(from), await contents(to)];
  return paths.flatMap(path => {
    const [old, now] = [before.get(path), after.get(path)];
    if (old !== undefined && now?.equals(old)) return []; // changed, and put back since
    const isOpaque = now !== undefined && !isText(now) ? (true as const) : undefined;
    return { path, before: textOf(old), after: textOf(now), isOpaque };
  });
}

/** Only what decides about the proof is read: junk beside it must not hide it. */
const matters = (path: string, checks: readonly string[]): boolean =>
  mayHoldTests(path) ||
  isTestConfiguration(path) ||
  checks.some(check => check.includes(path.split('/').at(-1) ?? path));

/** Exactly this content is what a person may accept, not the next change of its kind. */
function doubtOf(finding: Finding, files: readonly ChangedFile[] = []): Doubt {
  const after = files.find(({ path }) => path === finding.path)?.after ?? '';
  const content = createHash('sha256').update(after).digest('hex').slice(0, 16);
  return { ...finding, fingerprint: `${fingerprintOf(finding)} ${content}` };
}

/** Ralph's own writing is nobody's work: the document, its instructions, the closing note. */
function isOurs(path: string, document: string): boolean {
  const name = path.split('/').at(-1) ?? '';
  return path === document || name === 'done.md' || path.startsWith('.ralph/');
}

/** `inside`: the folder of the work, relative to the top of the tree. */
function screenOf(checkpoints: GitCheckpoints, top: string, inside: string): NonNullable<Engine['screen']> {
  return async (spans, now, task, state: State) => {
    const { checks, policy } = state.settings;
    const document = policy.restoreKeepsDocument ? relative(top, state.loop.document) : '';
    const changes = (await checkpoints.changes(spans)).filter(one => !isOurs(one.path, document));
    // An issue may have been mended together with another one, and the next round looks again.
    if (changes.length === 0 && policy.achievedBy === 'rounds') return [];
    if (changes.length === 0) return [doubtOf({ ...nothingChanged, detail: `no file was changed for ${task}` })];
    const last = spans.at(-1)?.to ?? '';
    const whole = { from: spans[0]?.from ?? '', to: now || last };
    const later = now === '' ? [] : await checkpoints.changes([{ from: last, to: now }]);
    const all = [...new Set([...changes, ...later].map(one => one.path))];
    const paths = all.filter(path => !isOurs(path, document) && matters(path, checks));
    if (paths.length > filesMax) return [doubtOf(tooMany(paths.length))];
    const files = await filesOf(checkpoints, whole, paths);
    return screenWork({ files, checks, folder: inside || undefined }).map(one => doubtOf(one, files));
  };
}

const tooMany = (count: number): Finding => ({
  kind: 'fewer-tests',
  path: '',
  detail: `${count} files of tests and their settings were changed, too many to compare`,
  severity: 'refuse',
});

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
