// Proves that every event has a sentence for people, with its reason in it and nothing left blank.
import { expect, it } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { sentenceOf } from '../../src/views/timeline.ts';
import { everyEvent } from '../core/every-event.ts';
import { t0, usd } from '../core/given.ts';

it.each(everyEvent.map(event => [event.type, event] as const))('%s reads as a sentence', (_type, event) => {
  const sentence = sentenceOf(event);
  expect(sentence.length).toBeGreaterThan(8);
  expect(sentence).not.toMatch(/undefined|null|NaN|\[object/);
});

const of = <Type extends Event['type']>(type: Type, part: object): Event =>
  ({ ...everyEvent.find(event => event.type === type), ...part }) as Event;

it.each<[Event, string]>([
  [of('task.closed', { verified: false }), 'A done, closed unverified: the reason'],
  [of('task.closed', { verified: true }), 'A done, proven: the reason'],
  [of('check.ended', { passed: true }), 'check npm test passed for A in 0.0s'],
  [of('check.ended', {}), 'check npm test FAILED for A in 0.0s'],
  [of('signal.read', { accepted: false, signal: 'promise' }), 'iteration 1: its promise does not count: the reason'],
  [
    of('iteration.ended', { outcome: 'failed', waitUntil: t0 + 2_000, waitFor: 'backoff' }),
    'iteration 1 failed: the reason; goes on in 2s',
  ],
  [
    of('iteration.ended', { repetition: { kind: 'similar', detail: 'like before' } }),
    'iteration 1 succeeded: the reason; it may be going in circles: like before',
  ],
  [of('tasks.saved', { failed: 'read-only' }), 'document not written: read-only'],
  [of('escalation.answered', { answer: { kind: 'option', option: 2 } }), 'E1 answered by ada: option 2'],
  [
    of('escalation.answered', { answer: { kind: 'text', text: 'so' }, late: true }),
    'E1 answered by ada: "so" (late, no effect)',
  ],
  [of('guidance.given', { task: 'A' }), 'guidance from ada for A: mind the gap'],
  [of('budget.alerted', {}), 'budget at 80 %: the reason'],
  [of('loop.paused', { now: true }), 'paused by ada, at once'],
  [of('loop.paused', { now: false }), 'paused by ada, after the live iteration'],
  [of('merge.ended', { merged: true }), 'merge of iteration 1 done: the reason'],
  [
    of('usage.recorded', { usage: usd(1.5, { inputTokens: 7, estimated: true }) }),
    'iteration 1 used 7 tokens, $1.50 (est.)',
  ],
])('given %o, then it reads so', (event, sentence) => {
  expect(sentenceOf(event)).toContain(sentence);
});
