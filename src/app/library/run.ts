// Runs a loop of any mode for a program: the same session as the command line's, with the program's options as its host.
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { homeDirectory } from '../../config/home.ts';
import { initialState } from '../../core/state.ts';
import type { Lease, Ledger } from '../../ledger/ledger.ts';
import { loopOfPlan, planKey } from '../../modes/plan/session/loops.ts';
import { endedLoopOf, mayRun, planAt, putAway, refuseDoubtfulBoxes } from '../../modes/plan/session/vault.ts';
import { Bug, UsageError } from '../../text/errors.ts';
import { vaultRootOf } from '../../text/step-path.ts';
import { type Engine, type Environment, hasLedger, openLedger } from '../app.ts';
import { newestLoop, withLease } from '../loops/find.ts';
import { goalOverWords, missingTasksWords } from '../session/earlier-loop.ts';
import { type Prepared, prepareLoop } from '../session/prepare.ts';
import { type Host, type Outcome, runSession, settingsRefusal } from '../session/session.ts';
import { redRefusal } from '../session/workspace-setup.ts';
import { checkOptions, flagsOf, type LoopOptions } from './options.ts';
import { guarded } from './performer.ts';
import { providedBy } from './provided.ts';
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

/** The terminal is nobody's here: only a performer that brings its own can talk with people. */
function refuseInteractive({ config, performers }: Prepared): void {
  const cannot = config.interactive ? Object.values(performers).find(one => !one.can.interactive) : undefined;
  if (cannot !== undefined)
    throw new UsageError(`The performer ${cannot.name} cannot talk with a person.`, 'Bring one that can.interactive.');
}

/** A program's own mistake in its callback must not end the loop. */
function notifier({ options: { onEvent }, say }: Call): Engine['notifiers'][number] {
  if (onEvent === undefined) return { tell: () => {} };
  return { tell: guarded(onEvent, (reason, event) => say(`onEvent threw at ${event.type}: ${reason}`)) };
}

/** A program decides by its options: nothing is started over, and red checks only where the settings allow them. */
function programHost(job: Job): Host {
  const { ledger, options, stop, say, by } = job;
  const { onEscalation } = options;
  return {
    by,
    say,
    announce: say,
    decide: async gate => gate.id === 'start' || (gate.id === 'red-checks' && gate.isAllowed),
    listen: () => ({ signal: stop, close: () => {} }),
    attend: () => {
      const questions = answeredBy(ledger, typeof onEscalation === 'function' ? onEscalation : undefined, say);
      const { asking, patient: adapt } = questions;
      return { signal: stop, close: () => {}, notifiers: [notifier(job)], ...asking, adapt };
    },
  };
}

const needsOf = ({ home, options, ledger, prepared: { path, config } }: Job) => ({
  ledger,
  home,
  document: path,
  isKept: options.memory !== true,
  requireChecks: Boolean(config.requireChecks),
});

async function resultFrom(job: Job, outcome: Outcome): Promise<LoopResult> {
  const needs = needsOf(job);
  switch (outcome.type) {
    case 'held':
      return refuseHeld(outcome.lease);
    case 'over': {
      const { earlier } = outcome;
      if (earlier.type === 'ended')
        return endedBefore(needs, earlier.state, missingTasksWords(earlier.gone, earlier.state));
      return resultOf(needs, earlier.state, { how: 'ended', ran: false, words: goalOverWords(earlier.state) });
    }
    case 'nothing-to-do': {
      const state = (await newestLoop(job.ledger, job.prepared.path))?.state ?? initialState;
      const words = 'Nothing to do: every task is done or skipped.';
      return resultOf(needs, state, { how: 'ended', ran: false, words });
    }
    case 'declined':
      if (outcome.gate.id === 'settings-changed') throw settingsRefusal(outcome.gate.changed);
      throw redRefusal(outcome.gate.id === 'red-checks' ? outcome.gate.red : []);
    case 'left':
      throw new Bug('only a visit leaves its work');
    case 'ran':
      return resultOf(needs, outcome.state, { how: outcome.how, ran: true });
  }
}

async function runJob(job: Job): Promise<LoopResult> {
  return resultFrom(job, await runSession(job.prepared, job.ledger, programHost(job)));
}

async function called(call: Call): Promise<LoopResult> {
  const { options, env, home, directory, say, flags } = call;
  const open = (): Promise<Ledger> => openLedger({ home, env, warn: say, quickCheck: true });
  // Nothing is written before everything that may be refused was looked at.
  let ledger = options.ledger ?? (hasLedger(home) ? await open() : undefined);
  try {
    const { goal, document: file } = options;
    const prepared = await prepareLoop({
      env,
      directory,
      home,
      file,
      goal,
      flags,
      ledger,
      provided: providedBy(options),
    });
    refuseInteractive(prepared);
    for (const notice of prepared.notices) say(notice);
    ledger ??= await open();
    const job: Job = { ...call, ledger, prepared };
    if (prepared.mode.bindsText !== true) return await runJob(job);
    return await withLease(ledger, planKey(prepared.document.id ?? ''), refuseHeld, () => runPlanJob(job));
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

/** A plan in a program's hands: its approval is asked for, it never runs twice, and it is put away when its loop is over. */
async function runPlanJob(job: Job): Promise<LoopResult> {
  const { ledger, options } = job;
  if (options.new === true)
    throw new UsageError('new: no plan runs twice.', 'Write another plan, with a plan_id of its own.');
  const { path, directory } = job.prepared;
  const root = vaultRootOf(path, directory);
  const plan = await planAt(path);
  const ended = await endedLoopOf(ledger, root, plan);
  if (ended !== undefined) return resultOf(needsOf(job), ended.state, { how: 'ended', ran: false });
  const loop = await loopOfPlan(ledger, plan);
  if (job.prepared.options.acceptTicked !== true) refuseDoubtfulBoxes(plan, loop);
  // Whoever answers questions may approve it, and so may whoever sends the loop that waits a command.
  const isAsked = typeof options.onEscalation === 'function' || options.onEscalation === 'wait';
  if (!mayRun(plan, loop) && !isAsked)
    throw new UsageError(
      `Plan ${plan.id} may not run: nobody has approved it as it stands now.`,
      `Approve it (ralph plan approve ${plan.id}), or answer its question with onEscalation.`,
      5,
    );
  const result = await runJob(job);
  await putAway(ledger, root, plan);
  return result;
}
