// Packs of a loop's objects: loose ones become a pack, small packs become one, and the user's own gc is never in danger.
import { open, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { complaint, git, gitShell } from '../call.ts';
import type { ObjectPlace } from '../objects.ts';
import type { PrivateGit } from '../private.ts';
import { type Done, refuse } from '../refusal.ts';

export interface PackPlace {
  readonly place: ObjectPlace;
  /** Of all working trees. */
  readonly common: string;
  /** The top of the loop's own. */
  readonly tree: string;
  readonly isPartial: boolean;
  readonly signal: AbortSignal;
}

/** Git stands outside of the tree: one that stands in it would look like somebody who holds a lock there. */
export const packPlaceOf = ({ repository, isPartial }: PrivateGit, signal: AbortSignal): PackPlace => ({
  place: { ...repository, directory: '/', variables: { GIT_DIR: repository.gitDirectory } },
  common: repository.commonDirectory,
  tree: repository.directory,
  isPartial,
  signal,
});

const packMsMax = 600_000;
/** More of ours than this are combined: far below the user's gc.autoPackLimit, which counts all packs. */
const packsMax = 4;
const hour = 3_600_000;

const packFolder = ({ common }: PackPlace): string => join(common, 'objects', 'pack');

/** By the lowest priority. Names of the packs that were made; none when there was nothing to do. */
async function packObjects(at: PackPlace, flags: string, lines: readonly string[]) {
  const packed = await gitShell(
    at.place,
    `exec nice -n 19 git -c core.fsync=committed pack-objects -q --threads=1 --delta-base-offset --non-empty ${flags} "$PACK_BASE"`,
    {
      variables: { PACK_BASE: join(packFolder(at), 'pack') },
      input: lines.map(line => `${line}\n`).join(''),
      timeMsMax: packMsMax,
      signal: at.signal,
    },
  );
  if (packed.code !== 0) return refuse(`git pack-objects failed: ${complaint(packed)}.`);
  await syncFolder(packFolder(at));
  return { ok: true as const, names: packed.output.toString('latin1').split('\n').filter(Boolean) };
}

/** Git syncs a pack, but not the folder that names it. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** What can be reached from `tips` and not from `base`, and is in no pack yet. It is on disk when this ends. */
export async function pack(at: PackPlace, tips: readonly string[], base: readonly string[]): Promise<Done> {
  const partial = at.isPartial ? '--exclude-promisor-objects' : '';
  const lines = [...tips, ...base.map(one => `^${one}`)];
  const made = await packObjects(at, `--revs --sparse --incremental --local ${partial}`, lines);
  if (!made.ok) return made;
  if (made.names.length > 0) await remember(at, [...(await ourPacks(at)), ...made.names]);
  return { ok: true };
}

/** Only loose objects that are in a pack go. */
export async function dropLoose({ place }: PackPlace): Promise<Done> {
  const done = await git(place, ['prune-packed', '-q']);
  return done.code === 0 ? { ok: true } : refuse(`git prune-packed failed: ${complaint(done)}.`);
}

const listOf = ({ common }: PackPlace): string => join(common, 'ralph', 'packs');

/** Read and written by whoever tidies up, alone. Without it our packs are packs like any other. */
async function ourPacks(at: PackPlace): Promise<readonly string[]> {
  const text = await readFile(listOf(at), 'latin1').catch(() => '');
  return text.split('\n').filter(name => /^[0-9a-f]{40,64}$/.test(name));
}

const remember = (at: PackPlace, names: readonly string[]): Promise<void> =>
  writeFile(listOf(at), [...new Set(names)].map(name => `${name}\n`).join(''));

interface Pack {
  readonly name: string;
  readonly bytes: number;
}

/** The smallest, and whichever is not at least twice as large as all that are smaller: so each byte is copied seldom. */
export function toCombine(packs: readonly Pack[]): readonly Pack[] {
  if (packs.length <= packsMax) return [];
  const bySize = [...packs].sort((one, other) => one.bytes - other.bytes);
  let [count, bytes] = [0, 0];
  for (const pack of bySize) {
    if (count >= 2 && pack.bytes >= 2 * bytes) break;
    count += 1;
    bytes += pack.bytes;
  }
  return bySize.slice(0, count);
}

/** Packs of ours become fewer. The user's gc may have taken them over already: those are gone from here. */
export async function combinePacks(at: PackPlace): Promise<Done> {
  const packs: Pack[] = [];
  for (const name of await ourPacks(at)) {
    const [index, found] = await Promise.all(['idx', 'pack'].map(kind => statOf(fileOf(at, name, kind))));
    if (index !== undefined && found !== undefined) packs.push({ name, bytes: found.size });
    // The rest of one whose removal was cut; a young one might be a pack that somebody is just putting there.
    else if (found !== undefined && Date.now() - found.mtimeMs > hour) await removePack(at, name);
  }
  const old = toCombine(packs).map(({ name }) => name);
  const index = await statOf(join(packFolder(at), 'multi-pack-index'));
  if (old.length === 0 || index !== undefined) return { ok: true }; // it names packs that must stay
  const names = old.map(name => `pack-${name}.pack`);
  const made = await packObjects(at, '--stdin-packs', names);
  if (!made.ok) return made;
  await remember(at, [...packs.map(({ name }) => name), ...made.names]);
  if (await isCollecting(at)) return { ok: true };
  for (const name of old) if (!made.names.includes(name)) await removePack(at, name);
  return { ok: true };
}

const fileOf = (at: PackPlace, name: string, kind: string): string => join(packFolder(at), `pack-${name}.${kind}`);

/** First what makes it known. */
async function removePack(at: PackPlace, name: string): Promise<void> {
  for (const kind of ['idx', 'rev', 'pack']) await unlink(fileOf(at, name, kind)).catch(() => {});
}

const statOf = (path: string) => stat(path).catch(() => undefined);

/** The user's git tidies up at this moment. What a dead one left does not count, nor what is older than git itself heeds. */
export async function isCollecting({ common }: PackPlace): Promise<boolean> {
  const [lock, pid] = [join(common, 'objects', 'maintenance.lock'), join(common, 'gc.pid')];
  const isYoung = async (path: string): Promise<boolean> =>
    Date.now() - ((await statOf(path))?.mtimeMs ?? 0) < 12 * hour;
  if (await isYoung(lock)) return true;
  if (!(await isYoung(pid))) return false;
  const [number, host] = (await readFile(pid, 'utf8').catch(() => '')).trim().split(' ');
  return host !== hostname() || isAlive(Number(number));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
