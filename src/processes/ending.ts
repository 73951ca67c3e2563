// Ends a process and everything below it: TERM to all, a time of grace, then KILL; and counts what had to be ended.
import type { Territory } from './process-set.ts';
import { keyOf, type RecordedProcess, signalTree } from './tree.ts';

const tickMs = 100;
const timerMsMax = 2_147_483_647; // longer ones fire at once

export interface Ending {
  /** TERM to all that are there, KILL after the grace. */
  begin(): void;
  kill(): void;
  /** For a crowd that grows while one counts it: strikes first, and believes the count that it is given. */
  killStorm(seen: number): void;
  /** The command is over, but others that it started are not: `answer` lets the namespace close. */
  left(answer: () => void): void;
  /** The root is gone: ends what remains and says how many had to be ended. */
  finish(): Promise<number>;
}

/** `killRoot` must work even where the root cannot be seen, as in a foreign /proc. */
export function endingOf(territory: Territory, graceMs: number, killRoot: () => void): Ending {
  const bell = ringing();
  let stage: 'none' | 'term' | 'kill' | 'over' = 'none';
  const ended = new Set<string>();
  let endedInStorm = 0;
  let close: (() => void) | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let grace: NodeJS.Timeout | undefined;

  /** What someone starts in order to tidy up is left alone; what has lost its parent is a late-comer and is told. */
  function tick(): void {
    const alive = territory.workers();
    if (!bell.hasRung())
      bell.ring(alive); // it had not started yet
    else if (close && alive.length === 0) close();
    else if (close) bell.ringAtSecondSight(territory.orphans());
  }

  function count(workers: readonly RecordedProcess[]): void {
    for (const each of workers) ended.add(keyOf(each));
  }

  function kill(): void {
    if (stage === 'kill' || stage === 'over') return;
    stage = 'kill';
    count(territory.kill(killRoot));
  }

  function killStorm(seen: number): void {
    if (stage === 'kill' || stage === 'over') return;
    if (territory.strike()) {
      stage = 'kill';
      endedInStorm = seen;
    } else kill();
  }

  return {
    kill,
    killStorm,
    begin() {
      if (stage !== 'none') return;
      stage = 'term';
      grace = setTimeout(kill, Math.min(graceMs, timerMsMax));
      ticking = setInterval(tick, tickMs);
      bell.ring(territory.workers());
    },
    left(answer) {
      if (stage === 'none') count(territory.workers());
      if (stage !== 'term') return answer();
      close = answer;
      tick();
    },
    async finish() {
      clearInterval(ticking);
      clearTimeout(grace);
      stage = 'over';
      count(await territory.clear());
      return Math.max(ended.size, endedInStorm);
    },
  };
}

interface Bell {
  /** TERM, once for each. */
  ring(targets: readonly RecordedProcess[]): void;
  /** A child that has not yet become its own program may swallow a signal: so not at once. */
  ringAtSecondSight(targets: readonly RecordedProcess[]): void;
  hasRung(): boolean;
}

function ringing(): Bell {
  const told = new Set<string>();
  const seen = new Set<string>();
  function ring(targets: readonly RecordedProcess[]): void {
    const fresh = targets.filter(each => !told.has(keyOf(each)));
    for (const each of fresh) told.add(keyOf(each));
    signalTree(fresh, 'SIGTERM');
    signalTree(fresh, 'SIGCONT'); // a stopped process hears nothing
  }
  return {
    ring,
    ringAtSecondSight(targets) {
      ring(targets.filter(each => seen.has(keyOf(each))));
      for (const each of targets) seen.add(keyOf(each));
    },
    hasRung: () => told.size > 0,
  };
}
