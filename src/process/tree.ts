// Finds and signals everything that one process started, by recorded pid and start time, never by name.
import { readdirSync, readFileSync } from 'node:fs';
import { allProcesses, isAlive, type ProcessStat, statOf } from './identity.ts';

export interface RecordedProcess {
  readonly pid: number;
  readonly startTime: string;
}

/** All living descendants, parents before children; zombies are left out, their children are not. */
export function descendants(pid: number, depthMax = Number.POSITIVE_INFINITY): readonly RecordedProcess[] {
  const childrenOf = childFinder(pid);
  const found: RecordedProcess[] = [];
  const seen = new Set([pid]);
  const open = [{ pid, depth: 0 }];
  for (let parent = open.shift(); parent !== undefined; parent = open.shift()) {
    if (parent.depth >= depthMax) continue;
    for (const child of childrenOf(parent.pid)) {
      if (seen.has(child.pid)) continue;
      seen.add(child.pid);
      open.push({ pid: child.pid, depth: parent.depth + 1 });
      if (!child.zombie) found.push({ pid: child.pid, startTime: child.startTime });
    }
  }
  return found;
}

/** Those that never left the session that `leader` opened, even when their parents are gone. */
export function sessionMembers(leader: number): readonly RecordedProcess[] {
  return allProcesses()
    .filter(each => each.session === leader && !each.zombie)
    .map(({ pid, startTime }) => ({ pid, startTime }));
}

/** Says how many got the signal: a pid that was given to another process since is left alone. */
export function signalTree(recorded: readonly RecordedProcess[], signal: NodeJS.Signals): number {
  let count = 0;
  for (const { pid, startTime } of recorded) {
    if (!isAlive(pid, startTime)) continue;
    try {
      process.kill(pid, signal);
      count += 1;
    } catch {
      // It ended between the look and the kill.
    }
  }
  return count;
}

type ChildFinder = (pid: number) => readonly ProcessStat[];

/** Kernels without the `children` file, and other systems, are read as one table. */
function childFinder(root: number): ChildFinder {
  try {
    readFileSync(`/proc/${root}/task/${root}/children`);
    return childrenByFile;
  } catch {
    const all = allProcesses();
    return pid => all.filter(each => each.parent === pid);
  }
}

function childrenByFile(pid: number): readonly ProcessStat[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap(thread =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
        .split(' ')
        .flatMap(child => (child === '' ? [] : (statOf(Number(child)) ?? []))),
    );
  } catch {
    return []; // It ended while we looked; its children have a new parent.
  }
}
