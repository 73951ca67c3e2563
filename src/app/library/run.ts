// Runs a loop of any mode for a program: the command line's own preparation and engine, without a terminal around them.
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { homeDirectory } from '../../config/home.ts';
import { initialState } from '../../core/state.ts';
import type { Lease, Ledger } from '../../ledger/ledger.ts';
import { readPlan } from '../../modes/plan/session/files.ts';
import { isOwnLoop, loopOfPlan, type PlanLoop, planKey } from '../../modes/plan/session/loops.ts';
import { finishPlan, refuseDoubtfulBoxes, refuseOtherFile } from '../../modes/plan/session/vault.ts';
import { moveEarlierFiles } from '../../modes/project/session.ts';
import { UsageError } from '../../text/errors.ts';
import { vaultRootOf } from '../../text/step-path.ts';
import { type Engine, type Environment, hasLedger, loopFolder, openLedger, runEngine, storeError } from '../app.ts';
import { newestLoop } from '../loops.ts';
import { isInterview } from '../modes.ts';
import { refuseProblems } from '../problems.ts';
import { placeAgain, placeFirst, redRefusal, withLease } from '../session/begin.ts';
import { engineFor, firstInputs, type Launch } from '../session/launch.ts';
import type { Placed } from '../session/placed.ts';
import { type Prepared, prepareLoop, type Remembered } from '../session/prepare.ts';
import {
  type Chosen,
  checksOnResume,
  closedIn,
  earlierLoop,
  goalOverWords,
  hasWork,
  missingTasksWords,
  newLoop,
} from '../session/resume-rules.ts';
import { checkOptions, flagsOf, type LoopOptions } from './options.ts';
import { guarded } from './performer.ts';
import { providedBy, withCheckedContract } from './provided.ts';
import { answeredBy } from './questions.ts';
import { endedBefore, type LoopResult, resultOf } from './result.ts';

/** One call, and where it keeps what it does. */
interface Call {
  readonly options: LoopOptions;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly home: string;
  readonly directory: string;
  readonly env: Environment;
  readonly stop: AbortSignal;
  readonly say: (sentence: string) => void;
  readonly by: string;
}

/** A call that is prepared. */
interface Job extends Call {
  readonly ledger: Ledger;
  readonly prepared: Prepared;
}

function directoryOf({ directory, document }: LoopOptions): string {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(
      `There is no folder ${JSON.stringify(directory.slice(0, 200))}.`,
      'Say where the work happens.',
    );
  if (document !== undefined && !existsSync(resolve(directory, document)))
    throw new UsageError(`There is no file ${JSON.stringify(document.slice(0, 200))}.`, 'A goal in words: goal.');
  return realpathSync(directory);
}

function homeOf({ home, environment }: LoopOptions): string {
  if (home !== undefined) return home;
  if (environment === undefined)
    throw new UsageError('Nobody said where the ledger lies.', 'Give home, or environment, or memory: true.');
  const found = homeDirectory(environment);
  if ('problem' in found) throw new UsageError(found.problem);
  return found.path;
}

/** Without a home of the user's nobody's configuration is read: what the account has is not the program's. */
function environmentOf({ environment = {} }: LoopOptions, home: string): Environment {
  const isKnown = environment['HOME'] !== undefined || environment['XDG_CONFIG_HOME'] !== undefined;
  return isKnown ? environment : { ...environment, XDG_CONFIG_HOME: join(home, 'no-configuration') };
}

function refuseHeld({ holder, since }: Lease): never {
  throw new UsageError(
    `This loop or its folder is held by process ${holder.pid} on ${holder.host} since ${new Date(since).toISOString()}.`,
    'Wait for it, or stop it.',
    9,
  );
}

/** What the newest loop of a document knows. */
function remembering({ home, options }: Call, ledger: Ledger | undefined): Remembered {
  return {
    lastGood: async path => {
      const loop = await newestLoop(ledger, path);
      const copy = loop?.row.reason === null ? join(loopFolder(home, loop.row.loop), 'document') : undefined;
      return copy !== undefined && existsSync(copy) ? copy : undefined;
    },
    settings: async path => {
      const loop = options.new === true ? undefined : await newestLoop(ledger, path);
      return loop?.row.reason === null ? loop.state.settings : undefined;
    },
    closed: async path => closedIn((await newestLoop(ledger, path))?.state),
  };
}

