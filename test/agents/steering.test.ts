// Proves what is said to a working agent, in which order, and what is not said too late.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Note } from '../../src/agents/performer.ts';
import { openSteering } from '../../src/agents/steering.ts';
import type { Stdin } from '../../src/processes/spawn.ts';

const failedMs = 30_000;
const interruptMs = 5_000;

interface Steered {
  readonly steering: ReturnType<typeof openSteering>;
  /** What reached stdin, in order; `halt` for signals. */
  readonly done: string[];
  note(text: string): void;
  stop(): void;
}

function steered(): Steered {
  const done: string[] = [];
  const stopping = new AbortController();
  const stdin: Stdin = {
    write: text => done.push(text),
    end: () => done.push('end'),
    finished: () => done.push('finished'),
    resumed: () => done.push('resumed'),
    busy: isBusy => done.push(isBusy ? 'busy' : 'idle'),
    waiting: isWaiting => done.push(isWaiting ? 'waits' : 'waits no more'),
    unreadBytes: () => 0,
  };
  let give = (_note: Note): void => {};
  const steering = openSteering({
    stdin,
    lines: { say: text => `say ${text}`, interrupt: () => 'interrupt' },
    notes: { listen: listener => (give = listener) },
    stop: stopping.signal,
    halt: () => done.push('halt'),
    onTold: note => done.push(`told ${note}`),
    interruptMs,
    failedMs,
    leavesMs: 3_000,
  });
  steering.started();
  return { steering, done, note: text => give({ id: 'n1', text }), stop: () => stopping.abort() };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('F75: an agent that only a program of its own keeps from leaving is ended soon, unless it speaks again', async () => {
  const { steering, done } = steered();
  steering.finished(false, true);
  steering.resumed(false);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(done).not.toContain('halt');
  steering.finished(false, true);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(done.at(-1)).toBe('halt');
});

describe('an agent that goes on after its last word', () => {
  it('works again, as busy as it is', () => {
    const { steering, done } = steered();
    steering.finished(false);
    steering.resumed(true);
    expect(done).toEqual(['idle', 'end', 'finished', 'resumed', 'busy']);
  });

  it('is told that once, and nothing when it had never finished', () => {
    const { steering, done } = steered();
    steering.resumed(false);
    expect(done).toEqual([]);
    steering.finished(false);
    steering.resumed(false);
    steering.resumed(true);
    expect(done.filter(each => each === 'resumed')).toHaveLength(1);
  });

  it('is not ended for the failure that was its last word', () => {
    const { steering, done } = steered();
    steering.finished(true);
    steering.resumed(false);
    vi.advanceTimersByTime(2 * failedMs);
    expect(done).not.toContain('halt');
  });

  it('has a time to exit anew when it has finished again', () => {
    const { steering, done } = steered();
    steering.finished(false);
    steering.resumed(false);
    steering.finished(true);
    expect(done.filter(each => each === 'finished')).toHaveLength(2);
    vi.advanceTimersByTime(failedMs);
    expect(done.at(-1)).toBe('halt');
  });

  it('hears no note, no nudge and no interrupt, as its input has ended', () => {
    const { steering, done, note, stop } = steered();
    steering.finished(false);
    steering.resumed(false);
    const before = done.length;
    note('One more thing.');
    expect(steering.nudge()).toBe(false);
    expect(done.slice(before)).toEqual([]);
    stop();
    expect(done.slice(before)).toEqual(['halt']);
  });

  it('is still ended when it was interrupted', () => {
    const { steering, done, stop } = steered();
    stop();
    steering.finished(false);
    steering.resumed(false);
    vi.advanceTimersByTime(interruptMs);
    expect(done.at(-1)).toBe('halt');
  });
});

describe('an agent had succeeded before it was stopped', () => {
  const succeeded = (...steps: readonly ((steered: Steered) => void)[]): boolean => {
    const one = steered();
    for (const step of steps) step(one);
    return one.steering.hadSucceeded();
  };
  const good = ({ steering }: Steered): void => steering.finished(false);
  const bad = ({ steering }: Steered): void => steering.finished(true);
  const goesOn = ({ steering }: Steered): void => steering.resumed(false);
  const stop = (one: Steered): void => one.stop();

  it.each([
    ['when its good last word came first', [good, stop], true],
    ['when a later word was good', [bad, good, stop], true],
    ['when it finished again', [good, goesOn, good, stop], true],
    ['not when the stop came first', [stop, good], false],
    ['not when its last word was bad', [bad, stop], false],
    ['not when it goes on', [good, goesOn, stop], false],
    ['not when nobody stopped it', [good], false],
  ])('%s', (_when, steps, expected) => {
    expect(succeeded(...steps)).toBe(expected);
  });
});
