// Git's notes about a worktree: the folder in .git that names it. Written and removed by us where git would do just that.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ifReadable, realOf, succeeds } from './disk.ts';
import type { Repository } from './repository.ts';

type Common = Pick<Repository, 'commonDirectory'>;

const textOf = (path: string): string => ifReadable(() => readFileSync(path, 'utf8')) ?? '';

/** Of a folder whose `.git` names them, and whom they name; undefined where the two halves do not fit. */
export async function notesOf({ commonDirectory }: Common, directory: string): Promise<string | undefined> {
  const notes = /^gitdir: (.+)\n?$/.exec(textOf(join(directory, '.git')))?.[1] ?? '';
  const trees = await realOf(join(commonDirectory, 'worktrees'));
  if (notes === '' || (await realOf(dirname(notes))) !== trees) return undefined;
  const back = textOf(join(notes, 'gitdir')).trimEnd();
  return (await realOf(back)) === (await realOf(join(directory, '.git'))) ? notes : undefined;
}

/** What a worktree of its own is called beside all others; a name for HEAD there. */
export const headIn = (notes: string): string => `worktrees/${basename(notes)}/HEAD`;

/** Settings that want more of a worktree than three files: git knows them. */
const special = /extensions|sparse|worktree/i;

/**
 * A worktree without files, its HEAD at a commit, as `git worktree add --no-checkout` leaves it. Its notes appear whole, and
 * when the folder is there already: a `git worktree prune` lets them be. `isFilled`: its files are there. False where git must do it.
 */
export async function makeNotes(
  repository: Repository,
  path: string,
  commit: string,
  isFilled = false,
): Promise<boolean> {
  const { commonDirectory, gitDirectory } = repository;
  const settings = textOf(join(commonDirectory, 'config'));
  const notes = join(commonDirectory, 'worktrees', basename(path));
  const isPlain = settings !== '' && !special.test(settings) && !/[\n\s]/.test(path);
  const isTaken =
    existsSync(path) !== isFilled || existsSync(notes) || existsSync(join(gitDirectory, 'info', 'sparse-checkout'));
  if (!isPlain || isTaken) return false;
  const draft = `${notes}.new-${process.pid}`;
  const made = await succeeds(
    (async () => {
      const real = await realOf(path);
      if (!isFilled) await mkdir(path);
      await writeFile(join(path, '.git'), `gitdir: ${notes}\n`);
      await mkdir(draft, { recursive: true });
      await Promise.all([
        writeFile(join(draft, 'HEAD'), `${commit}\n`),
        writeFile(join(draft, 'commondir'), '../..\n'),
      ]);
      await writeFile(join(draft, 'gitdir'), `${join(real, '.git')}\n`); // a git that lists worktrees passes over it until now
      await rename(draft, notes);
    })(),
  );
  if (!made) await rm(draft, { recursive: true, force: true });
  return made;
}
