// The loop that a document means (its unfinished one, one that ended with work left, or a new one), and what it keeps when it goes on.
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Command } from '../../core/input.ts';
import { isBounded, type Limits, type Settings } from '../../core/settings.ts';
import { present, type State } from '../../core/state.ts';
import { allTasks, emptyTable, openTasks, progress } from '../../core/task.ts';
import { identify, knownTasks } from '../../core/task-identity.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { canonical } from '../../text/canonical.ts';
import { UsageError } from '../../text/errors.ts';
import { someOf } from '../../text/format.ts';
import { endedUnasked } from '../../views/ending.ts';
import { type Environment, freshId, hasLedger, loopFolder, loopName, openLedger, stateOf } from '../app.ts';
import { buildChecks, judgeNamed } from '../checks.ts';
import { newestLoop } from '../loops/find.ts';
import { nothingBounds } from '../problems.ts';
import type { Prepared, Remembered } from './prepare.ts';

export interface Chosen {
  readonly loop: string;
  readonly name: string;
  /** Absent for a new loop. */
  readonly state?: State;
}

export const hasWork = ({ mode, document }: Pick<Prepared, 'mode' | 'document'>): boolean =>
  mode.findsTasks === true || document.tasks.some(task => !task.done && !task.skipped);

export type Earlier =
  | { readonly type: 'open'; readonly chosen: Chosen & { readonly state: State } }
  /** Neither done nor stopped by a person: going on with new counters must be said (ADR 4). */
  | { readonly type: 'ended'; readonly state: State; readonly gone: readonly string[] }
  /** A goal whose last loop is over: no document says so, only the ledger. */
  | { readonly type: 'over'; readonly state: State };

