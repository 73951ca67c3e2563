// Finds where a plan may write: inside its folders only, whatever links, dots and letters a path is made of.
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { heldPart, isGit, pathProblem, segmentsOf, wayInVault } from '../text/step-path.ts';

export type Place =
  /** `parent` is real as far as it exists: no link is left in it. */
  { readonly path: string; readonly parent: string; readonly root: string } | { readonly problem: string };

export interface Roots {
  /** Plans name it `vault/…`, or one of its folders, wherever it lies. */
  readonly vault?: string;
  readonly repository?: string;
}

export async function placeOf(given: string, roots: Roots): Promise<Place> {
  const problem = pathProblem(given);
  if (problem !== undefined) return { problem };
  const base = roots.repository ?? roots.vault;
  if (base === undefined) return { problem: 'has no folder that it may lie in' };
  const below = roots.vault === undefined ? undefined : wayInVault(given);
  const path = below === undefined ? resolve(base, given) : join(roots.vault ?? base, below);
  const parent = await realParent(dirname(path));
  if (parent === undefined) return { problem: 'leads through a link that leads nowhere' };
  for (const root of [roots.vault, roots.repository]) {
    const real = root === undefined ? undefined : await realParent(root);
    if (real === undefined) continue;
    const way = wayBelow(real, parent);
    if (way === undefined) continue;
    if (segmentsOf(way).some(isGit)) return { problem: 'leads into the .git folder' };
    const held = heldPart(
      [...segmentsOf(way), basename(path)].filter(each => each !== ''),
      root === roots.vault,
    );
    if (held !== undefined) return { problem: held };
    return { path: join(parent, path.slice(dirname(path).length)), parent, root: real };
  }
  return { problem: 'leads out of the folders that the plan may write in' };
}

/** The deepest folder that is there is made real, the rest is put behind it; undefined for a link without a target. */
async function realParent(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    const isThere = await lstat(path).then(
      () => true,
      () => false,
    );
    if (isThere || dirname(path) === path) return undefined;
    const above = await realParent(dirname(path));
    return above === undefined ? undefined : join(above, path.slice(dirname(path).length));
  }
}

/** '' for the folder itself, undefined when it is not below. */
export function wayBelow(root: string, path: string): string | undefined {
  const way = relative(root, path);
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way) ? undefined : way;
}
