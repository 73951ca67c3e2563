// Takes a fork away in which nothing is to be kept: its folder, its ref, its index and its record.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Refusal } from '../workspace.ts';
import { git } from '../call.ts';
import { type ForkOptions, forkDirectory, forkIndex, forkRef, safeName } from './fork.ts';
import type { Repository } from '../repository.ts';
import { dropTree } from '../worktree.ts';

export async function dropFork(
  repository: Repository,
  options: ForkOptions,
  task: string,
): Promise<{ readonly ok: true } | Refusal> {
  const dropped = await dropTree(repository, forkDirectory(options, task));
  if (!dropped.ok) return dropped;
  await git(repository, ['update-ref', '-d', forkRef(options, task)]);
  await rm(forkIndex(options, task), { force: true });
  await rm(join(options.privateFolder, `fork-${safeName(task)}.json`), { force: true });
  return { ok: true };
}
