// Text files that other programs may change, cut or replace at any time: their text, or exactly why it cannot be read.
import { isUtf8 } from 'node:buffer';
import { type BigIntStats, constants, statSync } from 'node:fs';
import { type FileHandle, link, open, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { visible } from '../text/text.ts';
import type { Problem } from './document.ts';

/** Inode, size, mtime and ctime: equal means that nothing was written in between. */
export type FileIdentity = string;

type ReadText =
  | {
      readonly type: 'text';
      readonly text: string;
      readonly bytes: Buffer;
      readonly identity: FileIdentity;
      readonly mode: number;
    }
  /** `broken`: the bytes are there but are no text that we accept. `unusable`: not ours to replace. */
  | { readonly type: 'missing' | 'broken' | 'unusable'; readonly problem: Problem };

export function identityOf(stats: BigIntStats): FileIdentity {
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
}

/** Undefined when there is no file, or none that we may look at. Made at once: another thread would take longer to answer. */
export function identify(path: string): FileIdentity | undefined {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
}

/**
 * The identity is the one from before the read: what is written meanwhile shows as a change at the next look. `flags` add
 * to how it is opened; problems call it by its `name`.
 */
export async function readText(path: string, bytesMax: number, name = visible(path), flags = 0): Promise<ReadText> {
  let handle: FileHandle | undefined;
  try {
    // NONBLOCK: opening a named pipe in place of the file must not wait for a writer.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
    const stats = await handle.stat({ bigint: true });
    if (stats.isDirectory()) return unusable(`${name} is a directory.`, 'Name the file in it.');
    if (!stats.isFile()) return unusable(`${name} is not a file.`, 'Name a regular file.');
    if (stats.size > bytesMax) {
      const size = `${bytesMax / 1024 / 1024} MB`;
      return unusable(`${name} is larger than ${size}.`, 'Make it smaller or split it.');
    }
    const buffer = Buffer.alloc(Number(stats.size));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    const bytes = buffer.subarray(0, bytesRead);
    const problem = textProblem(name, bytes);
    if (problem) return { type: 'broken', problem };
    const mode = Number(stats.mode) & 0o7777;
    return { type: 'text', text: bytes.toString('utf8'), bytes, identity: identityOf(stats), mode };
  } catch (error) {
    return unreadable(name, error);
  } finally {
    await handle?.close();
  }
}

/** Of a document: larger ones are no work for an agent. */
export const documentBytesMax = 64 * 1024 * 1024;
export const insideBytesMax = 1024 * 1024;

/** A file of a folder where others write: no link out of it is followed. */
export async function readInside(directory: string, name: string): Promise<ReadText> {
  try {
    const [folder, file] = await Promise.all([realpath(directory), realpath(join(directory, name))]);
    const way = relative(folder, file);
    // The path was resolved, so a link there is a swap.
    if (way !== '..' && !way.startsWith(`..${sep}`)) return readText(file, insideBytesMax, name, constants.O_NOFOLLOW);
  } catch (error) {
    return unreadable(name, error);
  }
  const message = `${visible(name)} is a link that leads out of the project and is not followed.`;
  return unusable(message, 'Replace it by a plain file.');
}

/** Empty where there is no text. */
export async function readTextInside(directory: string, ...way: readonly string[]): Promise<string> {
  const read = await readInside(directory, join(...way));
  return read.type === 'text' ? read.text : '';
}

function textProblem(name: string, bytes: Buffer): Problem | undefined {
  const fix = 'Save it as UTF-8.';
  const first = bytes.subarray(0, 2).toString('hex');
  if (first === 'fffe' || first === 'feff') return { message: `${name} is UTF-16 text, not UTF-8.`, fix };
  const nul = bytes.indexOf(0);
  if (nul !== -1) return { message: `${name} holds a NUL byte at byte ${nul}, so it is no text.`, fix };
  if (isUtf8(bytes)) return undefined;
  const invalid = invalidUtf8Offset(bytes);
  const line = bytes.subarray(0, invalid).toString('latin1').split('\n').length;
  return { message: `${name} is not valid UTF-8 at byte ${invalid}.`, line, fix };
}

/** The decoder puts U+FFFD where it failed; the first one that does not stand in the bytes themselves is the place. */
function invalidUtf8Offset(bytes: Buffer): number {
  const text = bytes.toString('utf8');
  let offset = 0;
  let from = 0;
  for (let at = text.indexOf('\uFFFD'); at !== -1; at = text.indexOf('\uFFFD', from)) {
    offset += Buffer.byteLength(text.slice(from, at));
    if (bytes.subarray(offset, offset + 3).toString('hex') !== 'efbfbd') return offset;
    offset += 3;
    from = at + 1;
  }
  return bytes.length;
}

function unusable(message: string, fix: string): ReadText {
  return { type: 'unusable', problem: { message, fix } };
}

function unreadable(name: string, error: unknown): ReadText {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return { type: 'missing', problem: { message: `${name} does not exist.`, fix: 'Check the path.' } };
  }
  if (code === 'EACCES' || code === 'EPERM')
    return unusable(`${name} may not be read.`, 'Give yourself the permission.');
  return unusable(`${name} cannot be read (${code}).`, 'Check the path and the disk.');
}

/** ENOSPC, EACCES …; the class of the error when it came from elsewhere. */
export function errorCode(error: unknown): string {
  if (error instanceof Error) return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return 'unknown';
}

// The user's instructions for the agent (PROMPT.md), with a first version when there are none.

const instructionsBytesMax = 1024 * 1024;

export interface InstructionsFile {
  readonly path: string;
  /** What holds where there is no file. */
  readonly text: string;
  /** A first version is written where there is none. */
  readonly isWritten: boolean;
}

/** What would keep a loop from using this file; a file that does not exist yet is none. */
export async function checkInstructions(path: string): Promise<readonly Problem[]> {
  const read = await readText(path, instructionsBytesMax);
  if (read.type === 'missing') return [];
  if (read.type !== 'text') return [read.problem];
  if (!isBlank(read.text)) return [];
  return [{ message: `${visible(path)} is empty.`, fix: 'Write the instructions, or delete the file to get ours.' }];
}

/** A function that gives the current text: the file's, or the last good one when the file became unusable. */
export function instructionsReader(
  { path, text: defaultText, isWritten }: InstructionsFile,
  read = readText,
): () => Promise<string> {
  let known: { readonly text: string; readonly identity: FileIdentity | undefined } | undefined;
  return async () => {
    const identity = identify(path);
    if (known && (identity === known.identity || identity === undefined)) return known.text;
    // Where we may not write, the default text serves all the same.
    if (identity === undefined && isWritten) await writeFirst(path, defaultText).catch(() => undefined);
    const found: ReadText = await read(path, instructionsBytesMax);
    const isUsable = found.type === 'text' && !isBlank(found.text);
    known = {
      text: isUsable ? found.text.replace(/^\uFEFF/, '') : (known?.text ?? defaultText),
      identity: isUsable ? found.identity : identity,
    };
    return known.text;
  };
}

/** Whole or not at all: half of it would keep the next start from going on. Whatever appeared meanwhile is the user's. */
async function writeFirst(path: string, text: string): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.ralph-new`);
  await rm(draft, { force: true }); // of a start that was cut
  await writeFile(draft, text, { flag: 'wx' });
  try {
    await link(draft, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') await writeFile(path, text, { flag: 'wx' }); // this file system knows no links
  } finally {
    await rm(draft, { force: true });
  }
}

function isBlank(text: string): boolean {
  return text.trim() === ''; // trim takes a BOM for space
}
