// Keeps checkpoint records in the loop's folder, and finds the newest that is still what the ledger says it was.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { Bug } from '../text/errors.ts';
import { type CheckpointRecord, type VerifiedRecord, verifyRecord } from '../views/checkpoint-record.ts';

const bytesMax = 4 * 1024 * 1024; // a record has bounds of its own, far below this

export const sha256Of = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

function recordPath(folder: string, number: number): string {
  if (!Number.isSafeInteger(number) || number < 0) throw new Bug(`no checkpoint has the number ${number}`);
  return join(folder, 'checkpoints', `${number}.json`);
}

/** Gives the SHA-256 for the ledger. Throws the system's error, as every write into the loop's folder does. */
export async function writeRecord(folder: string, number: number, redactedText: string): Promise<string> {
  const path = recordPath(folder, number);
  await mkdir(join(folder, 'checkpoints'), { recursive: true, mode: 0o700 });
  await writeFileAtomic(path, '', {
    mode: 0o600,
    fsync: false,
    // Written and synced here, because write-file-atomic takes a short write on a full disk for a whole one.
    async tmpfileCreated(temporary: string) {
      const handle = await open(temporary, 'r+');
      try {
        await handle.writeFile(redactedText, 'utf8');
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
  });
  return sha256Of(redactedText);
}

/** A checkpoint as the ledger lists it. */
export interface RecordRow {
  readonly number: number;
  readonly sha256: string;
}

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'its file is missing',
  ELOOP: 'its file is a link',
};

/** Only what the ledger's hash proves; never waits for a pipe, never follows a link. */
export async function readRecord(folder: string, { number, sha256 }: RecordRow): Promise<VerifiedRecord> {
  const path = recordPath(folder, number);
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { ok: false, problem: 'its file is no file' };
      if (stats.size > bytesMax) return { ok: false, problem: 'its file is too large to be a record' };
      return verifyRecord(await handle.readFile('utf8'), sha256, sha256Of);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    return { ok: false, problem: problems[code] ?? `its file cannot be read: ${message}` };
  }
}

export interface NewestRecord {
  readonly newest?: { readonly number: number; readonly record: CheckpointRecord };
  /** Newer ones that are missing or not what they were; newest first. */
  readonly damaged: readonly { readonly number: number; readonly problem: string }[];
}

/** Recovery takes this one. Reads no more files than it must; of two rows with one number the later holds. */
export async function newestVerified(folder: string, rows: readonly RecordRow[]): Promise<NewestRecord> {
  const hashes = new Map(rows.map(row => [row.number, row.sha256]));
  const damaged: { number: number; problem: string }[] = [];
  for (const [number, sha256] of [...hashes].sort(([a], [b]) => b - a)) {
    const found = await readRecord(folder, { number, sha256 });
    if (found.ok) return { newest: { number, record: found.record }, damaged };
    damaged.push({ number, problem: found.problem });
  }
  return { damaged };
}
