// Writes one view where its mode's users look for it: beside files that an agent may change, so no link of theirs is followed.
import { lstat, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, relative, sep } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import type { ViewFile } from '../modes/mode-view.ts';

const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

/** The nearest folder above that is there already. */
async function standing(path: string): Promise<string> {
  const above = dirname(path);
  const real = await realpath(above).catch(() => undefined);
  return real ?? (above === path ? path : standing(above));
}

/** Undefined: written, or already there. Else why it was not; it never throws, for a view is in nobody's way. */
export async function putView(roots: readonly string[], file: ViewFile): Promise<string | undefined> {
  return put(roots, file).catch((error: Error) => `${file.path} could not be written (${error.message})`);
}

async function put(roots: readonly string[], { path, text, once }: ViewFile): Promise<string | undefined> {
  const real = await Promise.all(roots.map(root => realpath(root).catch(() => root)));
  const folder = await standing(path);
  if (!real.some(root => isInside(root, folder))) return `${path} lies behind a link that leads out of the folder`;
  const there = await lstat(path).catch(() => undefined);
  if (there !== undefined && !there.isFile()) return `${path} is no plain file`;
  if (text === null) await rm(path, { force: true });
  else {
    await mkdir(dirname(path), { recursive: true });
    if (once) await writeFile(path, text, { flag: 'wx' }).catch(() => {});
    else await writeFileAtomic(path, text, { fsync: false });
  }
  return undefined;
}
