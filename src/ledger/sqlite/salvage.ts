// Saves what still verifies from a damaged database into a new one, and keeps the damaged files aside untouched.
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StoreFailure } from '../ledger.ts';
import { writeDatabase } from './create.ts';
import { extract, type Saved } from './extract.ts';
import { failure, isSqliteError } from './failure.ts';
import { sync } from './files.ts';
import type { Liveness } from './leases.ts';
import type { Schema } from './schema.ts';

export interface Damage {
  readonly path: string;
  readonly detail: string;
  readonly schema: Schema;
  readonly liveness: Liveness;
  readonly now: () => number;
}

/** How much of the first page is replaced by that of a fresh database: nothing, the file's header, all of it. */
const transplantBytes = [0, 100, 4_096];
const headerBytes = 100;

/** A length that the header claims is believed up to this many pages beyond the double of what is there. */
const growthPagesMax = 1_000_000;

export async function salvage({ path, detail, schema, liveness, now }: Damage): Promise<StoreFailure> {
  const before = inodeOf(path);
  const scratch = mkdtempSync(`${path}.salvage-`);
  try {
    const fresh = join(scratch, 'fresh.db');
    await writeDatabase(fresh, schema, liveness);
    let best: { readonly file: string; readonly saved: Saved } | undefined;
    for (const bytes of transplantBytes) {
      const file = join(scratch, `saved-${bytes}.db`);
      copyFileSync(fresh, file);
      const saved = attempt(path, join(scratch, `damaged-${bytes}.db`), file, fresh, bytes);
      if (best === undefined || saved.events > best.saved.events) best = { file, saved };
      if (saved.isWhole) break;
    }
    if (best === undefined || inodeOf(path) !== before)
      return failure('busy', path, `${path} is being repaired by another process`);
    const aside = putAside(path, best.file, new Date(now()).toISOString().replaceAll(/[:.]/g, '-'));
    const { events, loops } = best.saved;
    const told = `${path} was damaged: ${detail}. It lies unchanged in ${aside}; ${events} events of ${loops} loops were saved from it`;
    return { ...failure('corrupt', path, told), hint: 'Run the same command again: it goes on with what was saved.' };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function inodeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0;
}

/** Works on a copy, because already opening a damaged database may change it. */
function attempt(path: string, copy: string, target: string, fresh: string, bytes: number): Saved {
  if (!existsSync(path)) return { events: 0, loops: 0, isWhole: true };
  copyFileSync(path, copy);
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`);
  transplant(copy, fresh, bytes);
  const to = new DatabaseSync(target);
  try {
    const from = new DatabaseSync(copy);
    try {
      return extract(from, to);
    } finally {
      from.close();
    }
  } catch (error) {
    if (!isSqliteError(error)) throw error;
    return { events: 0, loops: 0, isWhole: false };
  } finally {
    // So that one file holds everything.
    to.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    to.close();
  }
}

/**
 * Every ledger of one version begins alike but for the counts, so the beginning of a fresh one can stand in. What was
 * cut off is filled with zeros, because SQLite refuses every page of a file that is shorter than it says.
 */
function transplant(copy: string, fresh: string, bytes: number): void {
  const file = openSync(copy, 'r+');
  try {
    const { size } = fstatSync(file);
    const header = Buffer.alloc(headerBytes);
    readSync(file, header, 0, headerBytes, 0);
    const donor = readFileSync(fresh);
    const pageBytes = donor.readUInt16BE(16);
    const claimed = header.readUInt16BE(16) === pageBytes ? header.readUInt32BE(28) : 0;
    const here = Math.ceil(size / pageBytes);
    const pages = Math.max(here, donor.readUInt32BE(28), claimed <= 2 * here + growthPagesMax ? claimed : 0);
    ftruncateSync(file, pages * pageBytes);
    if (bytes === 0) return;
    donor.writeUInt32BE(pages, 28);
    donor.writeUInt32BE(0, 32); // no free pages: none will be written
    donor.writeUInt32BE(0, 36);
    writeSync(file, donor, 0, bytes, 0);
  } finally {
    closeSync(file);
  }
}

/** The log goes first: beside a new database it would be read as the new one's. */
function putAside(path: string, saved: string, stamp: string): string {
  let aside = `${path}.corrupt-${stamp}`;
  for (let count = 2; existsSync(aside) || existsSync(`${aside}-wal`); count += 1)
    aside = `${path}.corrupt-${stamp}-${count}`;
  for (const end of ['-wal', '-shm']) if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${aside}${end}`);
  if (existsSync(path)) linkSync(path, aside);
  sync(saved);
  renameSync(saved, path);
  sync(dirname(path));
  return aside;
}
