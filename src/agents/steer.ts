// What we say to a working agent besides its prompt: notes, a nudge, that no more will come, and, before signals, an interrupt.
import { nudgeWords } from '../core/handoff.ts';
import type { Steering } from './agent.ts';
import type { Notes } from './performer.ts';
import type { Feed } from '../processes/feed.ts';

export interface SteerOrder {
  readonly feed: Feed;
  /** Absent: it hears nothing but its prompt. */
  readonly steering: Steering | undefined;
  readonly notes: Notes | undefined;
  readonly stop: AbortSignal;
  /** Ends the process by signals. */
  readonly halt: () => void;
  readonly told: (note: string) => void;
  /** What its own interrupt gets before signals do. */
  readonly interruptMs: number;
  /** How long it may go on talking after it has ended in failure. */
  readonly failedMs: number;
}

export interface Helm {
  /** The process is there: what we say from now on reaches it. */
  started(): void;
  /** It has said its last word. May be called again: a later word counts. */
  finished(inFailure: boolean): void;
  /** That was not its last word: it works on, deaf, since its input has ended. Nothing happens to one that never finished. */
  resumed(isBusy: boolean): void;
  /** Its good last word was there before the stop came. */
  hadSucceeded(): boolean;
  /** True when it was nudged. */
  nudge(): boolean;
  release(): void;
}

export function steer(order: SteerOrder): Helm {
  const { feed, steering, stop } = order;
  let phase: 'starting' | 'working' | 'finished' | 'deaf' | 'over' = 'starting';
  let isGood = false;
  let hadSucceeded = false;
  let timer: NodeJS.Timeout | undefined;
  const haltAfter = (waitMs: number): void => {
    timer ??= setTimeout(order.halt, waitMs);
  };
  const forgive = (): void => {
    if (stop.aborted) return;
    clearTimeout(timer);
    timer = undefined;
  };
  const onStop = (): void => {
    hadSucceeded = phase === 'finished' && isGood;
    if (steering === undefined || phase !== 'working') order.halt();
    else {
      feed.write(steering.interrupt());
      haltAfter(order.interruptMs);
    }
  };
  stop.addEventListener('abort', onStop, { once: true });
  if (steering === undefined) feed.end();

  return {
    started() {
      phase = 'working';
      order.notes?.listen(note => {
        if (steering === undefined || phase !== 'working' || stop.aborted) return;
        feed.write(steering.say(note.text));
        order.told(note.id);
      });
    },
    finished(inFailure) {
      if (phase === 'over') return;
      if (phase !== 'finished') {
        phase = 'finished';
        feed.busy(false);
        feed.end();
        feed.finished();
      }
      isGood = !inFailure;
      if (inFailure) haltAfter(order.failedMs);
      else forgive();
    },
    resumed(isBusy) {
      if (phase !== 'finished') return;
      phase = 'deaf';
      feed.resumed();
      feed.busy(isBusy);
      forgive();
    },
    hadSucceeded: () => hadSucceeded,
    nudge() {
      if (steering === undefined || phase !== 'working' || stop.aborted) return false;
      feed.write(steering.say(nudgeWords));
      return true;
    },
    release() {
      phase = 'over';
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
    },
  };
}
