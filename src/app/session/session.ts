// Session: the one way to begin or resume a loop, for the terminal and for programs. People decide while leases are held,
// so every decision is a gate with an id, and the host (a terminal, the options of a program) answers it.

import type { CheckResult } from '../../checks/check.ts';
import type { State } from '../../core/state.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Lease, Ledger } from '../../ledger/ledger.ts';
import { UsageError } from '../../text/errors.ts';
import { runEngine, storeError } from '../app.ts';
import { withLease } from '../loops/find.ts';
import { refuseProblems } from '../problems.ts';
import { engineFor, firstInputs } from './launch.ts';
import type { Prepared } from './prepare.ts';
import { type Chosen, checksOnResume, type Earlier, earlierLoop, hasWork, newLoop } from './resume-rules.ts';
import type { LoopWorkspace } from './workspace.ts';
import { createWorkspace, resumeWorkspace } from './workspace-setup.ts';

export type Gate =
  /** The last loop of the document ended with work left: yes starts over, with new counters. */
  | { readonly id: 'continue-ended'; readonly earlier: Extract<Earlier, { type: 'ended' }> }
  | { readonly id: 'start'; readonly prepared: Prepared; readonly chosen: Chosen }
  /** Checks fail before any work; `isAllowed`: the settings say that it may begin all the same. */
  | { readonly id: 'red-checks'; readonly red: readonly CheckResult[]; readonly isAllowed: boolean };

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
}

export interface Session {
  readonly ledger: Ledger;
  readonly prepared: Prepared;
  readonly host: Host;
  /** A new loop, whatever an earlier one left. */
  readonly isNew: boolean;
  /** As typed: what a resumed loop changes. */
  readonly flags: Readonly<Record<string, unknown>>;
}

export type Outcome =
  /** Another process has the loop, or works in its folder. */
  | { readonly type: 'held'; readonly what: 'loop' | 'folder'; readonly lease: Lease }
  | { readonly type: 'over'; readonly earlier: Exclude<Earlier, { type: 'open' }> }
  | { readonly type: 'nothing-to-do' }
  /** The host said no; what had been made is gone. */
  | { readonly type: 'declined'; readonly gate: Gate }
  | {
      readonly type: 'ran';
      readonly how: 'ended' | 'waiting' | 'interrupted';
      readonly state: State;
      readonly exitCode: number | undefined;
    };

const heldBy =
  (what: 'loop' | 'folder') =>
  (lease: Lease): Outcome => ({ type: 'held', what, lease });

/** Two runs that start in the same moment must not each begin a loop of one document (F18). */
export const runSession = (session: Session): Promise<Outcome> =>
  withLease(session.ledger, `document:${session.prepared.path}`, heldBy('loop'), () => chooseAndWork(session));

async function chooseAndWork(session: Session): Promise<Outcome> {
  const { ledger, prepared, host, isNew } = session;
  const earlier = isNew ? undefined : await earlierLoop(ledger, prepared);
  if (earlier?.type === 'over') return { type: 'over', earlier };
  if (earlier?.type === 'ended' && !(await host.decide({ id: 'continue-ended', earlier })))
    return { type: 'over', earlier };
  const isResumed = earlier?.type === 'open';
  if (!isResumed && !hasWork(prepared)) return { type: 'nothing-to-do' };
  const chosen = isResumed ? earlier.chosen : await newLoop(ledger, prepared);
  const { config, settings } = prepared.run;
  const hasOwnFolder = isResumed
    ? earlier.chosen.state.loop.branch !== undefined
    : config.worktree || settings.worktreePerTask;
  if (hasOwnFolder) return work(session, chosen);
  const folder = `folder:${chosen.state?.loop.directory ?? prepared.directory}`;
  return withLease(ledger, folder, heldBy('folder'), () => work(session, chosen));
}

async function work(session: Session, chosen: Chosen): Promise<Outcome> {
  const { ledger, host } = session;
  const prepared = await checksOnResume(session.prepared, chosen.state);
  const start: Gate = { id: 'start', prepared, chosen };
  if (!(await host.decide(start))) return { type: 'declined', gate: start };
  const workspace =
    chosen.state === undefined
      ? await create({ ...session, prepared }, chosen)
      : await resumeWorkspace(prepared, chosen.state, ledger, host.say);
  return 'type' in workspace ? workspace : run({ ...session, prepared }, chosen, workspace);
}

/** A new loop in its folder. Its checks run once, so that nobody is blamed for what was broken before. */
async function create(
  { ledger, prepared, host }: Session,
  chosen: Chosen,
): Promise<LoopWorkspace | Extract<Outcome, { type: 'declined' }>> {
  const known = new Set((await ledger.store.loops()).map(row => row.loop));
  const { say, announce } = host;
  const listener = host.listen();
  const needs = { say, announce, stop: listener.signal, isLoop: (id: string) => known.has(id) };
  const created = await createWorkspace(prepared, chosen, needs).finally(() => listener.close());
  if (created === undefined)
    throw new UsageError('Stopped before any work: no loop was begun.', '', listener.exitCode?.() ?? 130);
  const { workspace, red } = created;
  const gate: Gate = { id: 'red-checks', red, isAllowed: prepared.run.config.allowRedStart };
  if (red.length > 0 && !(await host.decide(gate))) {
    await workspace.discard();
    return { type: 'declined', gate };
  }
  await prepared.modeSession.beforeFirst?.(prepared.path, chosen.loop, announce);
  return workspace;
}

/** To its end, its question or its interruption. */
async function run(
  { ledger, prepared, host, flags }: Session,
  chosen: Chosen,
  workspace: LoopWorkspace,
): Promise<Outcome> {
  const { by, say } = host;
  const attendance = host.attend(prepared, chosen.loop);
  const { signal: interrupt, notifiers, ask, adapt = (engine: Engine) => engine } = attendance;
  const launch = { ledger, prepared, workspace, chosen, by, say, notifiers, ask };
  try {
    const engine = adapt(await engineFor(launch));
    const result = await runEngine(engine, chosen.loop, { interrupt, first: firstInputs(launch, flags) });
    if (result.type === 'held') return { type: 'held', what: 'loop', lease: result.held };
    if (result.type === 'failed') throw storeError(result.failure);
    if (result.type === 'refused') refuseProblems(result.problems);
    return { type: 'ran', how: result.type, state: result.state, exitCode: attendance.exitCode?.() };
  } finally {
    attendance.close();
  }
}
