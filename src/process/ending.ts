// Ends a process and everything below it: TERM to all, a time of grace, then KILL; and counts what had to be ended.
import type { Territory } from './territory.ts';
import { type RecordedProcess, signalTree } from './tree.ts';

const tickMs = 100;
const timerMsMax = 2_147_483_647; // longer ones fire at once

export interface Ending {
  /** TERM to all that are there, KILL after the grace. */
  begin(): void;
  kill(): void;
  /** The command is over, but others that it started are not: `answer` lets the namespace close. */
  left(answer: () => void): void;
  /** The root is gone: ends what remains and says how many had to be ended. */
  finish(): Promise<number>;
}

/** `killRoot` must work even where the root cannot be seen, as in a foreign /proc. */
export function endingOf(territory: Territory, graceMs: number, killRoot: () => void): Ending {
  const told = new Set<string>();
  let stage: 'none' | 'term' | 'kill' | 'over' = 'none';
  let reaped = 0;
  let close: (() => void) | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let grace: NodeJS.Timeout | undefined;

  function term(targets: readonly RecordedProcess[]): void {
    const fresh = targets.filter(each => !told.has(`${each.pid} ${each.startTime}`));
    for (const each of fresh) told.add(`${each.pid} ${each.startTime}`);
    signalTree(fresh, 'SIGTERM');
    signalTree(fresh, 'SIGCONT'); // a stopped process hears nothing
  }

  /** What someone starts in order to tidy up is left alone; what has lost its parent is a late-comer and is told. */
  function tick(): void {
    const alive = territory.workers();
    if (told.size === 0)
      term(alive); // it had not started yet
    else if (close && alive.length === 0) close();
    else if (close) term(territory.orphans());
  }

  function kill(): void {
    if (stage === 'kill' || stage === 'over') return;
    stage = 'kill';
    reaped = territory.workers().length;
    const everyone = territory.everyone();
    killRoot();
    signalTree(everyone, 'SIGKILL');
  }

  return {
    kill,
    begin() {
      if (stage !== 'none') return;
      stage = 'term';
      grace = setTimeout(kill, Math.min(graceMs, timerMsMax));
      ticking = setInterval(tick, tickMs);
      term(territory.workers());
    },
    left(answer) {
      if (stage === 'none') reaped = territory.workers().length;
      if (stage !== 'term') return answer();
      close = answer;
      tick();
    },
    async finish() {
      clearInterval(ticking);
      clearTimeout(grace);
      const wasKilled = stage === 'kill';
      stage = 'over';
      const cleared = await territory.clear();
      return wasKilled ? reaped : reaped + cleared;
    },
  };
}
