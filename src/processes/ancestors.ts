// Who started us, up to the first process that can be seen: for telling an agent's commands from a person's.
import { readFileSync } from 'node:fs';
import { namespaceInit } from './contain.ts';
import { statOf } from './identity.ts';
import type { RecordedProcess } from './tree.ts';

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
  const isOurs = top !== undefined && wordsOf(top.pid).includes(namespaceInit);
  return { above, session: self?.session ?? 0, namespaceSince: isOurs ? top.startTime : undefined };
}

function wordsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
