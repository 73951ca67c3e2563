// Finds where a plan may write: inside its folders only, whatever links, dots and letters a path is made of.
import { lstat, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

export type Place =
  /** `parent` is real as far as it exists: no link is left in it. */
  { readonly path: string; readonly parent: string; readonly root: string } | { readonly problem: string };

export interface Roots {
  /** Plans name it `vault/…` wherever it lies. */
  readonly vault?: string;
  readonly repository?: string;
}

const pathCharsMax = 1_000;
const nameBytesMax = 255;

/** Ordered: the first row that holds says what is wrong with the path as text. */
const badForms: readonly (readonly [string, (path: string) => boolean])[] = [
  ['is empty', path => path.trim() === ''],
  [`is longer than ${pathCharsMax} characters`, path => path.length > pathCharsMax],
  ['holds a control or invisible character', path => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(path) || !path.isWellFormed()],
  ['is a Windows or network path', path => /^[A-Za-z]:|\\|^\/\//.test(path)],
  ['begins with ~, which only a shell understands', path => path.startsWith('~')],
  ['names a folder, not a file', path => /(?:^|\/)\.?\/*$/.test(path)],
  ['holds ..', path => segmentsOf(path).includes('..')],
  ['has a name that is too long', path => segmentsOf(path).some(each => Buffer.byteLength(each) > nameBytesMax)],
  ['leads into the .git folder', path => segmentsOf(path).some(isGit)],
];

export async function placeOf(given: string, roots: Roots): Promise<Place> {
  const form = badForms.find(([, holds]) => holds(given));
  if (form !== undefined) return { problem: form[0] };
  const base = roots.repository ?? roots.vault;
  if (base === undefined) return { problem: 'has no folder that it may lie in' };
  const path = resolve(base, inVault(given, roots) ?? given);
  const parent = await realParent(dirname(path));
  if (parent === undefined) return { problem: 'leads through a link that leads nowhere' };
  for (const root of [roots.vault, roots.repository]) {
    const real = root === undefined ? undefined : await realpath(root).catch(() => undefined);
    if (real === undefined) continue;
    const way = wayBelow(real, parent);
    if (way === undefined) continue;
    if (segmentsOf(way).some(isGit)) return { problem: 'leads into the .git folder' };
    return { path: join(parent, path.slice(dirname(path).length)), parent, root: real };
  }
  return { problem: 'leads out of the folders that the plan may write in' };
}

function segmentsOf(path: string): readonly string[] {
  return path.split(/[/\\]/);
}

/** As file systems that fold letters, drop final dots and blanks, or know streams and short names would read it. */
function isGit(segment: string): boolean {
  const folded = segment
    .normalize('NFKC')
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/[. ]+$/, '');
  return folded === '.git' || /^git~\d+$/.test(folded);
}

/** The seed's plans call the vault by this name, however it is called and wherever it is. */
function inVault(given: string, { vault }: Roots): string | undefined {
  const below = /^(?:\.\/)?vault\/(.*)$/s.exec(given)?.[1];
  return vault === undefined || below === undefined ? undefined : join(vault, below);
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
