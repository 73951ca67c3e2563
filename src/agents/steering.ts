// Steering of a working agent besides its prompt: notes, a nudge, that no more will come and, before signals, an interrupt.

import { nudgeWords } from '../core/handoff.ts';
import type { Stdin } from '../processes/spawn.ts';
import type { SteeringLines } from './agent.ts';
import type { Notes } from './performer.ts';

export interface SteeringOrder {
  readonly stdin: Stdin;
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
  /** How long it may stay when only programs that it left behind keep it. */
  readonly leavesMs: number;
}

export function openSteering(order: SteeringOrder) {
  const { stdin, lines, stop } = order;
  let phase: 'starting' | 'working' | 'finished' | 'deaf' | 'over' = 'starting';
  let isGood = false;
  let hadSucceeded = false;
  const halt = laterOnce(order.halt);

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
      halt.after(order.interruptMs);
    }
  }

  stop.addEventListener('abort', onStop, { once: true });
  if (lines === undefined) stdin.end();

  return {
    /** The process is there: what we say from now on reaches it. */
    started(): void {
      phase = 'working';
      order.notes?.listen(note => say(note.text) && order.onTold(note.id));
    },
    /** It has said its last word. May be called again: a later word counts. */
    finished(inFailure: boolean, leaves = false): void {
      if (phase === 'over') return;
      if (phase !== 'finished') endInput(stdin);
      phase = 'finished';
      isGood = !inFailure;
      if (inFailure || leaves) halt.after(inFailure ? order.failedMs : order.leavesMs);
      else if (!stop.aborted) halt.cancel();
    },
    /** That was not its last word: it works on, deaf, since its input has ended. Nothing happens to one that never finished. */
    resumed(isBusy: boolean): void {
      if (phase !== 'finished') return;
      phase = 'deaf';
      stdin.resumed();
      stdin.busy(isBusy);
      if (!stop.aborted) halt.cancel();
    },
    /** Its good last word was there before the stop came. */
    hadSucceeded: () => hadSucceeded,
    /** True when it was nudged. */
    nudge: () => say(nudgeWords),
    release(): void {
      phase = 'over';
      halt.cancel();
      stop.removeEventListener('abort', onStop);
    },
  };
}

/** A second `after` does not change the time of the first. */
function laterOnce(act: () => void) {
  let timer: NodeJS.Timeout | undefined;
  return {
    after(waitMs: number): void {
      timer ??= setTimeout(act, waitMs);
    },
    cancel(): void {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** From now on it has a short time to exit. */
function endInput(stdin: Stdin): void {
  stdin.busy(false);
  stdin.end();
  stdin.finished();
}
