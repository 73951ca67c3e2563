// Knows which processes belong to a contained command: all in its namespace, or all that were seen below it or in its session.
import type { Containment } from './contain.ts';
import { isAlive } from './identity.ts';
import { descendants, type RecordedProcess, sessionMembers, signalTree } from './tree.ts';

const recordMs = 500;
const goneMsMax = 1_000;

export interface Territory {
  /** Living processes that are the command's, not ours. */
  workers(): readonly RecordedProcess[];
  /** Those of them that have lost their parent. */
  orphans(): readonly RecordedProcess[];
  /** Workers and our own helpers; what was found here is awaited in `clear`. */
  everyone(): readonly RecordedProcess[];
  /** Names a helper of ours. */
  exempt(pid: number): void;
  /** After the end of the root: ends the rest, waits until it is gone, says how many workers that were. */
  clear(): Promise<number>;
}

export function territoryOf(root: RecordedProcess, containment: Containment): Territory {
  return containment === 'namespace' ? namespaceBelow(root) : groupOf(root);
}

/** The only child of the root is pid 1 of the namespace. It adopts orphans, and the kernel ends all of them with it. */
function namespaceBelow(root: RecordedProcess): Territory {
  let doomed: readonly RecordedProcess[] = [];
  const workers = (): readonly RecordedProcess[] => descendants(root.pid).slice(1);
  return {
    workers,
    orphans() {
      const [first, ...all] = descendants(root.pid);
      const adopted = new Set(first ? descendants(first.pid, 1).map(each => each.pid) : []);
      return all.filter(each => adopted.has(each.pid));
    },
    everyone() {
      doomed = descendants(root.pid);
      return doomed;
    },
    exempt() {},
    async clear() {
      await gone(doomed);
      return 0;
    },
  };
}

/** A group forgets whoever leaves it, so its tree is recorded while it lives. */
function groupOf(root: RecordedProcess): Territory {
  const recorded = new Map<string, RecordedProcess>();
  let helper = 0;
  const record = (found: readonly RecordedProcess[]): void => {
    for (const each of found) recorded.set(`${each.pid} ${each.startTime}`, each);
  };
  const recording = setInterval(() => record(descendants(root.pid)), recordMs);

  function everyone(): readonly RecordedProcess[] {
    record(descendants(root.pid));
    record(sessionMembers(root.pid));
    return [...recorded.values()].filter(each => isAlive(each.pid, each.startTime));
  }

  return {
    everyone,
    workers: () => everyone().filter(each => each.pid !== helper),
    orphans: () => [],
    exempt(pid) {
      helper = pid;
    },
    async clear() {
      clearInterval(recording);
      const rest = everyone();
      signalTree(rest, 'SIGKILL');
      await gone(rest);
      return rest.filter(each => each.pid !== helper).length;
    },
  };
}

/** A kill is carried out at once, but not before the call returns. */
async function gone(recorded: readonly RecordedProcess[]): Promise<void> {
  const until = performance.now() + goneMsMax;
  while (recorded.some(each => isAlive(each.pid, each.startTime)) && performance.now() < until) {
    await new Promise(resolve => setTimeout(resolve, 1));
  }
}
