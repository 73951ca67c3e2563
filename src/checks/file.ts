// A file as proof: it is there, inside the folder of the work, and holds a literal text if one is asked for.
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { isAbsolute, join, normalize, sep } from 'node:path';
import type { Check } from './check.ts';

export interface FileProof {
  /** Relative to the folder of the work. */
  readonly path: string;
  readonly contains?: string;
}

export type ReadProof =
  | { readonly ok: true; readonly proof: FileProof }
  | { readonly ok: false; readonly problem: string };

const prefix = 'file:';
const contains = ' contains ';
const bytesMax = 64 * 1024 * 1024;

/** `file:PATH` or `file:PATH contains TEXT`; undefined for anything else, which is a command. */
export function fileProofOf(text: string): ReadProof | undefined {
  if (!text.startsWith(prefix)) return undefined;
  const rest = `${text.slice(prefix.length).trim()} `;
  const at = rest.indexOf(contains);
  const path = (at === -1 ? rest : rest.slice(0, at)).trim();
  const wanted = at === -1 ? undefined : rest.slice(at + contains.length).trim();
  if (path === '' || wanted === '') return { ok: false, problem: `${text}: names no ${path === '' ? 'file' : 'text'}` };
  const plain = normalize(path);
  if (isAbsolute(plain) || plain === '..' || plain.startsWith(`..${sep}`) || path.includes('\0'))
    return { ok: false, problem: `${text}: is not a path inside the folder of the work` };
  return { ok: true, proof: wanted === undefined ? { path: plain } : { path: plain, contains: wanted } };
}

export function fileCheck(name: string, proof: FileProof): Check {
  return {
    name,
    async run(directory, stop) {
      const startedAt = performance.now();
      const problem = stop.aborted ? 'Stopped before it ended.' : await problemWith(directory, proof);
      const found = proof.contains === undefined ? `${proof.path} is there.` : `${proof.path} holds the text.`;
      const durationMs = Math.round(performance.now() - startedAt);
      return { name, passed: problem === undefined, detail: problem ?? found, durationMs };
    },
  };
}

async function problemWith(directory: string, { path, contains: wanted }: FileProof): Promise<string | undefined> {
  try {
    const root = await realpath(directory);
    const real = await realpath(join(root, path));
    if (real !== root && !real.startsWith(root === sep ? sep : `${root}${sep}`))
      return `${path} is a link that leaves the folder of the work.`;
    const stats = await lstat(real);
    if (!stats.isFile() && !stats.isDirectory()) return `${path} is neither a file nor a folder.`;
    if (wanted === undefined) return undefined;
    if (!stats.isFile()) return `${path} is a folder, so it holds no text.`;
    return await holds(real, wanted);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? `${path} does not exist.`
      : `${path} cannot be read: ${code ?? message}.`;
  }
}

/** Undefined when it does. */
async function holds(real: string, wanted: string): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  try {
    // NONBLOCK: a pipe put there in between must not make us wait.
    handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stats = await handle.stat();
    if (!stats.isFile()) return 'It is no file any more.';
    if (stats.size > bytesMax) return `It is larger than ${bytesMax / 1024 / 1024} MB, so it was not read.`;
    return (await handle.readFile()).includes(wanted) ? undefined : `It does not contain ${JSON.stringify(wanted)}.`;
  } finally {
    await handle?.close();
  }
}
