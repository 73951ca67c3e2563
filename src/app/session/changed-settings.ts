// What differs between a loop's settings and those given now, as the command that changes them.

import { UsageError } from '../../text/errors.ts';
import { present } from '../../core/fold.ts';
import type { Command } from '../../core/input.ts';
import { type ChangedSettings, isBounded, type Limits, type Settings } from '../../core/settings.ts';

/** Settings that a person set anew for a loop that goes on. */
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
  if (!isBounded({ ...before.limits, ...limits })) {
    throw nothingBounds();
  }
  const same = (a: readonly string[], b: readonly string[]): boolean =>
    a.length === b.length && a.every((one, at) => one === b[at]);
  const settings = present({
    performers: same(before.performers, wanted.performers) ? undefined : wanted.performers,
    performersByTask: sameTable(before.performersByTask, wanted.performersByTask) ? undefined : wanted.performersByTask,
    performersByPhase: sameTable(before.performersByPhase, wanted.performersByPhase)
      ? undefined
      : wanted.performersByPhase,
    checks: same(before.checks, wanted.checks) ? undefined : wanted.checks,
    promise: before.promise === wanted.promise || !isSet('promise') ? undefined : wanted.promise,
    ...changedKeeping(before, wanted, isSet),
  });
  if (Object.keys(limits).length + Object.keys(settings).length === 0) return undefined;
  return { type: 'limits', limits, settings };
}

/** How work is kept may be changed on the way; where it happens may not. */
function changedKeeping(before: Settings, wanted: Settings, isSet: (key: string) => boolean): ChangedSettings {
  const fixed = isSet('parallel') && before.parallel !== wanted.parallel ? '--parallel' : undefined;
  if (fixed !== undefined)
    throw new UsageError(
      `${fixed} is settled when a loop begins, and this one has begun with ${before.parallel}.`,
      'Leave it out, or start a new loop with --new when this one has ended.',
    );
  return {
    checkpoints: isSet('noCheckpoints') && before.checkpoints && !wanted.checkpoints ? false : undefined,
    commits: isSet('noCommit') && before.commits && !wanted.commits ? false : undefined,
    rollbackAfter:
      isSet('rollbackAfter') && before.rollbackAfter !== wanted.rollbackAfter ? wanted.rollbackAfter : undefined,
  };
}

/** A ledger of 0.1 has no such table. */
function sameTable(before: Readonly<Record<string, string>> | undefined, wanted: Readonly<Record<string, string>>) {
  const old = before ?? {};
  const names = Object.keys(wanted);
  return names.length === Object.keys(old).length && names.every(name => old[name] === wanted[name]);
}

/** The same `--deadline 07:00` a day later must not move the deadline that the loop has. */
function isLaterByTheClock(before: number | null, wanted: number | null, typed: unknown): boolean {
  return before !== null && wanted !== null && wanted > before && /^\d{1,2}:\d{2}$/.test(String(typed));
}

export const nothingBounds = (): UsageError =>
  new UsageError(
    'Nothing would bound this loop any more.',
    'Leave one limit set: unlimited is allowed only beside another.',
  );
