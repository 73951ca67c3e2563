// Makes checkpoints and restores them by turns in a given repository, and says what is done, until it is killed or has done enough.
import { writeSync } from 'node:fs';
import { gitCheckpoints } from '../../src/git/git-checkpoints.ts';
import { openRepository } from '../../src/git/repository.ts';

export interface ChildOrder {
  readonly top: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Restored by turns; the tree holds the last of them now. */
  readonly commits: readonly string[];
  readonly newest: number;
  readonly rounds: number;
}

/** A line on standard output each. */
export type Said =
  | { readonly ready: true }
  | { readonly number: number; readonly commit: string }
  | { readonly restored: string };

const say = (said: Said): void => void writeSync(1, `${JSON.stringify(said)}\n`);

async function main({ top, folder, environment, commits, newest, rounds }: ChildOrder): Promise<void> {
  const opened = await openRepository({ directory: top, environment });
  if (!opened.ok) throw new Error(opened.problem);
  const checkpoints = gitCheckpoints({ loop: 'loop-1', repository: opened.repository, folder });
  say({ ready: true });
  for (let round = 1; round <= rounds; round += 1) {
    const number = newest + round;
    const saved = await checkpoints.save({
      number,
      iteration: 0,
      kind: 'before-restore',
      label: 'before a restore',
      anchor: `${number} ab`,
    });
    if (!saved.ok) throw new Error(saved.problem);
    say({ number, commit: saved.commit });
    const to = commits[(round - 1) % commits.length]!;
    const restored = await checkpoints.restore({ to, base: saved.commit, now: saved.commit });
    if (!restored.ok) throw new Error(restored.problem);
    say({ restored: to });
  }
}

if (process.argv[1] === import.meta.filename) await main(JSON.parse(process.argv[2] ?? '') as ChildOrder);
