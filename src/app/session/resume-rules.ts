// Which loop is meant by a document: its unfinished one, one that ended with work left, or a new one.
import { basename } from 'node:path';
import { freshId, loopName, stateOf } from '../app.ts';
import { someOf } from '../../text/format.ts';
import { identify, knownTasks } from '../../core/task-identity.ts';
import type { State } from '../../core/state.ts';
import { allTasks, emptyTable, openTasks, progress } from '../../core/task.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { endedUnasked } from '../../views/ending.ts';
import type { Prepared } from './prepare.ts';

export interface Chosen {
  readonly loop: string;
  readonly name: string;
  /** Absent for a new loop. */
  readonly state?: State;
}

/** A review finds its tasks itself. */
export const hasWork = ({ mode, document }: Pick<Prepared, 'mode' | 'document'>): boolean =>
  mode === 'review' || document.tasks.some(task => !task.done && !task.skipped);

export type Earlier =
  | { readonly type: 'open'; readonly chosen: Chosen }
  /** Neither done nor stopped by a person: going on with new counters must be said (ADR 4). */
  | { readonly type: 'ended'; readonly state: State; readonly gone: readonly string[] }
  /** A goal whose last loop is over: no document says so, only the ledger. */
  | { readonly type: 'over'; readonly state: State };

export async function earlierLoop(ledger: Ledger, prepared: Prepared): Promise<Earlier | undefined> {
  const [newest] = await ledger.store.loops({ document: prepared.path });
  if (newest === undefined) return undefined;
  const { loop, name } = newest;
  const { state } = await stateOf(ledger, loop);
  if (state.ended === undefined) return { type: 'open', chosen: { loop, name, state } };
  if (prepared.mode === 'goal' && state.loaded && progress(state.tasks).open === 0) return { type: 'over', state };
  const { left, gone } = leftIn(state, prepared);
  const isLeft = prepared.mode === 'review' ? hasWork(prepared) : left > 0;
  // Also after a stop: "nothing to do" is not said while the ledger has tasks that only the document lacks.
  return isLeft && (endedUnasked(state) || !hasWork(prepared)) ? { type: 'ended', state, gone } : undefined;
}

/** What the loop left open and no person has ticked since; some of it may be gone from the document. */
function leftIn(state: State, { document }: Prepared): { readonly left: number; readonly gone: readonly string[] } {
  const { specs } = identify(knownTasks(state.tasks), document.tasks);
  const shown = new Map(specs.map(spec => [spec.id, spec.done || spec.skipped]));
  const left = openTasks(state.tasks).filter(({ id }) => shown.get(id) !== true);
  return { left: left.length, gone: left.filter(({ id }) => !shown.has(id)).map(task => task.id) };
}

/** By the ids that the document has for them. */
export const closedIn = (state: State | undefined): ReadonlySet<string> =>
  new Set(
    [...allTasks(state?.tasks ?? emptyTable)]
      .filter(({ status }) => status === 'done' || status === 'skipped')
      .map(({ id, called }) => called ?? id),
  );

/** Empty where the document still shows all that is open. */
export function goneWords(gone: readonly string[], { name, document }: State): string {
  if (gone.length === 0) return '';
  const skip = `ralph resume ${name}, then ralph task skip ID`;
  return `Gone from ${basename(document)} and still open: ${someOf(gone, 5)} (to leave one out: ${skip}).`;
}

/** Why a goal is not pursued again, and what would do that. */
export function goalOverWords(state: State): string {
  const how = progress(state.tasks).done > 0 ? 'was reached before' : 'was left out (ralph task skip)';
  return `Nothing to do: this goal ${how}; to pursue it again: the same command with --new`;
}

export async function newLoop(ledger: Ledger, { run, document }: Prepared): Promise<Chosen> {
  const taken = new Set((await ledger.store.loops()).map(row => row.name));
  const loop = await freshId();
  return { loop, name: await loopName(run.config.name, document.project, loop, taken) };
}
