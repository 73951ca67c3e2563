// Timers of a process: they tell one that hangs from one that works by no first byte, silence, or no exit after its result.

/** Longer ones fire at once. */
export const timerMsMax = 2_147_483_647;
const nudgedMs = 60_000;

/** Absent: that timer is off. */
export interface Timers {
  /** From its start to the first byte of output or errors. */
  readonly firstByteMs?: number;
  readonly silenceMs?: number;
  /** Instead of `silenceMs` while it is busy. */
  readonly busySilenceMs?: number;
  /** From its last word to its exit. */
  readonly afterResultMs?: number;
  /** What a nudge buys it. */
  readonly nudgedMs?: number;
}

export type TimerCause = 'time' | 'first-byte' | 'silence' | 'result';

export interface TimerOrder {
  readonly timeMsMax: number;
  /** Besides `timeMsMax`; none by default. */
  readonly timers?: Timers;
  /** It has been silent for too long: true when it was nudged and is to get some more time (`nudgedMs`). */
  readonly onSilence?: () => boolean;
}

export interface RunningTimers {
  /** A byte came, or the one who holds them up let go. Cheap: called for every chunk. */
  heard(): void;
  /** It has said its last word: from now on it has a short time to exit; further output starts that time anew. */
  finished(): void;
  /** It goes on after all: the times of one that works hold again. */
  resumed(): void;
  /** It works on something that may be silent for long (a tool): silence is allowed to last longer. */
  busy(isBusy: boolean): void;
  /** It waits for what it began itself: no silence is too long, only its whole time ends it. */
  waiting(isWaiting: boolean): void;
  disarm(): void;
}

interface Due {
  readonly cause: TimerCause;
  readonly atMs: number;
}

/** Times of `performance.now()`. */
interface Life {
  readonly startedMs: number;
  heardMs?: number;
  finishedMs?: number | undefined;
  nudgedAtMs?: number;
  isBusy: boolean;
  isWaiting?: boolean;
}

function dueOfSilence(life: Life, timers: Timers): Due | undefined {
  if (life.heardMs === undefined && timers.firstByteMs !== undefined)
    return { cause: 'first-byte', atMs: life.startedMs + timers.firstByteMs };
  const lastMs = life.heardMs ?? life.startedMs;
  if (life.finishedMs !== undefined && timers.afterResultMs !== undefined)
    return { cause: 'result', atMs: Math.max(life.finishedMs, lastMs) + timers.afterResultMs };
  if (life.isWaiting === true) return undefined;
  const allowedMs = life.isBusy ? timers.busySilenceMs : timers.silenceMs;
  if (allowedMs === undefined) return undefined;
  const nudgedEndMs = isNudged(life) ? life.nudgedAtMs! + (timers.nudgedMs ?? nudgedMs) : undefined;
  return { cause: 'silence', atMs: nudgedEndMs ?? lastMs + allowedMs };
}

/** And silent since. */
function isNudged({ nudgedAtMs, heardMs, startedMs }: Life): boolean {
  return nudgedAtMs !== undefined && nudgedAtMs > (heardMs ?? startedMs);
}

function nextDue(life: Life, { timeMsMax, timers = {} }: TimerOrder): Due {
  const whole: Due = { cause: 'time', atMs: life.startedMs + timeMsMax };
  const silence = dueOfSilence(life, timers);
  return silence && silence.atMs < whole.atMs ? silence : whole;
}

/** `isHeldUp`: nobody takes what it says, so that its silence is ours. `end` is called once. */
export function startTimers(
  order: TimerOrder,
  isHeldUp: () => boolean,
  end: (cause: TimerCause) => void,
): RunningTimers {
  const life: Life = { startedMs: performance.now(), isBusy: false };
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;

  function arm(): void {
    clearTimeout(timer);
    if (isOver) return;
    const waitMs = Math.max(0, Math.ceil(nextDue(life, order).atMs - performance.now()));
    timer = setTimeout(look, Math.min(waitMs, timerMsMax));
  }

  /** When we were held up ourselves, its bytes may lie there unread: two immediates let a whole poll for input pass. */
  function look(): void {
    if (nextDue(life, order).atMs > performance.now()) arm();
    else setImmediate(() => setImmediate(decide));
  }

  function decide(): void {
    if (isOver) return;
    const due = nextDue(life, order);
    if (due.cause !== 'time' && isHeldUp()) life.heardMs = performance.now();
    else if (due.atMs <= performance.now() && !nudge(life, due, order.onSilence)) {
      isOver = true;
      end(due.cause);
    }
    arm();
  }

  const set = (change: Partial<Life>): void => {
    Object.assign(life, change);
    arm();
  };

  arm();
  return {
    heard() {
      if (life.heardMs === undefined) set({ heardMs: performance.now() });
      else life.heardMs = performance.now();
    },
    finished: () => set({ finishedMs: performance.now() }),
    resumed: () => set({ finishedMs: undefined }),
    busy: isBusy => set({ isBusy }),
    waiting: isWaiting => set({ isWaiting }),
    disarm() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** True when a silent process was nudged, once, and so gets some more time. */
function nudge(life: Life, { cause }: Due, onSilence: TimerOrder['onSilence']): boolean {
  if (cause !== 'silence' || isNudged(life) || onSilence?.() !== true) return false;
  life.nudgedAtMs = performance.now();
  return true;
}
