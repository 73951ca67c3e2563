// What differs between a loop's settings and those given now, as the command that changes them.
import type { Command } from '../../core/input.ts';
import type { Settings } from '../../core/limits.ts';

/** Settings that a person set anew for a loop that goes on. */
export function changedSettings(
  before: Settings,
  wanted: Settings,
  isSet: (key: string) => boolean,
): Command | undefined {
  const limits = Object.fromEntries(
    Object.entries(wanted.limits).filter(
      ([key, value]) => isSet(key) && before.limits[key as keyof Settings['limits']] !== value,
    ),
  );
  const same = (a: readonly string[], b: readonly string[]): boolean =>
    a.length === b.length && a.every((one, at) => one === b[at]);
  const settings = {
    ...(same(before.performers, wanted.performers) ? {} : { performers: wanted.performers }),
    ...(same(before.checks, wanted.checks) ? {} : { checks: wanted.checks }),
    ...(before.promise === wanted.promise || !isSet('promise') ? {} : { promise: wanted.promise }),
  };
  if (Object.keys(limits).length + Object.keys(settings).length === 0) return undefined;
  return { type: 'limits', limits, settings };
}
