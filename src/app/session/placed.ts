// Everything of a loop that depends on where it works: workspace, agents, checks, judge, protected files.

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Check, Judge } from '../../checks/check.ts';
import type { Guard } from '../../checks/protected-files.ts';
import { fingerprintOf, nothingChanged, screenWork } from '../../checks/tamper/screen.ts';
import { isTestConfiguration, mayHoldTests } from '../../checks/tamper/test-files.ts';
import type { ChangedFile } from '../../checks/tamper/weakening.ts';
import type { RunConfig } from '../../config/resolve.ts';
import { describeFindings } from '../../core/decide/findings.ts';
import { type Doubt, type Finding, keptDocuments } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import type { Engine } from '../../engine/engine.ts';
import type { GitWorkspace } from '../../git/git.ts';
import type { Refusal, Span } from '../../git/workspace.ts';
import { makeRedactor, secretValues } from '../../secrets/redactor.ts';
import { UsageError } from '../../text/errors.ts';
import { readOnlyForPlan } from '../actions.ts';
import { buildPerformers, type PerformerSet } from '../agents/performers.ts';
import { environmentOf, processLimits } from '../agents/process-limits.ts';
import { buildChecks, buildJudge, filesToProtect } from '../checks.ts';
import { protectedFolder, protectedHashOf, refreshProtection } from '../protected-files.ts';
import { takeUpTree } from './begin.ts';
import { forksOf, type Ground, makeOwnTree, type OwnGit, openGit, refusalError, worktreeOf } from './place.ts';

/** What `ralph run` found out before it wrote anything. */
export interface Basis {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly path: string;
  readonly run: RunConfig;
  readonly performers: PerformerSet;
  readonly checks: readonly Check[];
  readonly ground: Ground;
}

export interface Placed {
  readonly directory: string;
  readonly branch?: string;
  readonly performers: PerformerSet;
  readonly checks: readonly Check[];
  readonly protectedHash?: string;
  readonly engine: Pick<Engine, 'workspace' | 'guard' | 'screen' | 'judge'>;
  /** Runs something where the work happens, but so that nothing of it is left in the tree of a parallel loop. */
  tryOut<Result>(work: (directory: string) => Promise<Result>): Promise<Result>;
  /** Takes back what was made, when the loop does not begin after all. */
  leave(): Promise<void>;
}

const neverStopped = new AbortController().signal;

interface Spot {
  readonly loop: string;
  readonly directory: string;
  readonly branch?: string | undefined;
  readonly protectedHash?: string | undefined;
  readonly forked: boolean;
}

async function engineParts(basis: Basis, spot: Spot, git: GitWorkspace | undefined): Promise<Placed['engine']> {
  const { home, env, run, ground } = basis;
  const { fileGuard } = await import('../../checks/protected-files.ts');
  const { plainWorkspace } = await import('../../git/git.ts');
  const guard = guardOf(
    fileGuard(protectedFolder(join(home, 'loops', spot.loop), spot.protectedHash)),
    spot.protectedHash,
  );
  const needs = { config: run.config, settings: run.settings, directory: spot.directory, home, env };
  const judge = await buildJudge({ ...needs, redact: makeRedactor(secretValues(env)) });
  const top = ground.repository?.directory ?? spot.directory;
  const inside = relative(top, basis.directory);
  const isKept = git !== undefined && run.settings.checkpoints;
  return {
    workspace: isKept ? git : plainWorkspace(spot.directory),
    screen: isKept ? screenOf(git, top, inside) : undefined,
    guard,
    judge: judge === undefined ? undefined : judgeOf(judge.judge, isKept ? git : undefined, spot.loop),
  };
}

const withOthers = (staff: PerformerSet, { byName: performers }: PerformerSet): PerformerSet => ({
  ...staff,
  byName: { ...performers, ...staff.byName },
});

/** Agents and checks see the folder of the loop, also where it lies in our own home. */
async function built(basis: Basis, spot: Spot, stop: AbortSignal = neverStopped): Promise<Placed> {
  const { home, env, run, directory, path } = basis;
  const { config, settings } = run;
  const isElsewhere = spot.directory !== directory;
  const workplaces = spot.forked ? [forksOf(home, spot.loop)] : [];
  const readOnly = settings.mode === 'plan' ? readOnlyForPlan(config, directory, path) : [];
  const needs = { config, settings, directory: spot.directory, home, env, workplaces, readOnly };
  const { worktreeSetup } = config;
  const ready =
    spot.forked && worktreeSetup !== undefined
      ? (fork: string) => unready(needs, fork, worktreeSetup, stop)
      : undefined;
  const git = await openGit({ ...spot, home, env, document: path, config, ready });
  return {
    directory: spot.directory,
    branch: spot.branch,
    // Actions do not depend on where agents work.
    performers: isElsewhere ? withOthers(await buildPerformers(needs), basis.performers) : basis.performers,
    checks: isElsewhere ? await buildChecks(needs) : basis.checks,
    protectedHash: spot.protectedHash,
    engine: await engineParts(basis, spot, git),
    tryOut: work => (spot.forked && git !== undefined ? inThrowaway(git, work) : work(spot.directory)),
    leave: async () => {},
  };
}

