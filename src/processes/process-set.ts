// Process sets: the processes of a contained command, by namespace or by what was seen below it, and how all of them are ended.
import type { Contained } from './contain.ts';
import { isAlive } from './identity.ts';
import { timerMsMax } from './timers.ts';
import { descendants, keyOf, type RecordedProcess, relatedTo, signalTree } from './tree.ts';

const recordMs = process.platform === 'linux' ? 100 : 1_000; // elsewhere a look starts `ps`
const roundsMax = 10;
const goneMsMax = 1_000;

export interface ProcessSet {
  /** Living processes that are the command's, not ours; looking for more than `countMax` may be left off. */
  workers(countMax?: number): readonly RecordedProcess[];
  /** Those of them that have lost their parent. */
  orphans(): readonly RecordedProcess[];
  /** Ends everyone, and the root by `killRoot` when it is its turn; says which workers that were. */
  kill(killRoot: () => void): readonly RecordedProcess[];
  /** Ends most or all of them by one call that no fork can outrun; false when there was nobody to hit. */
  killAtOnce(): boolean;
  /** Names a helper of ours. */
  exclude(pid: number): void;
  /** After the end of the root: ends the rest, waits until it is gone, says which workers that were. */
  finish(): Promise<readonly RecordedProcess[]>;
}

type Ungoverned = Exclude<Contained['containment'], 'namespace'>;

/** `tell`: to the first process, which keeps it for the case that we are killed. */
export function processSetOf(
  root: RecordedProcess,
  containment: Contained['containment'],
  tell: (line: string) => void,
): ProcessSet {
  return containment === 'namespace' ? namespaceBelow(root) : groupOf(root, containment, tell);
}

/** The only child of the root is pid 1 of the namespace. It adopts orphans, and the kernel ends all of them with it. */
function namespaceBelow(root: RecordedProcess): ProcessSet {
  let doomed: readonly RecordedProcess[] = [];
  return {
    workers: countMax =>
      descendants(root.pid, { countMax: countMax === undefined ? undefined : countMax + 1 }).slice(1),
    orphans() {
      const [first, ...all] = descendants(root.pid);
      const adopted = new Set(first ? descendants(first.pid, { depthMax: 1 }).map(each => each.pid) : []);
      return all.filter(each => adopted.has(each.pid));
    },
    kill(killRoot) {
      doomed = descendants(root.pid);
      killRoot();
      signalTree(doomed, 'SIGKILL');
      return doomed.slice(1);
    },
    killAtOnce: () => signalTree(descendants(root.pid, { depthMax: 1 }), 'SIGKILL') > 0,
    exclude() {},
    async finish() {
      await gone(doomed);
      return [];
    },
  };
}

/** A group forgets whoever leaves it: so orphans are given to its first process, or else the tree is recorded. */
function groupOf(root: RecordedProcess, containment: Ungoverned, tell: (line: string) => void): ProcessSet {
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
  const everyone = (): readonly RecordedProcess[] => record(relatedTo(recorded));
  const recording = adopts ? undefined : setInterval(() => record(descendants(root.pid)), recordMs);

  const workers = (): readonly RecordedProcess[] => everyone().filter(each => !isOurs(each));

  /** A stopped process starts no other; but the kernel continues it when its last parent dies. */
  const stopWorkers = (): readonly RecordedProcess[] => toAll(workers, fresh => signalTree(fresh, 'SIGSTOP'));
  const killWorkers = (): readonly RecordedProcess[] => toAll(stopWorkers, fresh => signalTree(fresh, 'SIGKILL'));

  return {
    kill(killRoot) {
      const killed = killWorkers();
      killRoot(); // the parent of orphans, so it goes last
      return killed;
    },
    workers,
    orphans: () => (adopts ? descendants(root.pid, { depthMax: 1 }).filter(each => !isOurs(each)) : []),
    killAtOnce() {
      if (!isAlive(root.pid, root.startTime)) return false;
      try {
        return process.kill(-root.pid, 'SIGKILL');
      } catch {
        return false; // it ended between the look and the kill
      }
    },
    exclude(pid) {
      watcher = pid;
    },
    async finish() {
      clearInterval(recording);
      const killed = killWorkers();
      const helpers = everyone().filter(isOurs);
      signalTree(helpers, 'SIGKILL');
      await gone([...killed, ...helpers]);
      return killed;
    },
  };
}

