// Tidying up behind a loop: refs of old checkpoints go behind one ref, and loose objects into packs, while agents work.
import { constants } from 'node:fs';
import { access, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { complaint, git, objectLines } from '../call.ts';
import { moveRef, ownLock, ownRefLock, userLock, waitForLock } from '../locks.ts';
import type { PrivateGit } from '../private.ts';
import { type Done, refuse } from '../refusal.ts';
import { combinePacks, dropLoose, isCollecting, type PackPlace, pack, packPlaceOf } from './packs.ts';
import { archivedIn, archiveOf, makeArchive, refOf, refsIn, unreadable } from './refs.ts';

/** So many checkpoints later it is worth while again. */
const every = 20;
/** So many of the newest keep a ref of their own, for people who look with git alone. */
const kept = 12;

/** `later`: somebody else is at it, or holds what we need. */
export type Tidied = Done | 'later';

/**
 * Safe at every moment, for a kill and for the user's gc: a checkpoint's own ref goes only when the archive's ref holds it,
 * a loose object only when it is in a pack on disk, a pack only when another one on disk holds all of it.
 */
export async function tidy(own: PrivateGit, loop: string, signal: AbortSignal): Promise<Tidied> {
  const at = packPlaceOf(own, signal);
  const refs = await refsIn(at.place, loop);
  if (refs.own.size < every) return { ok: true };
  return alone(at, async () => {
    const folded = await fold(at, loop);
    if (folded === 'later' || !folded.ok) return folded;
    const dropped = await dropLoose(at);
    if (!dropped.ok || signal.aborted) return dropped;
    return combinePacks(at);
  });
}

/** One at a time in a repository. Where we may not write, there is nothing to tidy. */
async function alone(at: PackPlace, action: () => Promise<Tidied>): Promise<Tidied> {
  const lock = join(at.common, 'ralph', 'tidy.lock');
  try {
    await mkdir(join(at.common, 'ralph'), { recursive: true });
    await access(join(at.common, 'objects', 'pack'), constants.W_OK);
  } catch {
    return { ok: true };
  }
  if ((await waitForLock(lock, { ...ownLock, waitMsMax: 0 })) === 'held') return 'later';
  const handle = await open(lock, 'wx').catch(() => undefined);
  if (handle === undefined) return 'later';
  try {
    return (await isCollecting(at)) ? 'later' : await action();
  } finally {
    await rm(lock, { force: true });
    await handle.close();
  }
}

/** The archive and all that the loop's refs hold is packed first, so that both are on disk before a ref is moved. */
async function fold(at: PackPlace, loop: string): Promise<Tidied> {
  const { place } = at;
  const { own, archive, notes } = await refsIn(place, loop);
  const archived = await archivedIn(place, archive);
  if (archived === undefined) return refuse(unreadable(loop));
  const numbers = [...own.keys()].sort((one, other) => one - other);
  const old = numbers.slice(0, -kept);
  const known = new Set(archived.values());
  const checkpoints = new Map(old.map(one => [one, own.get(one)!] as const).filter(([, one]) => !known.has(one)));
  const made =
    checkpoints.size === 0
      ? { ok: true as const, text: archive }
      : await makeArchive(place, { previous: archive, checkpoints, notes });
  if (!made.ok) return made;
  // What came before the loop is the user's; what an archive holds was packed before it got its ref.
  const base = archive === '' ? `${own.get(numbers[0]!)}^@` : archive;
  const packed = await pack(at, [made.text, ...own.values(), ...(notes === '' ? [] : [notes])], [base]);
  if (!packed.ok) return packed;
  const moved = await moveArchive(at, loop, { to: made.text, from: archive });
  if (moved === 'later' || !moved.ok) return moved;
  const orders = old.map(number => `delete ${refOf(loop, number)} ${own.get(number)}\n`);
  return deleteRefs(
    at,
    [...old.map(number => refOf(loop, number))],
    `verify ${archiveOf(loop)} ${made.text}\n${orders.join('')}`,
  );
}

/** A gc that began before the ref was moved did not see it: only when none runs any more and all is there, it counts. */
async function moveArchive(
  at: PackPlace,
  loop: string,
  { to, from }: { readonly to: string; readonly from: string },
): Promise<Tidied> {
  if (to === from) return { ok: true };
  const moved = await moveRef(at.place, archiveOf(loop), { to, from });
  if (moved === 'moved') return 'later';
  if (!moved.ok) return moved;
  if (await isCollecting(at)) return 'later';
  const [found] = await objectLines(at.place, '%(objectname)', [to]);
  return found === to ? { ok: true } : 'later';
}

/** The user's git waits a second for the lock that this takes, so nobody waits for long; a lock that is held means later. */
async function deleteRefs(at: PackPlace, names: readonly string[], orders: string): Promise<Tidied> {
  const user = { ...userLock([at.tree, at.common]), waitMsMax: 0 };
  const ours = { ...ownRefLock, waitMsMax: 0 };
  const waited = await Promise.all([
    waitForLock(join(at.common, 'packed-refs.lock'), user),
    ...names.map(name => waitForLock(join(at.common, `${name}.lock`), ours)),
  ]);
  if (waited.includes('held')) return 'later';
  const done = await git(at.place, ['update-ref', '--stdin'], { input: orders });
  if (done.code === 0) return { ok: true };
  return /\.lock'/.test(done.errors) ? 'later' : refuse(`Old refs cannot be archived: ${complaint(done)}.`);
}

/** Long enough for what follows a checkpoint: by then the next agent works. */
const delayMs = 500;
const closeMsMax = 2_000;

/** Tidies up now and then, in the background, one at a time. What it could not do stands in words until it could. */
export class Tidying {
  private readonly place: () => Promise<PrivateGit>;
  private readonly loop: string;
  private readonly troublePath: string;
  private readonly controller = new AbortController();
  /** The last process may have been cut, the last try too. */
  private isLate = true;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(place: () => Promise<PrivateGit>, loop: string, folder: string) {
    this.place = place;
    this.loop = loop;
    this.troublePath = join(folder, 'untidy');
  }

  /** The checkpoint with this number was made. */
  saved(number: number): void {
    const isDue = number >= every && (number % every === 0 || this.isLate);
    if (!isDue || this.running !== undefined || this.timer !== undefined || this.controller.signal.aborted) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.running = this.run().finally(() => {
        this.running = undefined;
      });
    }, delayMs).unref();
  }

  private async run(): Promise<void> {
    const { signal } = this.controller;
    const tidied = await this.place()
      .then(own => tidy(own, this.loop, signal))
      .catch((error: Error) => refuse(error.message));
    this.isLate = tidied === 'later';
    if (this.isLate || signal.aborted || tidied === 'later') return;
    const note = tidied.ok ? rm(this.troublePath, { force: true }) : writeFile(this.troublePath, tidied.problem);
    await note.catch(() => {});
  }

  /** Why old checkpoints could not be packed the last time, in a sentence; nothing when they could. */
  async trouble(): Promise<readonly string[]> {
    const problem = await readFile(this.troublePath, 'utf8').catch(() => '');
    return problem === '' ? [] : [`could not pack old checkpoints, and will try again: ${problem}`];
  }

  /** What is under way is given a moment, then it is ended: the next process goes on. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    const patience = setTimeout(() => this.controller.abort(), closeMsMax);
    await this.running;
    clearTimeout(patience);
    this.controller.abort();
  }
}
