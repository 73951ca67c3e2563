// Which loop is meant by a document: its unfinished one, one that ended with work left, or a new one.
import { freshId, loopName, stateOf } from '../app.ts';
import type { State } from '../core/state.ts';
import { progress } from '../core/task.ts';
import type { Ledger } from '../ports/store.ts';
import { endedUnasked } from '../views/ending.ts';
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
  | { readonly type: 'ended'; readonly state: State };

export async function earlierLoop(ledger: Ledger, prepared: Prepared): Promise<Earlier | undefined> {
  const [newest] = await ledger.store.loops({ document: prepared.path });
  if (newest === undefined) return undefined;
  const { loop, name } = newest;
  const { state } = await stateOf(ledger, loop);
  if (state.ended === undefined) return { type: 'open', chosen: { loop, name, state } };
  const isLeft = hasWork(prepared) && (progress(state.tasks).open > 0 || prepared.mode === 'review');
  return endedUnasked(state) && isLeft ? { type: 'ended', state } : undefined;
}

export async function newLoop(ledger: Ledger, { run, document }: Prepared): Promise<Chosen> {
  const taken = new Set((await ledger.store.loops()).map(row => row.name));
  const loop = await freshId();
  return { loop, name: await loopName(run.config.name, document.project, loop, taken) };
}
