// Takes back worktrees of runs that were killed before their loop began: nobody would ever ask for them again.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { abandonWorktree } from './abandon.ts';
import { readRecord } from './record.ts';
import type { Repository } from './repository.ts';

/** A younger one may be just being made by another run. */
const ageMsMin = 3_600_000;

/** Only those of this repository, and only without work in them; `isLoop` says whether the ledger knows a loop. */
export async function sweepWorktrees(
  repository: Repository,
  folder: string,
  isLoop: (loop: string) => boolean,
  now: number,
): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const swept: string[] = [];
  for (const name of names) {
    const loop = /^([0-9a-f-]{36})\.json$/.exec(name)?.[1];
    if (loop === undefined || isLoop(loop)) continue;
    const record = join(folder, name);
    const age =
      now -
      (await stat(record).then(
        found => found.mtimeMs,
        () => now,
      ));
    const branch = (await readRecord<{ readonly branch?: string }>(record))?.branch;
    if (age < ageMsMin || branch === undefined) continue;
    const gone = await abandonWorktree(repository, join(folder, loop), branch);
    if (gone.ok) swept.push(branch);
  }
  return swept;
}
