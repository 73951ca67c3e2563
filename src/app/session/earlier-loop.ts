// Earlier loops of a document: its unfinished one, one that ended with work left, or none, so that a new one begins.
import { basename } from 'node:path';
import { hasUserDocument, type State } from '../../core/state.ts';
import { allTasks, emptyTable, openTasks, progress } from '../../core/task.ts';
import { identify, knownTasks } from '../../core/task-identity.ts';
import type { ParsedDocument } from '../../documents/document.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Mode } from '../../modes/mode.ts';
import { someOf } from '../../text/format.ts';
import { endedUnasked } from '../../views/ending.ts';
import { type Environment, hasLedger, openLedger, stateOf } from '../app.ts';
import { newestLoop } from '../loops/find.ts';

interface Work {
  readonly path: string;
  readonly mode: Mode;
  readonly document: ParsedDocument;
}

export const hasWork = ({ mode, document }: Omit<Work, 'path'>): boolean =>
  mode.findsTasks === true || document.tasks.some(task => !task.done && !task.skipped);

export type Earlier =
  | { readonly type: 'open'; readonly state: State }
  /** Neither done nor stopped by a person: going on with new counters must be said (ADR 4). */
  | { readonly type: 'ended'; readonly state: State; readonly gone: readonly string[] }
  /** Its last loop is over, and no document says so yet: a goal has none, and the marks of a branch are not merged. */
  | { readonly type: 'over'; readonly state: State };

export async function earlierLoop(ledger: Ledger, work: Work): Promise<Earlier | undefined> {
  const { mode, document, path } = work;
  const state = (await newestLoop(ledger, path))?.state;
  if (state === undefined) return undefined;
  if (state.control.ended === undefined) return { type: 'open', state };
  if (mode.endsForGood && state.document.isLoaded && progress(state.tasks).open === 0) return { type: 'over', state };
  const { specs } = identify(knownTasks(state.tasks), document.tasks);
  const shown = new Map(specs.map(spec => [spec.id, spec.done || spec.skipped]));
  // What the loop left open and no person has ticked since; some of it may be gone from the document.
  const left = openTasks(state.tasks).filter(({ id }) => shown.get(id) !== true);
  const gone = left.filter(({ id }) => !shown.has(id)).map(task => task.id);
  const isLeft = mode.findsTasks === true || left.length > 0;
  // Also after a stop: "nothing to do" is not said while the ledger has tasks that only the document lacks.
  return isLeft && (endedUnasked(state) || !hasWork(work)) ? { type: 'ended', state, gone } : undefined;
}

interface LedgerPlace {
  readonly home: string;
  readonly env: Environment;
  /** Absent: that of `home`, where there is one. */
  readonly ledger?: Ledger | undefined;
  /** A loop that is meant whatever came after it. */
  readonly resumes?: string | undefined;
}

/** The newest loop of a document, or the one that is meant. Only looked up, and in silence: whoever opens the ledger to write says what is wrong. */
export async function newestState(place: LedgerPlace, path: string): Promise<State | undefined> {
  const { home, env, ledger, resumes } = place;
  if (ledger !== undefined)
    return resumes === undefined ? (await newestLoop(ledger, path))?.state : (await stateOf(ledger, resumes)).state;
  if (!hasLedger(home)) return undefined;
  const opened = await openLedger({ home, env, warn: () => {}, readOnly: true }).catch(() => undefined);
  try {
    return opened === undefined ? undefined : await newestState({ ...place, ledger: opened }, path);
  } catch {
    return undefined;
  } finally {
    await opened?.store.close();
  }
}

/** By the ids that the document has for them. */
export const closedIn = (state: State | undefined): ReadonlySet<string> =>
  new Set(
    [...allTasks(state?.tasks ?? emptyTable)]
      .filter(({ status }) => status === 'done' || status === 'skipped')
      .map(({ id, spec: { documentId } }) => documentId ?? id),
  );

/** Empty where the document still shows all that is open. */
export function missingTasksWords(gone: readonly string[], { loop: { name, document } }: State): string {
  if (gone.length === 0) return '';
  const skip = `ralph resume ${name}, then ralph task skip ID`;
  return `Gone from ${basename(document)} and still open: ${someOf(gone, 5)} (to leave one out: ${skip}).`;
}

/** Why a goal is not pursued again, and what would do that. */
export function goalOverWords(state: State): string {
  const { branch } = state.loop;
  if (branch !== undefined && hasUserDocument(state))
    return `Nothing to do: its tasks are done on the branch ${branch}. Bring them in: git merge ${branch}; to do them again: the same command with --new`;
  const how = progress(state.tasks).done > 0 ? 'was reached before' : 'was left out (ralph task skip)';
  return `Nothing to do: this goal ${how}; to pursue it again: the same command with --new`;
}