/** The terminal is nobody's here: only a performer that brings its own can talk with people. */
function refuseInteractive({ run, performers }: Prepared): void {
  const cannot = run.config.interactive
    ? Object.values(performers.byName).find(one => !one.can.interactive)
    : undefined;
  if (cannot !== undefined)
    throw new UsageError(`The performer ${cannot.name} cannot talk with a person.`, 'Bring one that can.interactive.');
}

async function placedFor({ ledger, prepared, say, stop }: Job, chosen: Chosen): Promise<Placed> {
  if (chosen.state !== undefined) return placeAgain(prepared, chosen.state, ledger, say);
  const known = new Set((await ledger.store.loops()).map(row => row.loop));
  const beginning = { say, announce: say, stop, isLoop: (id: string) => known.has(id) };
  const begun = await placeFirst(prepared, chosen, beginning);
  if (begun === undefined) throw new UsageError('Stopped before any work: no loop was begun.', '', 130);
  if (begun.red.length === 0 || prepared.run.config.allowRedStart) return begun.placed;
  await begun.placed.leave();
  throw redRefusal(begun.red);
}

/** A program's own mistake in its callback must not end the loop. */
function notifier({ options: { onEvent }, say }: Call): Engine['notifiers'][number] {
  if (onEvent === undefined) return { tell: () => {} };
  return { tell: guarded(onEvent, (reason, event) => say(`onEvent threw at ${event.type}: ${reason}`)) };
}

async function work(given: Job, chosen: Chosen): Promise<LoopResult> {
  const { ledger, options, stop, say, by, flags } = given;
  const prepared = await checksOnResume(given.prepared, chosen.state);
  const job = { ...given, prepared };
  const placed = await placedFor(job, chosen);
  if (prepared.mode === 'project' && !isInterview(prepared.mode, prepared.path) && chosen.state === undefined)
    await moveEarlierFiles(prepared.path, chosen.loop, say);
  const { onEscalation } = options;
  const questions = answeredBy(ledger, typeof onEscalation === 'function' ? onEscalation : undefined, say);
  const launch: Launch = { ledger, prepared, placed, chosen, by, say, notifiers: [notifier(job)], ...questions.asking };
  const engine = questions.patient(await engineFor(launch));
  const result = await runEngine(engine, chosen.loop, { interrupt: stop, first: firstInputs(launch, flags) });
  if (result.type === 'held') return refuseHeld(result.held);
  if (result.type === 'failed') throw storeError(result.failure);
  if (result.type === 'refused') refuseProblems(result.problems);
  return resultOf(needsOf(job), result.state, { how: result.type, ran: true });
}

const needsOf = ({ home, options, ledger, prepared: { path, run } }: Job) => ({
  ledger,
  home,
  document: path,
  isKept: options.memory !== true,
  requireChecks: Boolean(run.config.requireChecks),
});

/** The loop to begin or go on with; a result where there is nothing to do. */
async function chosenLoop(job: Job): Promise<Chosen | LoopResult> {
  const { ledger, prepared, options } = job;
  const needs = needsOf(job);
  const earlier = options.new === true ? undefined : await earlierLoop(ledger, prepared);
  if (earlier?.type === 'open') return earlier.chosen;
  if (earlier?.type === 'ended')
    return endedBefore(needs, earlier.state, missingTasksWords(earlier.gone, earlier.state));
  if (earlier?.type === 'over')
    return resultOf(needs, earlier.state, { how: 'ended', ran: false, words: goalOverWords(earlier.state) });
  if (hasWork(prepared)) return newLoop(ledger, prepared);
  const state = (await newestLoop(ledger, prepared.path))?.state ?? initialState;
  const words = 'Nothing to do: every task is done or skipped.';
  return resultOf(needs, state, { how: 'ended', ran: false, words });
}

/** The document is held: nobody else begins a loop of it now. */
async function chooseAndWork(job: Job): Promise<LoopResult> {
  const { ledger, prepared, options } = job;
  const plan = prepared.mode === 'plan' ? await planAtHand(ledger, prepared, options) : undefined;
  if (plan?.over !== undefined) return resultOf(needsOf(job), plan.over.state, { how: 'ended', ran: false });
  const chosen = await chosenLoop(job);
  if ('how' in chosen) return chosen;
  const { config, settings } = prepared.run;
  const isApart =
    chosen.state === undefined ? config.worktree || settings.worktreePerTask : chosen.state.branch !== undefined;
  const folder = `folder:${chosen.state?.directory ?? prepared.directory}`;
  const go = (): Promise<LoopResult> => work(job, chosen);
  const result = isApart ? await go() : await withLease(ledger, folder, refuseHeld, go);
  await plan?.finish();
  return result;
}

