// Locks of git: waited for, and taken away when a dead process left them; never one that might still be held (F71).
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { complaint } from './call.ts';
import { ifReadable } from './disk.ts';
import { type ObjectPlace, revision, writeRef } from './objects.ts';
import { isAmong, printable } from './paths.ts';
import { type Done, refuse } from './refusal.ts';

export interface LockRules {
  /** How long a held lock is waited for. */
  readonly waitMsMax: number;
  /** A lock younger than this is never taken away. */
  readonly ageMsMin: number;
  /** Folders in which a living git means that the lock may be its. */
  readonly places: readonly string[];
}

/**
 * A user's lock. Git holds it without an open handle while an editor or a hook runs, so an open handle is not the only
 * sign of life: any git of ours that stands in the repository counts. Ten minutes are longer than any step of git that a
 * crash could leave half done in silence, and a person who comes back sooner sees the lock as they left it.
 */
export const userLock = (places: readonly string[]): LockRules => ({ waitMsMax: 10_000, ageMsMin: 600_000, places });

/** A lock in our own folder: only a git that we started can hold it, and it does so with an open handle. */
export const ownLock: LockRules = { waitMsMax: 60_000, ageMsMin: 0, places: [] };

/** Of a ref that only we write. Git closes it a moment before it takes effect, so a very young one may still be held. */
export const ownRefLock: LockRules = { waitMsMax: 60_000, ageMsMin: 2_000, places: [] };

export type Waited = 'free' | 'reclaimed' | 'held';

const pollMs = 50;

export async function waitForLock(path: string, rules: LockRules): Promise<Waited> {
  const until = Date.now() + rules.waitMsMax;
  for (;;) {
    const stats = ifReadable(() => lstatSync(path, { throwIfNoEntry: false }));
    if (stats === undefined) return 'free';
    if (isAbandoned(path, stats, rules)) {
      await rm(path, { force: true });
      return 'reclaimed';
    }
    if (Date.now() >= until) return 'held';
    await sleep(pollMs);
  }
}

function isAbandoned(path: string, stats: Stats, rules: LockRules): boolean {
  const isOurs = process.getuid === undefined || stats.uid === process.getuid();
  if (!isOurs || !stats.isFile() || Date.now() - stats.mtimeMs < rules.ageMsMin) return false;
  const holders = livingHolders(path, rules.places);
  // Where we cannot look, only age is left; our own locks are then given a minute.
  return holders === undefined ? Date.now() - stats.mtimeMs >= Math.max(rules.ageMsMin, 60_000) : !holders;
}

/** Undefined where the system does not tell. Only processes of this user can be looked into, and only they can hold it. */
function livingHolders(path: string, places: readonly string[]): boolean | undefined {
  if (process.platform !== 'linux') return undefined;
  const file = join(realpathSync(dirname(path)), basename(path));
  const isInside = isAmong(places.map(place => realpathSync(place)));
  return readdirSync('/proc').some(pid => {
    if (!/^\d+$/.test(pid)) return false;
    const linkOf = (name: string): string => ifReadable(() => readlinkSync(`/proc/${pid}/${name}`)) ?? '';
    const handles = ifReadable(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
    const isGit = places.length > 0 && ifReadable(() => readFileSync(`/proc/${pid}/comm`, 'utf8'))?.startsWith('git');
    return (isGit && isInside(linkOf('cwd'))) || handles.some(handle => linkOf(`fd/${handle}`) === file);
  });
}

/**
 * By compare and swap, past a lock that a dead git left: `moved` when it no longer is what it was. An empty `from`: it must
 * not exist yet.
 */
export async function moveRef(
  place: ObjectPlace,
  name: string,
  { to, from }: { readonly to: string; readonly from: string },
): Promise<Done | 'moved'> {
  const moved = await setRef(place, name, to, from === '' ? '0'.repeat(to.length) : from);
  if (moved.ok) return moved;
  const now = await revision(place, name);
  if (now === to) return { ok: true }; // the git that did it was ended before it could say so
  return now === from ? moved : 'moved';
}

/** Without `from`: whatever it is now. */
export const setRef = (place: ObjectPlace, name: string, to: string, from?: string): Promise<Done> =>
  orderRef(place, { name, to, from });

export const removeRef = (place: ObjectPlace, name: string): Promise<Done> => orderRef(place, { name, to: '' });

/** HEAD of a worktree of our own, which then is on no branch. */
export const detachHead = (place: ObjectPlace, name: string, to: string): Promise<Done> =>
  orderRef(place, { name, to, isItself: true });

async function orderRef(place: ObjectPlace, order: Parameters<typeof writeRef>[1]): Promise<Done> {
  for (let tries = 1; ; tries += 1) {
    const done = await writeRef(place, order);
    if (done.ok) return done;
    const lock = /Unable to create '(.+\.lock)': File exists/.exec(done.why)?.[1];
    const rules = order.name === 'HEAD' ? userLock([place.directory]) : ownLock;
    const isFree = lock !== undefined && tries === 1 && (await waitForLock(lock, rules)) !== 'held';
    if (!isFree) return refuse(`git update-ref failed: ${printable(complaint({ errors: done.why, code: null }))}.`);
  }
}
