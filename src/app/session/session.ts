// Session: the one way to begin or resume a loop, for the terminal and for programs. People decide while leases are held,
// so every decision is a gate with an id, and the host (a terminal, the options of a program) answers it.

import type { CheckResult } from '../../checks/check.ts';
import type { Command, Input } from '../../core/input.ts';
import type { State } from '../../core/state.ts';
import type { TaskSpec } from '../../core/task.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Visit } from '../../engine/run.ts';
import type { Lease, Ledger } from '../../ledger/ledger.ts';
import { canonical } from '../../text/canonical.ts';
import { UsageError } from '../../text/errors.ts';
import { plural } from '../../text/format.ts';
import { processesAhead, processesOver } from '../agents/process-limits.ts';
import { newLoop, stateOf, storeError } from '../app.ts';
import { instructionNotices } from '../documents.ts';
import { newestLoop, withLease } from '../loops/find.ts';
import { refuseProblems } from '../problems.ts';
import { type Earlier, earlierLoop, hasWork } from './earlier-loop.ts';
import { handOver, unmergedLoop } from './hand-over.ts';
import { approvalByRunning, engineFor, resumeCommands, startInput } from './launch.ts';
import { type Prepared, prepareLoop } from './prepare.ts';
import { type ChangedSettings, changedSettings, watchSettings } from './trusted-settings.ts';
import type { Workspace } from './workspace.ts';
import { createWorkspace, resumeWorkspace } from './workspace-setup.ts';

export { type ChangedSettings, settingsRefusal } from './trusted-settings.ts';

export type Gate =
  /** The last loop of the document ended with work left: yes starts over, with new counters. */
  | { readonly id: 'continue-ended'; readonly earlier: Extract<Earlier, { type: 'ended' }> }
  /** The user's own settings changed while agents worked: yes says that a person did it. */
  | { readonly id: 'settings-changed'; readonly changed: ChangedSettings; readonly isAllowed: boolean }
  /** `state`: of a loop that goes on. */
  | {
      readonly id: 'start';
      readonly prepared: Prepared;
      readonly loop: string;
      readonly name: string;
      readonly state: State | undefined;
    }
  /** Checks fail before any work; `isAllowed`: the settings say that it may begin all the same. */
  | { readonly id: 'red-checks'; readonly red: readonly CheckResult[]; readonly isAllowed: boolean }
  /** Boxes of a plan say that something is done of which there is no record: `doubt` is a sentence. */
  | ({ readonly id: 'ticked-boxes'; readonly doubt: string } & ShownPlan)
  | ({ readonly id: 'approve' } & ShownPlan);

/** Exactly what a yes to a plan is a yes to. */
interface ShownPlan {
  readonly subject: string;
  readonly hash: string;
  readonly goal: string;
  readonly tasks: readonly TaskSpec[];
  /** Since it was approved before. */
  readonly changes: readonly string[];
  /** What this machine could not do today. */
  readonly warnings: readonly string[];
}

/** A stop that may come, for as long as somebody listens for it. */
interface StopListener {
  readonly signal: AbortSignal;
  /** Of the signal that came, for a process that ends by it. */
  exitCode?(): number | undefined;
  close(): void;
}

/** How the host takes part while the loop runs. */
export interface Attendance extends StopListener {
  readonly notifiers: Engine['notifiers'];
  readonly ask?: Engine['ask'];
  /** The engine as this host needs it. */
  adapt?(engine: Engine): Engine;
}

export interface Host {
  /** Who it is, for the ledger. */
  readonly by: string;
  readonly say: (sentence: string) => void;
  /** For those who watch. */
  readonly announce: (sentence: string) => void;
  decide(gate: Gate): Promise<boolean>;
  /** While the workspace is set up and the checks run once. */
  listen(): StopListener;
  /** The loop begins or goes on now: nothing can be refused any more. */
  attend(prepared: Prepared, loop: string): Attendance;
  /** It is only here for a moment, for a session that does the work (ADR 9). */
  readonly visit?: SessionVisit;
}

export interface SessionVisit extends Visit {
  /** Its id as a holder. */
  readonly holder: string;
  /** What its user typed meanwhile. */
  readonly guidance?: string | undefined;
}

export type Outcome =
  /** Another process has the loop, or works in its folder. */
  | { readonly type: 'held'; readonly what: 'loop' | 'folder'; readonly lease: Lease }
  | { readonly type: 'over'; readonly earlier: Exclude<Earlier, { type: 'open' }> }
  | { readonly type: 'nothing-to-do' }
  /** The host said no; what had been made is gone. */
  | { readonly type: 'declined'; readonly gate: Gate }
  /** A visit: the session goes on with an iteration. */
  | { readonly type: 'left'; readonly state: State }
  | {
      readonly type: 'ran';
      readonly how: 'ended' | 'waiting' | 'interrupted';
      readonly state: State;
      readonly exitCode: number | undefined;
    };

