// Origin of a command: whether it comes out of a loop's own agent or check, told by the living processes that the ledger knows (F34).

import type { LiveIteration } from '../core/state.ts';
import type { Holder, Ledger, LoopRow } from '../ledger/ledger.ts';
import { thisHost } from '../processes/identity.ts';
import { type Ancestry, ancestry, keyOf, type RecordedProcess } from '../processes/tree.ts';
import { stateOf } from './app.ts';

/** The loop that we were started by, and by which of its iterations; without one: a check, or nobody can tell. */
export interface Origin {
  readonly row: LoopRow;
  readonly live?: LiveIteration;
}

const bootIdOf = (boot: string): string => boot.split(' ')[0] ?? '';

/** How long a namespace may take to begin after its recorded process (clock ticks of a hundredth of a second). */
const beginTicksMax = 1_000;

/** Environments can be cleared, ancestors cannot. Only loops that a living process holds are looked at. */
export async function loopAbove(ledger: Ledger, us = ancestry(), { boot } = thisHost()): Promise<Origin | undefined> {
  let guess: Origin | undefined;
  for (const row of await ledger.store.loops({ open: true })) {
    const held = await ledger.store.holder(row.loop);
    const holder = held?.lease.holder;
    if (holder === undefined || bootIdOf(holder.boot) !== bootIdOf(boot)) continue;
    const { state } = await stateOf(ledger, row.loop);
    const live = state.live.find(one => isAbove(us, one, holder.boot === boot));
    if (live !== undefined) return { row, live };
    if (isAmong(us, holder)) return { row };
    if (!held?.alive || !isSince(us, holder)) continue;
    const namespaced = beganWith(us, state.live);
    if (namespaced !== undefined) return { row, live: namespaced };
    guess ??= { row };
  }
  return guess;
}

const isAmong = ({ above }: Ancestry, one: RecordedProcess): boolean => above.some(each => keyOf(each) === keyOf(one));

/** A number alone means something only among those who count alike. */
const isAbove = (us: Ancestry, { process: recorded }: LiveIteration, sameNumbers: boolean): boolean =>
  recorded !== undefined && (isAmong(us, recorded) || (sameNumbers && us.session === recorded.pid));

const isSince = ({ namespaceSince }: Ancestry, { startTime }: Holder): boolean =>
  namespaceSince !== undefined && Number(startTime) <= Number(namespaceSince);

/** The namespace hides the recorded process, which began it a moment before. */
function beganWith({ namespaceSince }: Ancestry, live: readonly LiveIteration[]): LiveIteration | undefined {
  const ticksAfter = (one: LiveIteration): number => Number(namespaceSince) - Number(one.process?.startTime);
  return live
    .filter(one => ticksAfter(one) >= 0 && ticksAfter(one) <= beginTicksMax)
    .toSorted((one, other) => ticksAfter(one) - ticksAfter(other))[0];
}