async function called(call: Call): Promise<LoopResult> {
  const { options, env, home, directory, say, flags } = call;
  const open = (): Promise<Ledger> => openLedger({ home, env, warn: say, quickCheck: true });
  // Nothing is written before everything that may be refused was looked at.
  let ledger = options.ledger ?? (hasLedger(home) ? await open() : undefined);
  try {
    const { goal, document: file } = options;
    const request = { file, goal, flags, provided: providedBy(options), remembered: remembering(call, ledger) };
    const prepared = withCheckedContract(await prepareLoop({ env, directory, home }, request));
    refuseInteractive(prepared);
    for (const notice of prepared.notices) say(notice);
    ledger ??= await open();
    const job: Job = { ...call, ledger, prepared };
    const go = (): Promise<LoopResult> => chooseAndWork(job);
    const alone = (): Promise<LoopResult> =>
      prepared.mode === 'plan' ? withLease(job.ledger, planKey(prepared.document.id ?? ''), refuseHeld, go) : go();
    return await withLease(ledger, `document:${prepared.path}`, refuseHeld, alone);
  } finally {
    if (options.ledger === undefined) await ledger?.store.close();
  }
}

/** A file or a folder that cannot be used is the caller's to mend; anything else is a bug, and stays what it is. */
function asUsageError(error: unknown): unknown {
  const { code, syscall, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (error instanceof UsageError || typeof code !== 'string' || typeof syscall !== 'string') return error;
  const said = new UsageError(message, 'Look at directory, home and the document.', 1);
  said.cause = error;
  return said;
}

/** Throws only a UsageError: what was asked cannot be done, why, and what would help. */
export const runLoop = (options: LoopOptions): Promise<LoopResult> =>
  start(options).catch((error: unknown) => {
    throw asUsageError(error);
  });

async function start(options: LoopOptions): Promise<LoopResult> {
  checkOptions(options);
  const directory = directoryOf(options);
  const flags = flagsOf(options);
  const { signal: stop = new AbortController().signal, onNotice = () => {}, by = 'a program' } = options;
  const say = guarded(onNotice, () => {}); // nobody is left who could be told
  const callIn = (home: string, more: Partial<LoopOptions> = {}): Promise<LoopResult> => {
    const env = environmentOf(options, home);
    return called({ options: { ...options, ...more }, flags, home, directory, env, stop, say, by });
  };
  if (options.memory !== true) return callIn(homeOf(options));
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-memory-')));
  try {
    const { memoryLedger } = await import('../../ledger/memory.ts');
    return await callIn(scratch, { ledger: memoryLedger() });
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

interface PlanAtHand {
  /** Its loop, when it had one and that is over. */
  readonly over?: PlanLoop;
  /** What is left to do when a loop is over or stands still. */
  readonly finish: () => Promise<void>;
}

/** A plan in a program's hands: its approval is asked for, it never runs twice, and it is put away when its loop is over. */
async function planAtHand(ledger: Ledger, prepared: Prepared, options: LoopOptions): Promise<PlanAtHand> {
  if (options.new === true)
    throw new UsageError('new: no plan runs twice.', 'Write another plan, with a plan_id of its own.');
  const { path, directory } = prepared;
  const root = vaultRootOf(path, directory);
  const read = await readPlan(path);
  if (read.type !== 'plan') refuseProblems(read.problems, path);
  const { plan } = read;
  const loop = await loopOfPlan(ledger, plan);
  const finish = async (): Promise<void> => {
    const after = await loopOfPlan(ledger, plan);
    if (after !== undefined && isOwnLoop(after, root, plan)) await finishPlan(ledger, root, after);
  };
  if (loop?.state.ended !== undefined) {
    await finish();
    return { over: loop, finish };
  }
  if (loop !== undefined) refuseOtherFile(plan, loop);
  if (prepared.options.acceptTicked !== true) refuseDoubtfulBoxes(plan, loop);
  const approval = loop?.state.approval;
  const mayRun = approval?.hash === plan.hash || (!plan.isApprovalRequired && approval === undefined);
  // Whoever answers questions may approve it.
  if (!mayRun && typeof options.onEscalation !== 'function')
    throw new UsageError(
      `Plan ${plan.id} may not run: nobody has approved it as it stands now.`,
      `Approve it (ralph plan approve ${plan.id}), or answer its question with onEscalation.`,
      5,
    );
  return { finish };
}
