// Steering of a working agent besides its prompt: notes, a nudge, that no more will come and, before signals, an interrupt.

import { nudgeWords } from '../core/handoff.ts';
import type { Feed } from '../processes/spawn.ts';
import type { SteeringLines } from './agent.ts';
import type { Notes } from './performer.ts';

export interface SteeringOrder {
  readonly stdin: Feed;
  /** Absent: it hears nothing but its prompt. */
  readonly lines: SteeringLines | undefined;
  readonly notes: Notes | undefined;
  readonly stop: AbortSignal;
  /** Ends the process by signals. */
  readonly halt: () => void;
  readonly onTold: (note: string) => void;
  /** What its own interrupt gets before signals do. */
  readonly interruptMs: number;
  /** How long it may go on talking after it has ended in failure. */
  readonly failedMs: number;
}

export interface Steering {
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

export function openSteering(order: SteeringOrder): Steering {
  const { stdin, lines, stop } = order;
  let phase: 'starting' | 'working' | 'finished' | 'deaf' | 'over' = 'starting';
  let isGood = false;
  let hadSucceeded = false;
  let timer: NodeJS.Timeout | undefined;

  function cancelHalt(): void {
    if (stop.aborted) return;
    clearTimeout(timer);
    timer = undefined;
  }

  /** False when it is not there to hear it. */
  function say(text: string): boolean {
    if (lines === undefined || phase !== 'working' || stop.aborted) return false;
    stdin.write(lines.say(text));
    return true;
  }

  function onStop(): void {
    hadSucceeded = phase === 'finished' && isGood;
    if (lines === undefined || phase !== 'working') order.halt();
    else {
      stdin.write(lines.interrupt());
      timer ??= setTimeout(order.halt, order.interruptMs);
    }
  }

  stop.addEventListener('abort', onStop, { once: true });
  if (lines === undefined) stdin.end();

  return {
    started() {
      phase = 'working';
      order.notes?.listen(note => say(note.text) && order.onTold(note.id));
    },
    finished(inFailure) {
      if (phase === 'over') return;
      if (phase !== 'finished') {
        phase = 'finished';
        stdin.busy(false);
        stdin.end();
        stdin.finished();
      }
      isGood = !inFailure;
      if (inFailure) timer ??= setTimeout(order.halt, order.failedMs);
      else cancelHalt();
    },
    resumed(isBusy) {
      if (phase !== 'finished') return;
      phase = 'deaf';
      stdin.resumed();
      stdin.busy(isBusy);
      cancelHalt();
    },
    hadSucceeded: () => hadSucceeded,
    nudge: () => say(nudgeWords),
    release() {
      phase = 'over';
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
    },
  };
}
