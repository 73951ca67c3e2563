// The ledger's files, looked at without SQLite, because opening a database may already change it.
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, readSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export type Glance =
  | { readonly type: 'missing' }
  | { readonly type: 'damaged'; readonly detail: string }
  | { readonly type: 'database'; readonly userVersion: number; readonly walBytes: number };

const headerBytes = 100;
const magic = 'SQLite format 3\0';

/** The size of the write-ahead log: it grows while a reader holds an old snapshot. */
export function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Cheap: one small read of the database and one of its log (offsets: sqlite.org/fileformat2.html). */
export function glance(path: string): Glance {
  const logged = walBytes(path);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    if (logged === 0) return { type: 'missing' };
    return { type: 'damaged', detail: 'the database is gone, but its write-ahead log is still there' };
  }
  const { bytes, size } = opening(path, headerBytes);
  if (size < headerBytes) return { type: 'damaged', detail: `the file has only ${size} bytes` };
  if (bytes.toString('latin1', 0, 16) !== magic)
    return { type: 'damaged', detail: 'the file does not begin as a database does' };
  const pageBytes = bytes.readUInt16BE(16) === 1 ? 65_536 : bytes.readUInt16BE(16);
  const sizeIsRecorded = bytes.readUInt32BE(24) === bytes.readUInt32BE(92);
  const expected = bytes.readUInt32BE(28) * pageBytes;
  if (logged === 0 && sizeIsRecorded && size < expected) {
    return { type: 'damaged', detail: `the file has ${size} of ${expected} bytes` };
  }
  const log = logged >= walHeaderBytes ? logHeader(path) : undefined;
  if (logged >= walHeaderBytes && log === undefined) return glance(path); // its last user closed it just now
  if (log !== undefined && !walHeaderHolds(log)) {
    return { type: 'damaged', detail: 'the write-ahead log does not begin as one does' };
  }
  return { type: 'database', userVersion: bytes.readUInt32BE(60), walBytes: logged };
}

const logHeader = (path: string): Buffer | undefined => ifThere(() => opening(`${path}-wal`, walHeaderBytes).bytes);

/** The log goes when its last user closes it: undefined when it is gone since we saw it. */
function ifThere<Found>(read: () => Found): Found | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Brings a file, or a folder's list of names, to the disk. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function opening(path: string, most: number): { readonly bytes: Buffer; readonly size: number } {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(most);
    const read = readSync(file, bytes, 0, most, 0);
    return { bytes: bytes.subarray(0, Math.max(read, 0)), size: fstatSync(file).size };
  } finally {
    closeSync(file);
  }
}

export const walHeaderBytes = 32;
export const frameHeaderBytes = 24;

type Sums = [number, number];

/** The log's checksum: two running sums over pairs of words, in the byte order that its magic names. */
function summed(bytes: Buffer, [one, two]: Sums, bigEndian: boolean): Sums {
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    one = (one + (bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + two) >>> 0;
    two = (two + (bigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + one) >>> 0;
  }
  return [one, two];
}

function walHeaderHolds(bytes: Buffer): boolean {
  // A log that shrank to nothing since it was measured, or that a power cut left as zeros, holds nothing to lose.
  if (bytes.length < walHeaderBytes || bytes.every(byte => byte === 0)) return true;
  const word = bytes.readUInt32BE(0);
  if (word !== 0x377f0682 && word !== 0x377f0683) return false;
  const [one, two] = summed(bytes.subarray(0, 24), [0, 0], word === 0x377f0683);
  return one === bytes.readUInt32BE(24) && two === bytes.readUInt32BE(28);
}

/**
 * SQLite reads a log up to its first bad frame and drops the rest without a word. Every commit is synced before the
 * next begins, so a crash leaves at most one commit behind a bad frame; two or more are lost commits.
 */
export function lostCommits(path: string): number {
  const first = countCommitsBehindDamage(path);
  return first > 1 && countCommitsBehindDamage(path) > 1 ? first : 0;
}

function countCommitsBehindDamage(path: string): number {
  if (walBytes(path) <= walHeaderBytes) return 0;
  const log = ifThere(() => readFileSync(`${path}-wal`));
  if (log === undefined || log.length <= walHeaderBytes) return 0;
  if (logHeader(path)?.equals(log.subarray(0, walHeaderBytes)) !== true) return 0;
  const bigEndian = log.readUInt32BE(0) === 0x377f0683;
  const frameBytes = frameHeaderBytes + log.readUInt32BE(8);
  const salts = log.subarray(16, 24);
  let sums: Sums | undefined = [log.readUInt32BE(24), log.readUInt32BE(28)];
  let lost = 0;
  for (let at = walHeaderBytes; at + frameBytes <= log.length; at += frameBytes) {
    const frame = log.subarray(at, at + frameBytes);
    const isOurs = frame.subarray(8, 16).equals(salts);
    sums = isOurs && sums !== undefined ? sumsAfter(frame, sums, bigEndian) : undefined;
    if (sums === undefined && isOurs && frame.readUInt32BE(4) !== 0) lost += 1;
  }
  return lost;
}

/** Undefined: they are not those that the frame names. */
function sumsAfter(frame: Buffer, sums: Sums, bigEndian: boolean): Sums | undefined {
  const found = summed(frame.subarray(frameHeaderBytes), summed(frame.subarray(0, 8), sums, bigEndian), bigEndian);
  return found[0] === frame.readUInt32BE(16) && found[1] === frame.readUInt32BE(20) ? found : undefined;
}

/**
 * File systems on which a write-ahead log is not safe, because processes on two machines cannot share its memory; by the
 * magic numbers of Linux (statfs(2), linux/magic.h).
 */
const networkTypes: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x564c, 'NCP'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x7461636f, 'OCFS2'],
  [0x01161970, 'GFS2'],
  [0x786f4256, 'VirtualBox shared folder'],
  [0xbacbacbc, 'VMware shared folder'],
]);

export function networkTypeName(type: number): string | undefined {
  return networkTypes.get(type >>> 0);
}

/** The name of the network file system that holds `path` (or would), if it is one. */
export function networkFileSystem(
  path: string,
  typeOf: (folder: string) => number = folder => statfsSync(folder).type,
): string | undefined {
  if (process.platform !== 'linux') return undefined;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    try {
      return networkTypeName(typeOf(folder));
    } catch {
      if (dirname(folder) === folder) return undefined;
    }
  }
}
