// Remembers what a person changed while nobody worked: no commit of ours holds it, and going back does not take it away.
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { SaveOrder } from '../../ports/workspace.ts';
import { addDirty } from './dirty.ts';
import { byPath, pathsOf, toInput } from './paths.ts';
import { type PrivateGit, privately } from './private.ts';
import { differences } from './trees.ts';

const fileOf = (folder: string): string => join(folder, 'foreign');

/** Paths, and the number of the first checkpoint that holds what was changed last; one character per byte. */
export async function foreignIn(folder: string): Promise<ReadonlyMap<string, number>> {
  const output = await readFile(fileOf(folder)).catch(() => Buffer.alloc(0));
  return new Map(
    pathsOf({ output }).map(line => {
      const at = line.indexOf(' ');
      return [line.slice(at + 1), Number(line.slice(0, at))] as const;
    }),
  );
}

/** Called before the checkpoint counts: the same call again does no harm. */
export async function recordForeign(
  { repository, folder }: PrivateGit,
  { number, foreignSince }: Pick<SaveOrder, 'number' | 'foreignSince'>,
  tree: string,
): Promise<void> {
  if (foreignSince === undefined) return;
  const changed = (await differences(repository, { from: foreignSince, to: tree })).map(({ path }) => path);
  if (changed.length === 0) return;
  const all = new Map([...(await foreignIn(folder)), ...changed.map(path => [path, number] as const)]);
  const lines = [...all].sort(([one], [other]) => byPath(one, other)).map(([path, at]) => `${at} ${path}`);
  const file = await open(`${fileOf(folder)}.new`, 'w');
  await file
    .writeFile(toInput(lines))
    .then(() => file.sync())
    .finally(() => file.close());
  await rename(`${fileOf(folder)}.new`, fileOf(folder));
  // What they committed themselves is no unfinished work: later work on it may be committed.
  const unfinished = await differences(repository, { from: 'HEAD', to: tree }).catch(() => undefined);
  const isUnfinished = unfinished && new Set(unfinished.map(({ path }) => path));
  await addDirty(
    folder,
    changed.filter(path => isUnfinished?.has(path) ?? true),
  );
}

/** Those that going to this commit would take away, because it is older than they are. */
export async function foreignTo(own: PrivateGit, commit: string): Promise<ReadonlySet<string>> {
  const known = await foreignIn(own.folder);
  if (known.size === 0) return new Set();
  const read = await privately(own, ['cat-file', 'commit', commit]);
  const found = /\n\n[^\n]*\n\n(?:[^\n]+\n)*?Ralph-Checkpoint: (\d+)\n/.exec(read.output.toString('latin1'));
  const number = Number(found?.[1] ?? 0);
  return new Set([...known].flatMap(([path, at]) => (number < at ? [path] : [])));
}
