// Proves which silence is a hang: first byte, silence, last word, and whose silence it is (F25-F27).
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RunningTimers, startTimers, type TimerCause, type TimerOrder } from '../../src/processes/timers.ts';

const minute = 60_000;
const issue = { firstByteMs: 2 * minute, silenceMs: 10 * minute, busySilenceMs: 30 * minute, afterResultMs: 30_000 };

interface Watched extends RunningTimers {
  readonly causes: readonly TimerCause[];
}

let isHeldUp = false;

function watch(order: Partial<TimerOrder> = {}): Watched {
  const causes: TimerCause[] = [];
  const running = startTimers(
    { timeMsMax: 24 * 60 * minute, timers: issue, ...order },
    () => isHeldUp,
    cause => causes.push(cause),
  );
  return { ...running, causes };
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  isHeldUp = false;
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

describe('a process that never says anything', () => {
  it('is ended when the time for its first byte is over, not before (F25)', async () => {
    const { causes } = watch();
    await pass(2 * minute - 1);
    expect(causes).toEqual([]);
    await pass(10);
    expect(causes).toEqual(['first-byte']);
  });

  it('is a silent one when nobody asked for a first byte', async () => {
    const { causes } = watch({ timers: { silenceMs: minute } });
    await pass(minute + 10);
    expect(causes).toEqual(['silence']);
  });

  it('is left alone without timers, up to the whole time', async () => {
    const { causes } = watch({ timers: {}, timeMsMax: 60 * minute });
    await pass(60 * minute - 1);
    expect(causes).toEqual([]);
    await pass(10);
    expect(causes).toEqual(['time']);
  });
});

describe('a process that falls silent', () => {
  it('may wait for what it began until its whole time is over', async () => {
    const { causes, heard, waiting } = watch({ timeMsMax: 120 * minute });
    heard();
    waiting(true);
    await pass(119 * minute);
    expect(causes).toEqual([]);
    await pass(minute + 10);
    expect(causes).toEqual(['time']);
  });

  it('goes on unharmed after the known stall of 405 s (F27)', async () => {
    const { causes, heard } = watch();
    heard();
    for (let stall = 0; stall < 5; stall += 1) {
      await pass(405_000);
      heard();
    }
    expect(causes).toEqual([]);
  });

  it('is ended ten minutes after its last byte, wherever the timer stood (F26)', async () => {
    const { causes, heard } = watch();
    heard();
    await pass(7 * minute);
    heard();
    await pass(10 * minute - 1);
    expect(causes).toEqual([]);
    await pass(10);
    expect(causes).toEqual(['silence']);
  });

  it('may be silent for longer while it is busy, and no longer than that', async () => {
    const { causes, heard, busy } = watch();
    heard();
    busy(true);
    await pass(30 * minute - 1);
    expect(causes).toEqual([]);
    await pass(10);
    expect(causes).toEqual(['silence']);
  });

  it('has the usual time again when it is no longer busy', async () => {
    const { causes, heard, busy } = watch();
    heard();
    busy(true);
    await pass(20 * minute);
    heard();
    busy(false);
    await pass(10 * minute + 10);
    expect(causes).toEqual(['silence']);
  });

  it('is not blamed while it is us who take nothing from it', async () => {
    const { causes, heard } = watch();
    heard();
    isHeldUp = true;
    await pass(60 * minute);
    isHeldUp = false;
    expect(causes).toEqual([]);
    await pass(20 * minute + 10);
    expect(causes).toEqual(['silence']);
  });

  it('is not blamed for bytes that lay there while we did not get to read', async () => {
    const { causes, heard } = watch();
    heard();
    setTimeout(() => setImmediate(heard), 10 * minute); // fires with the timer; the poll for input comes after it
    await pass(10 * minute + 10);
    expect(causes).toEqual([]);
  });

  it('is nudged first where that is possible, and ended when the nudge changes nothing (F26)', async () => {
    let nudges = 0;
    const onSilence = (): boolean => {
      nudges += 1;
      return true;
    };
    const { causes, heard } = watch({ onSilence });
    heard();
    await pass(11 * minute - 1);
    expect({ nudges, causes }).toEqual({ nudges: 1, causes: [] });
    await pass(10);
    expect({ nudges, causes }).toEqual({ nudges: 1, causes: ['silence'] });
  });

  it('has all its time again when the nudge woke it', async () => {
    const { causes, heard } = watch({ onSilence: () => true });
    heard();
    await pass(10 * minute + 10);
    heard();
    await pass(10 * minute - 20);
    expect(causes).toEqual([]);
  });

  it('is ended at once when it cannot be nudged', async () => {
    const { causes, heard } = watch({ onSilence: () => false });
    heard();
    await pass(10 * minute + 10);
    expect(causes).toEqual(['silence']);
  });
});

describe('a process that has said its last word', () => {
  it('is ended when it does not exit in the time after that', async () => {
    const { causes, heard, finished } = watch();
    heard();
    await pass(minute);
    finished();
    await pass(29_999);
    expect(causes).toEqual([]);
    await pass(10);
    expect(causes).toEqual(['result']);
  });

  it('has that time anew after each further word', async () => {
    const { causes, heard, finished } = watch();
    heard();
    finished();
    await pass(20_000);
    heard();
    await pass(20_000);
    expect(causes).toEqual([]);
    await pass(10_010);
    expect(causes).toEqual(['result']);
  });
});

describe('a process that goes on after its last word', () => {
  it('has the time of a working one again, also while it is busy', async () => {
    const { causes, heard, finished, resumed, busy } = watch();
    heard();
    finished();
    resumed();
    await pass(10 * minute - 1);
    expect(causes).toEqual([]);
    busy(true);
    await pass(20 * minute);
    expect(causes).toEqual([]);
    await pass(10);
    expect(causes).toEqual(['silence']);
  });

  it('has the short time to exit after it has finished again', async () => {
    const { causes, heard, finished, resumed } = watch();
    heard();
    finished();
    resumed();
    await pass(minute);
    finished();
    await pass(30_010);
    expect(causes).toEqual(['result']);
  });
});

describe('the whole time', () => {
  it('ends even a process that talks without end', async () => {
    const { causes, heard } = watch({ timeMsMax: 60 * minute });
    for (let talked = 0; talked < 60; talked += 1) {
      heard();
      await pass(minute);
    }
    await pass(10);
    expect(causes).toEqual(['time']);
  });

  it('may be longer than a timer can be', async () => {
    const { causes } = watch({ timers: {}, timeMsMax: Number.MAX_SAFE_INTEGER });
    await pass(2 ** 32);
    expect(causes).toEqual([]);
  });

  it('ends nothing after the process has ended by itself', async () => {
    const { causes, disarm } = watch();
    disarm();
    await pass(25 * 60 * minute);
    expect(causes).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('a chunk costs no new timer', () => {
  const { heard } = watch();
  heard();
  const arming = vi.spyOn(globalThis, 'setTimeout');
  for (let chunk = 0; chunk < 1_000; chunk += 1) heard();
  expect(arming).not.toHaveBeenCalled();
});
