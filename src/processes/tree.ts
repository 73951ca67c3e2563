// Process trees: what one process started and who started us, by recorded pid and start time, never by name.
import { readdirSync, readFileSync } from 'node:fs';
import { namespaceInit } from './contain.ts';
import { allProcesses, isAlive, type ProcessStat, statOf } from './identity.ts';

export interface RecordedProcess {
  readonly pid: number;
  readonly startTime: string;
}

export function keyOf({ pid, startTime }: RecordedProcess): string {
  return `${pid}:${startTime}`;
}

interface Reach {
  readonly depthMax?: number;
  /** Once there are more, it looks no further. */
  readonly countMax?: number;
}

/** All living descendants, parents before children; zombies are left out, their children are not. */
export function descendants(pid: number, reach: Reach = {}): readonly RecordedProcess[] {
  const { depthMax = Number.POSITIVE_INFINITY, countMax = Number.POSITIVE_INFINITY } = reach;
  const childrenOf = childFinder(pid);
  const found: RecordedProcess[] = [];
  const seen = new Set([pid]);
  const open = [{ pid, depth: 0 }];
  for (let parent = open.shift(); parent !== undefined; parent = open.shift()) {
    if (parent.depth >= depthMax || found.length > countMax) continue;
    for (const child of childrenOf(parent.pid)) {
      if (seen.has(child.pid)) continue;
      seen.add(child.pid);
      open.push({ pid: child.pid, depth: parent.depth + 1 });
      if (!child.zombie) found.push({ pid: child.pid, startTime: child.startTime });
    }
  }
  return found;
}

/**
 * Everyone living who is one of the recorded, below one of them, or in a session that one of them opened. The number of
 * a session is not given away while it has members, so a recorded leader that is gone still stands for his.
 */
export function relatedTo(recorded: ReadonlyMap<string, RecordedProcess>): readonly RecordedProcess[] {
  const all = allProcesses();
  const current = new Map(all.map(each => [each.pid, each.startTime]));
  const sessions = new Set<number>();
  for (const { pid, startTime } of recorded.values())
    if ((current.get(pid) ?? startTime) === startTime) sessions.add(pid);
  const ours = new Set<number>();
  for (let before = -1; before !== ours.size; ) {
    before = ours.size;
    for (const each of all)
      if (recorded.has(keyOf(each)) || ours.has(each.parent) || ours.has(each.session) || sessions.has(each.session))
        ours.add(each.pid);
  }
  return all.filter(each => ours.has(each.pid) && !each.zombie).map(({ pid, startTime }) => ({ pid, startTime }));
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

/** Kernels without the `children` file, and other systems, are read as one table. */
function childFinder(root: number): (pid: number) => readonly ProcessStat[] {
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

/** Who started us, up to the first process that can be seen: for telling an agent's commands from a person's. */
export interface Ancestry {
  /** Our parent first. */
  readonly above: readonly RecordedProcess[];
  /** Its number is not given away while we are in it, so it still names a leader that is gone. */
  readonly session: number;
  /** Set inside a process namespace of ours, from which nobody further up can be seen: when it began. */
  readonly namespaceSince?: string;
}

const generationsMax = 1_000;

/** Looks at nobody but our own ancestors, and never at an environment. */
export function ancestry(): Ancestry {
  const self = statOf(process.pid);
  const above: RecordedProcess[] = [];
  let parent = self?.parent ?? 0;
  while (parent > 0 && above.length < generationsMax) {
    const stat = statOf(parent);
    if (stat === undefined) break;
    above.push({ pid: stat.pid, startTime: stat.startTime });
    parent = stat.parent;
  }
  const top = above.at(-1);
  const isOurs = top !== undefined && commandLineOf(top.pid).includes(namespaceInit);
  return { above, session: self?.session ?? 0, namespaceSince: isOurs ? top.startTime : undefined };
}

function commandLineOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