const trial = 'checks before the first iteration';

async function inThrowaway<Result>(git: OwnGit, work: (directory: string) => Promise<Result>): Promise<Result> {
  try {
    const made = await git.fork(trial);
    if (!made.ok) throw refusalError(made);
    return await work(git.directory(trial));
  } finally {
    await git.drop(trial);
  }
}

interface KnownLoop {
  readonly loop: string;
  readonly state: State;
  /** When an agent or a check last did anything, by the ledger. */
  readonly lastWorkAt: () => Promise<number>;
}

/** A loop that goes on: where its ledger says. */
export async function buildPlaced(
  basis: Basis,
  { loop, state, lastWorkAt }: KnownLoop,
  say: (line: string) => void,
): Promise<Placed> {
  const { home, env, run, ground, path } = basis;
  const { config } = run;
  const { directory, branch, settings } = state;
  const tree = await takeUpTree(ground, { home, directory: basis.directory, needed: config.worktreeCopy, state });
  for (const notice of tree.notices) say(`note: ${notice}`);
  const { worktreePerTask } = settings;
  if (tree.isNew && !worktreePerTask && config.worktreeSetup !== undefined)
    await ready(basis, directory, config.worktreeSetup, say, neverStopped);
  const git = await openGit({ home, env, loop, directory, document: path, config, branch, forked: worktreePerTask });
  const protection = await refreshProtection({
    config,
    checks: run.settings.checks,
    isNamed: run.isSet('protect'),
    state,
    folder: join(home, 'loops', loop),
    git,
    inside: relative(ground.repository?.directory ?? basis.directory, basis.directory),
    lastWorkAt,
  });
  for (const notice of protection.notices) say(`note: ${notice}`);
  return built(basis, { loop, directory, branch, protectedHash: protection.hash, forked: worktreePerTask });
}

/** What a loop's settings must learn. */
export const isProtectedAnew = (state: State, { protectedHash }: Placed): boolean =>
  protectedHash !== undefined && protectedHash !== protectedHashOf(state);

interface NewLoop {
  readonly loop: string;
  readonly name: string;
  readonly folder: string;
  /** Whether the ledger knows a loop of this id. */
  readonly isLoop: (id: string) => boolean;
}

