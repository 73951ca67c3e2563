// Stale worktrees: what a run left that was killed while it prepared its loop. Nobody would ever ask for it again.
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isAlive, thisHost } from '../../processes/identity.ts';
import { ask, git } from '../call.ts';
import { removeRefs } from '../checkpoints/refs.ts';
import { succeeds } from '../disk.ts';
import { revision } from '../objects.ts';
import type { Repository } from '../repository.ts';
import { dropTree, recordOf, type WorktreeRecord } from './worktree.ts';

/** Of a record that does not say who makes it: a younger one may be just being made by another run. */
const ageMsMin = 3_600_000;

interface Sweep {
  readonly repository: Repository;
  /** Of all worktrees. */
  readonly folder: string;
  /** Whether the ledger knows it now: asked when whoever made it is dead, so that it cannot begin any more. */
  readonly isLoop: (loop: string) => Promise<boolean>;
  readonly now: number;
}

/** Loops whose worktrees, forks, branches and refs were taken away. Cut anywhere, the next sweep goes on. */
export async function removeStaleWorktrees(sweep: Sweep): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of await readdir(sweep.folder).catch(() => [])) {
    const loop = /^([0-9a-f-]{36})\.json(\.new)?$/.exec(name)?.[1];
    if (loop === undefined || removed.includes(loop)) continue;
    const record = await staleRecord(sweep, name);
    if (record === undefined || (await sweep.isLoop(loop))) continue;
    if (await remove(sweep, loop, record)) removed.push(loop);
  }
  return removed;
}

/** Undefined: somebody may still be making it, or it belongs to another repository. */
async function staleRecord(
  { repository, folder, now }: Sweep,
  name: string,
): Promise<Partial<WorktreeRecord> | undefined> {
  const path = join(folder, name);
  const record = parsed(await readFile(path, 'utf8').catch(() => ''));
  const { maker } = record;
  if (maker !== undefined) {
    const { host, boot } = thisHost();
    const isOurs = maker.repository === repository.commonDirectory && maker.host === host;
    const isDead = maker.boot !== boot || !isAlive(maker.pid, maker.startTime);
    return isOurs && isDead ? record : undefined;
  }
  const madeAt = (await stat(path).catch(() => undefined))?.mtimeMs ?? now;
  return now - madeAt < ageMsMin ? undefined : record;
}

/** A record that was being written may be half. */
function parsed(text: string): Partial<WorktreeRecord> {
  try {
    return JSON.parse(text) as Partial<WorktreeRecord>;
  } catch {
    return {};
  }
}

/** The record goes last. */
async function remove(sweep: Sweep, loop: string, { branch, base }: Partial<WorktreeRecord>): Promise<boolean> {
  const { repository, folder } = sweep;
  const [tree, forks] = [join(folder, loop), join(folder, `${loop}-forks`)];
  const names = await readdir(forks).catch(() => []);
  const places = [...names.map(name => join(forks, name)), tree];
  await dropNotes(repository, [...places, forks]);
  for (const path of places) if (!(await succeeds(dropped(repository, path)))) return false;
  const refs = await removeRefs(repository, loop);
  if (!refs.ok || !(await succeeds(rm(forks, { recursive: true, force: true })))) return false;
  if (branch !== undefined && base !== undefined) await dropBranch(repository, branch, base);
  const record = recordOf(tree);
  await Promise.all([record, `${record}.new`].map(path => rm(path, { force: true })));
  return true;
}

async function dropped(repository: Repository, path: string): Promise<void> {
  const done = await dropTree(repository, path);
  if (!done.ok) throw new Error(done.problem);
}

/** Git's notes of these folders, and drafts of such notes, which say nothing yet: while their folders are there to name them. */
async function dropNotes({ commonDirectory }: Repository, places: readonly string[]): Promise<void> {
  const all = join(commonDirectory, 'worktrees');
  for (const name of await readdir(all).catch(() => [])) {
    const back = (await readFile(join(all, name, 'gitdir'), 'utf8').catch(() => '')).trimEnd();
    const isNamed = places.some(place => back === join(place, '.git') || back.startsWith(`${place}/`));
    const isDraft = places.some(place => name.startsWith(`${basename(place)}.new-`));
    if (isNamed || isDraft) await rm(join(all, name), { recursive: true, force: true });
  }
}

/** Only as it was made, and while another branch holds all of it. */
async function dropBranch(repository: Repository, branch: string, base: string): Promise<void> {
  const ref = `refs/heads/${branch}`;
  if ((await revision(repository, ref)) !== base) return;
  const isHeld = (await git(repository, ['merge-base', '--is-ancestor', base, 'HEAD'])).code === 0;
  if (isHeld) await ask(repository, ['update-ref', '-d', ref, base]);
}