/** Two runs that start in the same moment must not each begin a loop of one document (F18). */
export function runSession(prepared: Prepared, ledger: Ledger, host: Host): Promise<Outcome> {
  void madeReady(prepared);
  return withLease<Outcome>(
    ledger,
    `document:${prepared.path}`,
    lease => ({ type: 'held', what: 'loop', lease }),
    () => chooseAndWork(prepared, ledger, host),
  );
}

/** Over when it is known how programs are kept apart here, which the summary says. */
async function madeReady(prepared: Prepared): Promise<void> {
  const startsPrograms = Object.values(prepared.performers).some(
    ({ facts }) => facts !== undefined && facts.isInProcess !== true,
  );
  if (startsPrograms || prepared.checks.length > 0) await processesAhead(prepared);
}

/** The one that the command means, as things stand. */
export async function chosenLoop(prepared: Prepared, ledger: Ledger): Promise<Earlier | undefined> {
  const { resumes, flags } = prepared;
  if (resumes !== undefined) return { type: 'open', state: (await stateOf(ledger, resumes)).state };
  if (flags['new'] === true) return undefined;
  return (await earlierLoop(ledger, prepared)) ?? unmergedLoop(prepared, ledger);
}

async function chooseAndWork(first: Prepared, ledger: Ledger, host: Host): Promise<Outcome> {
  const earlier = await chosenLoop(first, ledger);
  if (earlier?.type === 'over') return { type: 'over', earlier };
  if (earlier?.type === 'ended' && !(await host.decide({ id: 'continue-ended', earlier })))
    return { type: 'over', earlier };
  const state = earlier?.type === 'open' ? earlier.state : undefined;
  const held = await heldByOthers(ledger, state, host);
  if (held !== undefined) return { type: 'held', what: 'loop', lease: held };
  // It was begun or changed since it was looked up.
  const isAsSeen = canonical(first.before ?? null) === canonical(state?.settings ?? null);
  const prepared = isAsSeen ? first : await prepareLoop({ ...first, ledger });
  if (state === undefined && !hasWork(prepared)) return { type: 'nothing-to-do' };
  const { config, document, directory } = prepared;
  const loop = state?.loop ?? (await newLoop(ledger, config.name, document.project));
  const run = (): Promise<Outcome> => work(prepared, ledger, host, { id: loop.id, name: loop.name, state });
  // A session works where its user sits, whoever else works there.
  if (host.visit !== undefined || hasOwnFolder(prepared, state)) return run();
  const folder = `folder:${state?.loop.directory ?? directory}`;
  return withLease<Outcome>(ledger, folder, lease => ({ type: 'held', what: 'folder', lease }), run);
}

const hasOwnFolder = ({ config, settings }: Prepared, state: State | undefined): boolean =>
  state === undefined ? config.worktree || settings.worktreePerTask : state.loop.branch !== undefined;

async function heldByOthers({ store }: Ledger, state: State | undefined, { visit }: Host): Promise<Lease | undefined> {
  const held = state && (await store.holder(state.loop.id));
  return held?.alive === true && held.lease.holder.id !== visit?.holder ? held.lease : undefined;
}

/** A new loop begins now, and with --new nobody goes on with this one: left open, its questions would stand beside those of the new loop for good. */
async function endReplaced(
  { path, home, env, flags }: Prepared,
  ledger: Ledger,
  host: Host,
  name: string,
): Promise<void> {
  const earlier = flags['new'] === true ? await newestLoop(ledger, path) : undefined;
  if (earlier === undefined || earlier.state.control.ended !== undefined) return;
  const { row, state } = earlier;
  const { command } = await import('../loops/commands.ts');
  const order = { home, env, ledger, loop: row.loop, row, by: host.by, warn: host.say };
  await command(order, [{ type: 'stop', replacedBy: name }]);
  const questions =
    state.questions.open.length === 0 ? '' : ` and its ${plural(state.questions.open.length, 'question')} closed`;
  host.say(`note: Loop ${row.name} is ended${questions}: ${name} takes its place.`);
}

/** `state`: of a loop that goes on. */
type Chosen = Pick<State['loop'], 'id' | 'name'> & { readonly state: State | undefined };

