// Remembers what a person changed while nobody worked: no commit of ours holds it, and going back does not take it away.
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { SaveOrder } from '../workspace.ts';
import { byPath, pathsOf, toInput } from '../paths.ts';
import { type PrivateGit, privately } from '../private.ts';
import { differences } from '../trees.ts';

const fileOf = (folder: string): string => join(folder, 'foreign');

interface Foreign {
  /** The first checkpoint that holds what was changed last. */
  readonly number: number;
  /** Not committed by the person themselves: later work on it must not be committed either. */
  readonly isUnfinished: boolean;
}

/** By path, one character per byte. */
async function foreignIn(folder: string): Promise<ReadonlyMap<string, Foreign>> {
  const output = await readFile(fileOf(folder)).catch(() => Buffer.alloc(0));
  return new Map(
    pathsOf({ output }).map(line => {
      const [number = '', state = ''] = line.split(' ', 2);
      const path = line.slice(number.length + state.length + 2);
      return [path, { number: Number(number), isUnfinished: state === 'unfinished' }] as const;
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
  const changed = await differences(repository, { from: foreignSince, to: tree });
  if (changed.length === 0) return;
  const open = await differences(repository, { from: 'HEAD', to: tree }).catch(() => changed); // HEAD may be unborn
  const unfinished = new Set(open.map(({ path }) => path));
  const now = changed.map(({ path }) => [path, { number, isUnfinished: unfinished.has(path) }] as const);
  const all = [...new Map([...(await foreignIn(folder)), ...now])].sort(([one], [other]) => byPath(one, other));
  const lines = all.map(([path, one]) => `${one.number} ${one.isUnfinished ? 'unfinished' : 'committed'} ${path}`);
  await put(fileOf(folder), toInput(lines));
}

async function put(path: string, bytes: Buffer): Promise<void> {
  const file = await open(`${path}.new`, 'w');
  await file
    .writeFile(bytes)
    .then(() => file.sync())
    .finally(() => file.close());
  await rename(`${path}.new`, path);
}

/** What became a person's unfinished work after the loop began. */
export async function foreignUnfinished(folder: string): Promise<ReadonlySet<string>> {
  return new Set([...(await foreignIn(folder))].flatMap(([path, { isUnfinished }]) => (isUnfinished ? [path] : [])));
}

/** Those that going to this commit would take away, because it is older than they are. */
export async function foreignTo(own: PrivateGit, commit: string): Promise<ReadonlySet<string>> {
  const known = await foreignIn(own.folder);
  if (known.size === 0) return new Set();
  const read = await privately(own, ['cat-file', 'commit', commit]);
  const found = /\n\n[^\n]*\n\n(?:[^\n]+\n)*?Ralph-Checkpoint: (\d+)\n/.exec(read.output.toString('latin1'));
  const number = Number(found?.[1] ?? 0);
  return new Set([...known].flatMap(([path, one]) => (number < one.number ? [path] : [])));
}