/** For a new loop: makes its worktree ready and keeps the files that prove the work. */
export async function setUp(
  basis: Basis,
  order: NewLoop,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<Placed> {
  const { home, run, ground, directory } = basis;
  const { config, settings } = run;
  const { loop, name, folder } = order;
  const isOwn = config.worktree || settings.worktreePerTask;
  if (isOwn && ground.repository !== undefined) {
    const { sweepWorktrees } = await import('../../git/worktree.ts');
    await sweepWorktrees(ground.repository, join(home, 'worktrees'), order.isLoop, Date.now());
  }
  const own = isOwn
    ? await makeOwnTree(ground, { home, loop, name, directory, needed: config.worktreeCopy })
    : undefined;
  for (const notice of own?.notices ?? []) say(`note: ${notice}`);
  const place = own?.directory ?? directory;
  const leave = async (): Promise<void> => {
    if (own !== undefined && ground.repository !== undefined) {
      const { abandonWorktree } = await import('../../git/worktree.ts');
      const { dropTree } = await import('../../git/worktree.ts');
      await dropTree(ground.repository, worktreeOf(home, loop)); // only the set-up and the checks wrote there
      await abandonWorktree(ground.repository, worktreeOf(home, loop), own.branch);
      await rm(forksOf(home, loop), { recursive: true, force: true });
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    if (own !== undefined && config.worktreeSetup !== undefined && !settings.worktreePerTask)
      await ready(basis, place, config.worktreeSetup, say, stop);
    const { protectFiles } = await import('../../checks/protected-files.ts');
    const files = filesToProtect(config);
    const kept = await protectFiles({ directory: place, folder: join(folder, 'protected'), ...files });
    if (!kept.ok) throw new UsageError(`${kept.problem}.`, 'Check --protect and the files that --verify names.');
    const spot = {
      loop,
      directory: place,
      branch: own?.branch,
      protectedHash: kept.hash,
      forked: settings.worktreePerTask,
    };
    return { ...(await built(basis, spot, stop)), leave };
  } catch (error) {
    await leave();
    throw error;
  }
}

async function ready(
  { run, home, env }: Basis,
  directory: string,
  command: string,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<void> {
  say(`Making the worktree ready: ${command}`);
  const refusal = await unready({ config: run.config, directory, home, env }, directory, command, stop);
  if (refusal !== undefined) throw refusalError(refusal);
}

type ReadyNeeds = Parameters<typeof processLimits>[0] & Parameters<typeof environmentOf>[0];

/** Runs the set-up; undefined when it passed. */
async function unready(
  needs: ReadyNeeds,
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

// What stands behind "done": protected files, the look at the work, the judge; made for one loop.

/** The ledger knows by which hash the copies prove themselves. */
function guardOf(guard: Guard, hash: string | undefined): Engine['guard'] {
  if (hash === undefined) return undefined;
  return {
    async restore(directory) {
      const done = await guard.restore(directory, hash);
      if (!done.ok) return { restored: [], damaged: done.problem };
      return { restored: done.restored.map(({ path, how }) => `${path} (${how})`) };
    },
  };
}

const fileBytesMax = 2_000_000;
const filesMax = 2_000;

async function textsOf(
  git: GitWorkspace,
  tree: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const found = await git.content(tree, paths);
  return new Map(found.map(({ path, bytes }) => [path, bytes]));
}

const isText = (bytes: Buffer): boolean => bytes.length <= fileBytesMax && !bytes.includes(0);

/** A file that cannot be read any more may hide what became of its tests. */
async function filesOf(git: GitWorkspace, { from, to }: Span, paths: readonly string[]): Promise<ChangedFile[]> {
  const [before, after] = [await textsOf(git, from, paths), await textsOf(git, to, paths)];
  return paths.flatMap(path => {
    const [old, now] = [before.get(path), after.get(path)];
    if (old !== undefined && now?.equals(old)) return []; // changed, and put back since
    return {
      path,
      before: old === undefined ? undefined : isText(old) ? old.toString('utf8') : '',
      after: now === undefined ? undefined : isText(now) ? now.toString('utf8') : '',
      isOpaque: now !== undefined && !isText(now) ? (true as const) : undefined,
    };
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
function screenOf(git: GitWorkspace, top: string, inside: string): NonNullable<Engine['screen']> {
  return async (spans, now, task, state: State) => {
    const [kept] = keptDocuments(state.settings.mode, state.document);
    const document = kept === undefined ? '' : relative(top, kept);
    const { checks } = state.settings;
    const changes = (await git.changes(spans)).filter(one => !isOurs(one.path, document));
    // An issue may have been mended together with another one, and the next round looks again.
    if (changes.length === 0 && state.settings.review !== null) return [];
    if (changes.length === 0) return [doubtOf({ ...nothingChanged, detail: `no file was changed for ${task}` })];
    const last = spans.at(-1)?.to ?? '';
    const whole = { from: spans[0]?.from ?? '', to: now === '' ? last : now };
    const later = now === '' ? [] : await git.changes([{ from: last, to: now }]);
    const all = [...new Set([...changes, ...later].map(one => one.path))];
    const paths = all.filter(path => !isOurs(path, document) && matters(path, checks));
    if (paths.length > filesMax) return [doubtOf(tooMany(paths.length))];
    const files = await filesOf(git, whole, paths);
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

async function patchText(git: GitWorkspace, span: Span): Promise<string> {
  const { text, isCut } = await git.patch(span, { bytesMax: patchBytesMax });
  return isCut ? `${text}\n[The rest of the diff is left out: it is longer than ${patchBytesMax} bytes.]\n` : text;
}

function judgeOf(judge: Judge, git: GitWorkspace | undefined, loop: string): NonNullable<Engine['judge']> {
  return async (task, iteration, spans, outcomes, doubts, stop) => {
    const [from, to] = [spans[0]?.from, spans.at(-1)?.to];
    const isKnown = git !== undefined && from !== undefined && to !== undefined;
    const diff = isKnown ? await patchText(git, { from, to }) : 'Not known: this folder keeps no history.';
    return judge.judge(
      {
        loop,
        iteration,
        task: task.id,
        title: task.title,
        criteria: task.criteria,
        diff,
        outcomes: outcomes.map(({ flaky: _flaky, ...outcome }) => outcome),
        findings: doubts.length === 0 ? undefined : describeFindings(doubts),
      },
      stop,
    );
  };
}
