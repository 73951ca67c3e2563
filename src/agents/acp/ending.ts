// Ends an ACP agent when it must: by its own cancel first, since that ends its tools in order, and by signals then.
import type { Talk } from './talk.ts';

const timerMsMax = 2_147_483_647; // longer ones fire at once

/** Why we broke it off before the agent had answered: asked to stop, out of time, or it does not hear us. */
export type Wound = 'stop' | 'time' | 'deaf' | undefined;

export interface Ending {
  readonly halt: AbortSignal;
  /** `close` is called when the talk is over and the agent may go by itself. */
  watch(talk: Talk, close: () => void): void;
  abandon(): void;
  /** It asks and asks, and reads no answer: it will not hear a cancel either. `close`: nothing of it is listened to. */
  giveUp(close: () => void): void;
  over(): Wound;
}

export function endingOf(stop: AbortSignal, timeMsMax: number, cancelMs: number): Ending {
  const halting = new AbortController();
  const halt = (): void => halting.abort();
  let wound: Wound;
  let talk: Talk | undefined;
  let hasAnswered = false;
  let patience: NodeJS.Timeout | undefined;

  function windDown(why: 'stop' | 'time'): void {
    if (!hasAnswered) wound ??= why;
    if (hasAnswered || talk?.stop() !== true) halt();
    else patience ??= setTimeout(halt, cancelMs);
  }

  const stopped = (): void => windDown('stop');
  const clock = setTimeout(windDown, Math.min(timeMsMax, timerMsMax), 'time');
  if (stop.aborted) stopped();
  else stop.addEventListener('abort', stopped, { once: true });
  return {
    halt: halting.signal,
    watch(begun, close) {
      talk = begun;
      void begun.over.then(end => {
        hasAnswered = end.type !== 'lost';
        if (wound !== undefined) halt();
        else close();
      });
    },
    abandon: halt,
    giveUp(close) {
      if (!hasAnswered) wound ??= 'deaf';
      close();
      halt();
    },
    over() {
      clearTimeout(clock);
      clearTimeout(patience);
      stop.removeEventListener('abort', stopped);
      return wound;
    },
  };
}