/** The gate to which the host said no. */
async function doubtedSettings({ home, env, flags }: Prepared, host: Host): Promise<Gate | undefined> {
  const changed = changedSettings(home, env);
  if (changed === undefined) return undefined;
  const gate: Gate = { id: 'settings-changed', changed, isAllowed: flags['acceptSettings'] === true };
  return (await host.decide(gate)) ? undefined : gate;
}

/** To its end, its question or its interruption. */
async function work(prepared: Prepared, ledger: Ledger, host: Host, chosen: Chosen): Promise<Outcome> {
  const { state, id: loop, name } = chosen;
  const { by, say, announce } = host;
  const doubted = await doubtedSettings(prepared, host);
  if (doubted !== undefined) return { type: 'declined', gate: doubted };
  const start: Gate = { id: 'start', prepared, loop, name, state };
  await madeReady(prepared);
  if (!(await host.decide(start))) return { type: 'declined', gate: start };
  const workspace =
    state === undefined
      ? await create(prepared, ledger, host, chosen)
      : await resumeWorkspace(prepared, state, ledger, say);
  const red = workspace.baseline?.filter(one => !one.passed) ?? [];
  const gate: Gate = { id: 'red-checks', red, isAllowed: prepared.config.allowRedStart };
  if (red.length > 0 && !(await host.decide(gate))) {
    await workspace.discard();
    return { type: 'declined', gate };
  }
  for (const notice of instructionNotices(prepared)) announce(`note: ${notice}`);
  if (state === undefined) await prepared.modeSession.beforeFirst?.(prepared.path, loop, announce);
  const settle = watchSettings(prepared.home, prepared.env);
  const attendance = host.attend(prepared, loop);
  const { signal: interrupt, notifiers, ask, adapt } = attendance;
  try {
    const first = firstInputs(prepared, host, chosen, workspace);
    const isVisit = host.visit !== undefined;
    const engine = await engineFor(prepared, workspace, { ledger, by, notifiers, ask, isVisit }, say);
    const { runLoop } = await import('../../engine/run.ts');
    await endReplaced(prepared, ledger, host, name);
    const result = await runLoop(adapt?.(engine) ?? engine, loop, { interrupt, first, visit: host.visit });
    if (result.type === 'held') return { type: 'held', what: 'loop', lease: result.held };
    if (result.type === 'failed') throw storeError(result.failure);
    if (result.type === 'refused') refuseProblems(result.problems);
    if (result.type === 'left') return { type: 'left', state: result.state };
    await handOver(prepared, workspace, result.state);
    if (result.type === 'ended') await keepNotes(prepared, ledger, result.state, say);
    return { type: 'ran', how: result.type, state: result.state, exitCode: attendance.exitCode?.() };
  } finally {
    attendance.close();
    settle();
    await processesOver(prepared);
  }
}

function firstInputs(prepared: Prepared, host: Host, chosen: Chosen, workspace: Workspace): readonly Input[] {
  const { state } = chosen;
  const { by } = host;
  const asInput = (command: Command): Input => ({ type: 'command', command, by });
  if (state !== undefined) return commandsFor(host, prepared, resumeCommands(prepared, state, workspace)).map(asInput);
  return [startInput(prepared, chosen, workspace, by), ...approvalByRunning(prepared, undefined).map(asInput)];
}

/** Nobody has said that a loop which waits goes on, when its session only ends a turn. */
function commandsFor({ visit }: Host, { resumes }: Prepared, commands: readonly Command[]): readonly Command[] {
  if (visit === undefined) return commands;
  const kept = resumes === undefined ? commands : commands.filter(({ type }) => type !== 'resume');
  return visit.guidance === undefined ? kept : [...kept, { type: 'tell', text: visit.guidance }];
}

/** Nothing depends on them: a loop that is over has ended well without. */
async function keepNotes(prepared: Prepared, ledger: Ledger, state: State, say: Host['say']): Promise<void> {
  const { addNotes } = await import('../notes.ts');
  await addNotes(prepared, ledger, state).catch((error: Error) =>
    say(`note: What the loop found out could not be added to the notes: ${error.message}`),
  );
}

/** A new loop in its folder. */
async function create(prepared: Prepared, ledger: Ledger, host: Host, chosen: Chosen): Promise<Workspace> {
  const { say, announce } = host;
  const listener = host.listen();
  const watcher = { say, announce, stop: listener.signal };
  const created = await createWorkspace(prepared, chosen, ledger, watcher).finally(() => listener.close());
  if (created !== undefined) return created;
  throw new UsageError('Stopped before any work: no loop was begun.', '', listener.exitCode?.() ?? 130);
}
