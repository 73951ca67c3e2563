// Protected files of a loop that goes on: those that it began with, unless a person has changed them since.
import { existsSync } from 'node:fs';
import { lstat, readFile, rename, rm } from 'node:fs/promises';
import { join, posix, relative } from 'node:path';
import type { ProtectedFile } from '../checks/protected-files.ts';
import type { State } from '../core/state.ts';
import type { GitCheckpoints } from '../git/git-checkpoints.ts';
import { UsageError } from '../text/errors.ts';
import { loopFolder } from './app.ts';
import { filesToProtect, judgeNamed, refuseUnknownScripts } from './checks.ts';
import type { Prepared } from './session/prepare.ts';

interface ResumedLoop {
  readonly state: State;
  readonly checkpoints?: GitCheckpoints | undefined;
  /** When an agent or a check last did anything, by the ledger. */
  readonly lastWorkAt: () => Promise<number>;
}

export interface Protection {
  readonly hash: string | undefined;
  readonly notices: readonly string[];
}

/** The set that a hash proves; the first one of a loop has no hash in its name. */
export function protectedFolder(folder: string, hash: string | undefined): string {
  const refreshed = join(folder, `protected-${hash}`);
  return existsSync(refreshed) ? refreshed : join(folder, 'protected');
}

export const protectedHashOf = ({ settings, loop: { protectedHash } }: State): string | undefined =>
  settings.protectedHash ?? protectedHash;

export async function refreshProtection(prepared: Prepared, loop: ResumedLoop): Promise<Protection> {
  const { state } = loop;
  const { config, settings } = prepared;
  const folder = loopFolder(prepared.home, state.loop.id);
  const hash = protectedHashOf(state);
  const old = await filesIn(protectedFolder(folder, hash), hash);
  const changed = await differing(state.loop.directory, old);
  const renewed = async (...notices: readonly string[]): Promise<Protection> => ({
    hash: await protectNow(prepared, state, old),
    notices,
  });
  if (config.protectAnew === true) return renewed();
  const areByUser = changed.length > 0 && (await areUserEdits(prepared, loop, changed));
  const names = changed.join(', ');
  if (!sameCommands(settings.checks, state.settings.checks)) {
    if (changed.length === 0 || areByUser || hash === undefined) return renewed();
    const { fileGuard } = await import('../checks/protected-files.ts');
    await fileGuard(protectedFolder(folder, hash), hash).restore(state.loop.directory);
    return renewed(`${names}: put back as this loop protects it (take yours: --protect-anew)`);
  }
  if (areByUser) return renewed(`${names}: changed by you, and protected as it is from now on`);
  const notices = changed.map(
    path =>
      `${path} differs from the one that this loop protects; it is put back before each check (take yours: --protect-anew)`,
  );
  return { hash, notices };
}

/** Empty when the list is not what the ledger says: the guard says that when it is needed. */
async function filesIn(folder: string, hash: string | undefined): Promise<readonly ProtectedFile[]> {
  const { readManifest } = await import('../checks/protected-files.ts');
  return (await readManifest(folder, hash).catch(() => undefined)) ?? [];
}

async function differing(directory: string, files: readonly ProtectedFile[]): Promise<readonly string[]> {
  const { stateOf } = await import('../checks/protected-files.ts');
  const changed: string[] = [];
  for (const kept of files) if ((await stateOf(directory, kept)) !== 'good') changed.push(kept.path);
  return changed;
}

/**
 * Certain only where nobody else can have been at it: each is another one than in the latest checkpoint, and was changed
 * after the last work of an agent or a check. That time is the system's own, which a program cannot set.
 */
async function areUserEdits(
  { repositoryInfo, directory }: Prepared,
  { state, checkpoints, lastWorkAt }: ResumedLoop,
  paths: readonly string[],
): Promise<boolean> {
  const { live, settings } = state;
  const { due: all, restoreDue, latest } = state.checkpoints;
  const due = all.filter(one => one.kind !== 'user-edits');
  const isQuiet = live.length + state.claims.open.length + due.length === 0 && restoreDue === undefined;
  const isOneTree = settings.checkpoints && !settings.worktreePerTask;
  if (!isQuiet || !isOneTree || latest === undefined || checkpoints === undefined) return false;
  const since = await lastWorkAt();
  const inside = relative(repositoryInfo.repository?.directory ?? directory, directory);
  const inTree = (path: string): string => posix.join(inside, path);
  const kept = await checkpoints.content(latest.commit, paths.map(inTree));
  const before = new Map(kept.map(({ path, bytes }) => [path, bytes]));
  for (const path of paths) {
    const place = join(state.loop.directory, path);
    const stats = await lstat(place).catch(() => undefined);
    const old = before.get(inTree(path));
    if (!stats?.isFile() || stats.ctimeMs <= since || old === undefined) return false;
    if (old.equals(await readFile(place))) return false;
  }
  return true;
}

/** In a folder of its own: the set that the ledger knows stays until it knows this one. */
async function protectNow(
  { config, typed, home, env }: Prepared,
  state: State,
  old: readonly ProtectedFile[],
): Promise<string> {
  const { protectFiles } = await import('../checks/protected-files.ts');
  const folder = loopFolder(home, state.loop.id);
  refuseUnknownScripts(config, env);
  const files = filesToProtect(config, env);
  const scripts = new Set(filesToProtect({ verify: commandsOf(state.settings.checks), protect: [] }).candidates);
  const named = typed.has('protect') ? [] : old.map(({ path }) => path).filter(path => !scripts.has(path));
  const fresh = join(folder, `protected-new-${process.pid}`);
  await rm(fresh, { recursive: true, force: true });
  const candidates = [...files.candidates, ...named];
  const kept = await protectFiles({
    directory: state.loop.directory,
    folder: fresh,
    candidates,
    wanted: files.wanted,
    isOpen: files.isOpen,
  });
  if (!kept.ok) throw unprotectable(kept.problem);
  const settled = join(folder, `protected-${kept.hash}`);
  await rm(settled, { recursive: true, force: true });
  await rename(fresh, settled);
  return kept.hash;
}

export const unprotectable = (problem: string): UsageError =>
  new UsageError(`${problem}.`, 'Check --protect and the files that --verify names.');

const commandsOf = (checks: readonly string[]): readonly string[] =>
  checks.filter(check => judgeNamed(check) === undefined);

function sameCommands(one: readonly string[], other: readonly string[]): boolean {
  const [left, right] = [commandsOf(one), commandsOf(other)];
  return left.length === right.length && left.every((command, at) => command === right[at]);
}
