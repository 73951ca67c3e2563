// Small text files that we do not trust: bounded, regular files only, UTF-8, and no symlink out of their project.
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';

type Refused = Extract<FileText, { type: 'refused' }>;

export type FileText =
  | { readonly type: 'absent' }
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'refused';
      readonly why: 'not-a-file' | 'too-large' | 'outside' | 'unreadable' | 'encoding';
      readonly message: string;
      readonly fix: string;
    };

const fileBytesMax = 1_048_576;

const refused = (why: Refused['why'], message: string, fix = 'replace it by a plain file'): Refused => ({
  type: 'refused',
  why,
  message,
  fix,
});

/** `within`: the file may not lead out of its own folder (B30). */
export async function readTextFile(directory: string, name: string, within: boolean): Promise<FileText> {
  let path = join(directory, name);
  let handle: FileHandle | undefined;
  try {
    if (within) {
      const [folder, file] = await Promise.all([realpath(directory), realTarget(path)]);
      if (file === undefined) return { type: 'absent' };
      const way = relative(folder, file);
      if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
        return refused('outside', 'it is a link that leads out of the project and is not followed');
      path = file;
    }
    // Non-blocking, so that a named pipe cannot hold us; the path was resolved above, so a link here is a swap.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | (within ? constants.O_NOFOLLOW : 0));
    return await readBounded(handle);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code === 'ENOENT' || code === 'ENOTDIR') return { type: 'absent' };
    return refused('unreadable', `it cannot be read (${code})`);
  } finally {
    await handle?.close();
  }
}

/** A dangling link counts as absent: there is nothing to follow. */
async function realTarget(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function readBounded(handle: FileHandle): Promise<FileText> {
  if (!(await handle.stat()).isFile()) return refused('not-a-file', 'it is not a regular file');
  const bytes = new Uint8Array(fileBytesMax + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > fileBytesMax) return refused('too-large', 'it is larger than 1 MB');
  return decodeUtf8(bytes.subarray(0, length));
}

/** Without its byte order mark; the first byte that is not UTF-8 is named. */
function decodeUtf8(bytes: Uint8Array): FileText {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  let byteAt = 0;
  let from = 0;
  for (let at = text.indexOf('\ufffd'); at !== -1; at = text.indexOf('\ufffd', at + 1)) {
    byteAt += Buffer.byteLength(text.slice(from, at));
    from = at;
    const isReal = bytes[byteAt] === 0xef && bytes[byteAt + 1] === 0xbf && bytes[byteAt + 2] === 0xbd;
    if (!isReal) return refused('encoding', `byte ${byteAt} is not valid UTF-8`, 'save the file as UTF-8');
  }
  return { type: 'text', text: text.startsWith('\ufeff') ? text.slice(1) : text };
}
