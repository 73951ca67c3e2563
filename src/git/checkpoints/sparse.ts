// Keeps the marks of sparse files in the loop's own index as the user's index has them: such a file is not deleted.
import { git } from '../call.ts';
import { kindOnDisk } from '../disk.ts';
import { pathsOf, toInput } from '../paths.ts';
import { type PrivateGit, privately } from '../private.ts';
import { stampOfIndex } from './init-index.ts';

/** Paths that an index marks and that are not on disk, each with `MODE OBJECT`. */
function marksOf(lines: readonly string[]): ReadonlyMap<string, string> {
  const marks = lines.flatMap(line => {
    const [tag, mode, object] = line.split(' ', 3);
    return tag?.toUpperCase() === 'S' ? [[line.slice(line.indexOf('\t') + 1), `${mode} ${object}`] as const] : [];
  });
  return new Map(marks);
}

const asked = ['ls-files', '-s', '-t', '-z'];

/** Done when the user's index changed since `seen`; returns what was seen now. A failure shows in the steps that follow. */
export async function markSparse(own: PrivateGit, seen: string | undefined): Promise<string> {
  const current = await stampOfIndex(own);
  if (current === seen) return current;
  const theirs = marksOf(pathsOf(await git(own.repository, asked)));
  const ours = marksOf(pathsOf(await privately(own, asked)));
  const added: string[] = [];
  for (const [path, entry] of theirs) {
    const isNew = ours.get(path) !== entry && (await kindOnDisk(own.repository.directory, path)) === 'gone';
    if (isNew) added.push(path);
  }
  const ended = [...ours.keys()].filter(path => !theirs.has(path));
  const entries = added.map(path => `${theirs.get(path)}\t${path}`);
  if (added.length > 0) {
    await privately(own, ['update-index', '-z', '--index-info'], { input: toInput(entries) });
    await privately(own, ['update-index', '-z', '--skip-worktree', '--stdin'], { input: toInput(added) });
  }
  if (ended.length > 0)
    await privately(own, ['update-index', '-z', '--no-skip-worktree', '--stdin'], { input: toInput(ended) });
  return current;
}

/** What the loop's own index holds although it is not on disk. */
export async function sparseIn(own: PrivateGit): Promise<ReadonlySet<string>> {
  return new Set(marksOf(pathsOf(await privately(own, asked))).keys());
}
