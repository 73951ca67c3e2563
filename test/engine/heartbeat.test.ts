// Proves that a flood of reports becomes a few, the newest, and that what cannot wait does not.
import { expect, it } from 'vitest';
import type { Input } from '../../src/core/input.ts';
import { startHeartbeat, throttle } from '../../src/engine/heartbeat.ts';
import { settings } from '../core/given.ts';
import { VirtualClock } from '../simulate/clock.ts';
import { random } from '../simulate/random.ts';

function speaker() {
  const clock = new VirtualClock(random(1));
  const said: string[] = [];
  return { clock, said, throttled: throttle<string>(clock, 250, word => said.push(word)) };
}

it('the first word is said at once', () => {
  const { said, throttled } = speaker();
  throttled.say('one');
  expect(said).toEqual(['one']);
});

it('of many words only the newest is said, when its time has come', () => {
  const { clock, said, throttled } = speaker();
  for (const word of ['one', 'two', 'three', 'four']) throttled.say(word);
  expect(said).toEqual(['one']);
  const before = clock.now();
  clock.advance();
  expect([said, clock.now() - before]).toEqual([['one', 'four'], 250]);
  throttled.say('five');
  clock.advance();
  expect(said).toEqual(['one', 'four', 'five']);
});

it('what waits at the end is not said', () => {
  const { clock, said, throttled } = speaker();
  throttled.say('one');
  throttled.say('two');
  throttled.stop();
  clock.advance();
  expect(said).toEqual(['one']);
});

it('what cannot wait is said at once, and the older one that waited is not said after it', () => {
  const clock = new VirtualClock(random(1));
  const said: number[] = [];
  const throttled = throttle<number>(
    clock,
    250,
    value => said.push(value),
    (value, before = 0) => value - before >= 10,
  );
  for (const value of [1, 2, 12, 13]) throttled.say(value);
  expect(said).toEqual([1, 12]);
  clock.advance();
  expect(said).toEqual([1, 12, 13]);
  expect(clock.waiting).toBe(0);
});

it('an agent that waits for what it left at work is not called quiet, and one that waits no more is', () => {
  const clock = new VirtualClock(random(1));
  const quiet: number[] = [];
  const post = (input: Input) => void (input.type === 'heard' && quiet.push(input.quietMs));
  const heartbeat = startHeartbeat(1, { clock, limits: settings().limits, isInteractive: false, post });
  heartbeat.waiting(true);
  clock.advance();
  heartbeat.waiting(false);
  clock.advance();
  heartbeat.stop();
  expect([quiet[0], (quiet[1] ?? 0) > 0]).toEqual([0, true]);
});
