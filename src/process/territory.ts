// Knows which processes belong to a contained command: all in its namespace, or all that were seen below it or in its session.
import type { Contained } from './contain.ts';
import { isAlive } from './identity.ts';
import { descendants, keyOf, kindred, type RecordedProcess, signalTree } from './tree.ts';

const recordMs = process.platform === 'linux' ? 100 : 1_000; // elsewhere a look starts `ps`
const seizingRoundsMax = 10;
const goneMsMax = 1_000;

export interface Territory {
  /** Living processes that are the command's, not ours; looking for more than `countMax` may be left off. */
  workers(countMax?: number): readonly RecordedProcess[];
  /** Those of them that have lost their parent. */
  orphans(): readonly RecordedProcess[];
  /** Everyone, before a kill: held still where they could get away. They are awaited in `clear`. */
  seize(): Seized;
  /** Ends most or all of them by one call that no fork can outrun; false when there was nobody to hit. */
  strike(): boolean;
  /** Names a helper of ours. */
  exempt(pid: number): void;
  /** After the end of the root: ends the rest, waits until it is gone, says which workers that were. */
  clear(): Promise<readonly RecordedProcess[]>;
}

interface Seized {
  readonly workers: readonly RecordedProcess[];
  readonly helpers: readonly RecordedProcess[];
}

type Ungoverned = Exclude<Contained['containment'], 'namespace'>;

/** `tell`: to the first process, which keeps it for the case that we are killed. */
export function territoryOf(
  root: RecordedProcess,
  containment: Contained['containment'],
  tell: (line: string) => void,
): Territory {
  return containment === 'namespace' ? namespaceBelow(root) : groupOf(root, containment, tell);
}

/** The only child of the root is pid 1 of the namespace. It adopts orphans, and the kernel ends all of them with it. */
function namespaceBelow(root: RecordedProcess): Territory {
  let doomed: readonly RecordedProcess[] = [];
  return {
    workers: countMax =>
      descendants(root.pid, { countMax: countMax === undefined ? undefined : countMax + 1 }).slice(1),
    orphans() {
      const [first, ...all] = descendants(root.pid);
      const adopted = new Set(first ? descendants(first.pid, { depthMax: 1 }).map(each => each.pid) : []);
      return all.filter(each => adopted.has(each.pid));
    },
    seize() {
      doomed = descendants(root.pid);
      return { workers: doomed.slice(1), helpers: doomed.slice(0, 1) };
    },
    strike: () => signalTree(descendants(root.pid, { depthMax: 1 }), 'SIGKILL') > 0,
    exempt() {},
    async clear() {
      await gone(doomed);
      return [];
    },
  };
}

/** A group forgets whoever leaves it: so orphans are given to its first process, or else the tree is recorded. */
function groupOf(root: RecordedProcess, containment: Ungoverned, tell: (line: string) => void): Territory {
  const adopts = containment === 'group';
  const recorded = new Map<string, RecordedProcess>([[keyOf(root), root]]);
  let watcher = 0;
  const isOurs = ({ pid }: RecordedProcess): boolean => pid === watcher || (pid === root.pid && containment !== 'bare');
  const record = (found: readonly RecordedProcess[]): readonly RecordedProcess[] => {
    for (const each of found) {
      if (recorded.has(keyOf(each))) continue;
      recorded.set(keyOf(each), each);
      if (containment !== 'bare') tell(`${keyOf(each)}\n`);
    }
    return found;
  };
  const everyone = (): readonly RecordedProcess[] => record(kindred(recorded));
  const recording = adopts ? undefined : setInterval(() => record(descendants(root.pid)), recordMs);

  /** Whoever is stopped starts nobody: when nobody is new, these are all. */
  function seize(): Seized {
    const stopped = new Set<string>();
    for (let round = 0; round < seizingRoundsMax; round += 1) {
      const fresh = everyone().filter(each => !isOurs(each) && !stopped.has(keyOf(each)));
      if (fresh.length === 0) break;
      signalTree(fresh, 'SIGSTOP');
      for (const each of fresh) stopped.add(keyOf(each));
    }
    const all = everyone();
    return { workers: all.filter(each => !isOurs(each)), helpers: all.filter(isOurs) };
  }

  return {
    seize,
    workers: () => everyone().filter(each => !isOurs(each)),
    orphans: () => (adopts ? descendants(root.pid, { depthMax: 1 }).filter(each => !isOurs(each)) : []),
    strike() {
      if (!isAlive(root.pid, root.startTime)) return false;
      try {
        return process.kill(-root.pid, 'SIGKILL');
      } catch {
        return false; // it ended between the look and the kill
      }
    },
    exempt(pid) {
      watcher = pid;
    },
    async clear() {
      clearInterval(recording);
      const { workers, helpers } = seize();
      signalTree([...workers, ...helpers], 'SIGKILL');
      await gone([...workers, ...helpers]);
      return workers;
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