export async function earlierLoop(ledger: Ledger, prepared: Prepared): Promise<Earlier | undefined> {
  const [newest] = await ledger.store.loops({ document: prepared.path });
  if (newest === undefined) return undefined;
  const { loop, name } = newest;
  const { state } = await stateOf(ledger, loop);
  if (state.control.ended === undefined) return { type: 'open', chosen: { loop, name, state } };
  if (prepared.mode.endsForGood && state.document.isLoaded && progress(state.tasks).open === 0)
    return { type: 'over', state };
  const { left, gone } = leftIn(state, prepared);
  const isLeft = prepared.mode.findsTasks === true || left > 0;
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

/** Looks into the ledger, where there is one that can be read. */
type Look = <Found>(work: (ledger: Ledger) => Promise<Found>) => Promise<Found | undefined>;

/** Read only, and in silence: whoever opens it to write says what is wrong with it. */
export const lookInto =
  (home: string, env: Environment): Look =>
  async work => {
    if (!hasLedger(home)) return undefined;
    const ledger = await openLedger({ home, env, warn: () => {}, readOnly: true }).catch(() => undefined);
    try {
      return ledger && (await work(ledger));
    } catch {
      return undefined;
    } finally {
      await ledger?.store.close();
    }
  };

/** What earlier loops of a document know, looked up before anything is written; a new loop takes no settings over. */
export function previousLoop(home: string, isNew: boolean, look: Look): Remembered {
  const newest = (path: string) => look(ledger => newestLoop(ledger, path));
  return {
    async lastGood(path) {
      const [row] = (await look(({ store }) => store.loops({ document: path, open: true }))) ?? [];
      const copy = row === undefined ? undefined : join(loopFolder(home, row.loop), 'document');
      return copy !== undefined && existsSync(copy) ? copy : undefined;
    },
    async settings(path) {
      const state = isNew ? undefined : (await newest(path))?.state;
      return state?.control.ended === undefined ? state?.settings : undefined;
    },
    closed: async path => closedIn((await newest(path))?.state),
  };
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
  const how = progress(state.tasks).done > 0 ? 'was reached before' : 'was left out (ralph task skip)';
  return `Nothing to do: this goal ${how}; to pursue it again: the same command with --new`;
}

export async function newLoop(ledger: Ledger, { run, document }: Prepared): Promise<Chosen> {
  const taken = new Set((await ledger.store.loops()).map(row => row.name));
  const loop = await freshId();
  return { loop, name: await loopName(run.config.name, document.project, loop, taken) };
}

const providedPrefix = 'own check: ';

/** As a check that a program brings along stands among the checks of a loop: nobody else can run it. */
export const providedCheckName = (name: string): string => `${providedPrefix}${name}`;

/** A loop that goes on keeps its checks unless a person names others: proof never goes away silently. */
export async function checksOnResume(prepared: Prepared, state: State | undefined): Promise<Prepared> {
  const { run, provided, mode, directory, home, env } = prepared;
  const isSaid = run.isSet('verify') || provided.checks.length > 0;
  if (state === undefined || isSaid || mode.conversation !== undefined) return prepared;
  const names = state.settings.checks;
  if (names.some(command => command.includes('[redacted:')))
    throw new UsageError(
      'A check of this loop holds a secret, which is not kept.',
      'Give the checks again: --verify CMD',
    );
  const lost = names.filter(name => name.startsWith(providedPrefix)).map(name => name.slice(providedPrefix.length));
  if (lost.length > 0)
    throw new UsageError(
      `A program brought a check of this loop along: ${lost.join(', ')}.`,
      'Go on with that program, or name other checks: --verify CMD',
    );
  const judge = names.flatMap(name => judgeNamed(name) ?? [])[0] ?? run.config.judge;
  const config = { ...run.config, verify: names.filter(name => judgeNamed(name) === undefined), judge };
  const checks = await buildChecks({ config, directory, home, env });
  return { ...prepared, checks, run: { ...run, config, settings: { ...run.settings, checks: names } } };
}

const ifChanged = <Value>(before: Value, wanted: Value): Value | undefined =>
  canonical({ value: before }) === canonical({ value: wanted }) ? undefined : wanted;

/** The settings that a person set anew for a loop that goes on, as the command that changes them. */
export function changedSettings(
  before: Settings,
  wanted: Settings,
  isSet: (key: string) => boolean,
  flags: Readonly<Record<string, unknown>> = {},
): Command | undefined {
  const limits: Partial<Limits> = Object.fromEntries(
    Object.entries(wanted.limits).filter(
      ([key, value]) =>
        isSet(key) &&
        before.limits[key as keyof Limits] !== value &&
        !(key === 'deadlineAt' && isLaterByTheClock(before.limits.deadlineAt, value, flags['deadline'])),
    ),
  );
  if (!isBounded({ ...before.limits, ...limits })) throw nothingBounds();
  if (isSet('parallel') && before.parallel !== wanted.parallel)
    throw new UsageError(
      `--parallel is settled when a loop begins, and this one has begun with ${before.parallel}.`,
      'Leave it out, or start a new loop with --new when this one has ended.',
    );
  const settings = present({
    performers: ifChanged(before.performers, wanted.performers),
    // A ledger of 0.1 has no such tables.
    performersByTask: ifChanged(before.performersByTask ?? {}, wanted.performersByTask),
    performersByPhase: ifChanged(before.performersByPhase ?? {}, wanted.performersByPhase),
    checks: ifChanged(before.checks, wanted.checks),
    promise: isSet('promise') ? ifChanged(before.promise, wanted.promise) : undefined,
    checkpoints: isSet('noCheckpoints') && before.checkpoints && !wanted.checkpoints ? false : undefined,
    commits: isSet('noCommit') && before.commits && !wanted.commits ? false : undefined,
    rollbackAfter: isSet('rollbackAfter') ? ifChanged(before.rollbackAfter, wanted.rollbackAfter) : undefined,
  });
  if (Object.keys(limits).length + Object.keys(settings).length === 0) return undefined;
  return { type: 'limits', limits, settings };
}

/** The same `--deadline 07:00` a day later must not move the deadline that the loop has. */
function isLaterByTheClock(before: number | null, wanted: number | null, typed: unknown): boolean {
  return before !== null && wanted !== null && wanted > before && /^\d{1,2}:\d{2}$/.test(String(typed));
}