/** Looks again and again, until nobody is new; says who they were. */
function toAll(
  find: () => readonly RecordedProcess[],
  act: (fresh: readonly RecordedProcess[]) => void,
): readonly RecordedProcess[] {
  const done = new Map<string, RecordedProcess>();
  for (let round = 0; round < roundsMax; round += 1) {
    const fresh = find().filter(each => !done.has(keyOf(each)));
    if (fresh.length === 0) break;
    act(fresh);
    for (const each of fresh) done.set(keyOf(each), each);
  }
  return [...done.values()];
}

/** A kill is carried out at once, but not before the call returns. */
async function gone(recorded: readonly RecordedProcess[]): Promise<void> {
  const until = performance.now() + goneMsMax;
  while (recorded.some(each => isAlive(each.pid, each.startTime)) && performance.now() < until) {
    await new Promise(resolve => setTimeout(resolve, 1));
  }
}

const tickMs = 100;

/** The end of a process and everything below it: TERM to all, a time of grace, then KILL; counts what had to be ended. */
export interface Shutdown {
  /** TERM to all that are there, KILL after the grace. */
  begin(): void;
  kill(): void;
  /** For a crowd that grows while one counts it: kills first, and believes the count that it is given. */
  killStorm(seen: number): void;
  /** The command is over, but others that it started are not: `answer` lets the namespace close. */
  left(answer: () => void): void;
  /** The root is gone: ends what remains and says how many had to be ended. */
  finish(): Promise<number>;
}

/** `killRoot` must work even where the root cannot be seen, as in a foreign /proc. */
export function shutdownOf(set: ProcessSet, graceMs: number, killRoot: () => void): Shutdown {
  const term = termSender();
  let stage: 'none' | 'term' | 'kill' | 'over' = 'none';
  const ended = new Set<string>();
  let endedInStorm = 0;
  let close: (() => void) | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let grace: NodeJS.Timeout | undefined;

  /** What someone starts in order to tidy up is left alone; what has lost its parent is a late-comer and gets TERM. */
  function tick(): void {
    const alive = set.workers();
    if (!term.wasSent())
      term.send(alive); // it had not started yet
    else if (close && alive.length === 0) close();
    else if (close) term.sendAtSecondSight(set.orphans());
  }

  function count(workers: readonly RecordedProcess[]): void {
    for (const each of workers) ended.add(keyOf(each));
  }

  function kill(): void {
    if (stage === 'kill' || stage === 'over') return;
    stage = 'kill';
    count(set.kill(killRoot));
  }

  return {
    kill,
    killStorm(seen) {
      if (stage === 'kill' || stage === 'over' || !set.killAtOnce()) return kill();
      stage = 'kill';
      endedInStorm = seen;
    },
    begin() {
      if (stage !== 'none') return;
      stage = 'term';
      grace = setTimeout(kill, Math.min(graceMs, timerMsMax));
      ticking = setInterval(tick, tickMs);
      term.send(set.workers());
    },
    left(answer) {
      if (stage === 'none') count(set.workers());
      if (stage !== 'term') return answer();
      close = answer;
      tick();
    },
    async finish() {
      clearInterval(ticking);
      clearTimeout(grace);
      stage = 'over';
      count(await set.finish());
      return Math.max(ended.size, endedInStorm);
    },
  };
}

function termSender() {
  const told = new Set<string>();
  const seen = new Set<string>();
  /** TERM, once for each. */
  function send(targets: readonly RecordedProcess[]): void {
    const fresh = targets.filter(each => !told.has(keyOf(each)));
    for (const each of fresh) told.add(keyOf(each));
    signalTree(fresh, 'SIGTERM');
    signalTree(fresh, 'SIGCONT'); // a stopped process hears nothing
  }
  return {
    send,
    /** A child that has not yet become its own program may swallow a signal: so not at once. */
    sendAtSecondSight(targets: readonly RecordedProcess[]): void {
      send(targets.filter(each => seen.has(keyOf(each))));
      for (const each of targets) seen.add(keyOf(each));
    },
    wasSent: (): boolean => told.size > 0,
  };
}
