// LoopView: what is not known is absent, who works on a loop is one rule, and a list leaves the single tasks out.
import { describe, expect, it } from 'vitest';
import type { Event, TerminationReason } from '../../src/core/event.ts';
import { initialState, noUsage, type State } from '../../src/core/state.ts';
import { evolve } from '../../src/modes/evolve.ts';
import { fullLoopView, livenessOf, loopView } from '../../src/views/loop.ts';

import { holderOf, loopStarted } from '../contracts/store.ts';
import { claims, Story, says, spec } from '../core/given.ts';

const task = { id: 'T1', title: 'One', description: '', criteria: [], dependsOn: [], done: false, skipped: false };
const begun: readonly Event[] = [
  loopStarted('shop'),
  { type: 'tasks.loaded', at: 2, tasks: [task], hash: 'h', because: 'read' } as Event,
  {
    type: 'iteration.started',
    at: 1_000,
    iteration: 1,
    task: 'T1',
    performer: 'claude',
    holder: 'ann',
    attempt: 1,
    because: 'first',
  },
];
const folded = (...more: readonly Event[]): State => [...begun, ...more].reduce(evolve, initialState);
const lease = { loop: 'shop', holder: holderOf('ann'), token: 1, since: 1 };
const alive = { lease, alive: true, renewedAt: 5_000 };
const dead = { ...alive, alive: false };

it.each([
  ['it runs, and its process lives', false, alive, { is: 'held', holder: lease.holder, renewedAt: 5_000 }],
  ['it runs, and its process is dead', false, dead, { is: 'nobody' }],
  ['it runs, and there is no lease', false, undefined, { is: 'nobody' }],
  ['it has ended, and its process is not gone yet', true, alive, { is: 'ended', holder: lease.holder }],
  ['it has ended, and its process is dead', true, dead, { is: 'ended' }],
] as const)('given %s, then its liveness says so', (_what, isEnded, held, wanted) => {
  expect(livenessOf(isEnded, held)).toEqual(wanted);
});

describe('a loop at work', () => {
  const state = folded();

  it('given no usage from its agent, then there is none in the view, rather than a cost of 0', () => {
    expect(loopView({ state, seq: 3, held: alive }, 4_000).spend).toEqual({
      iterations: 1,
      activeMs: 3_000,
      cost: 'not reported',
    });
    const usage = { ...noUsage, outputTokens: 7, costUsdMicros: 12 };
    const told = folded({ type: 'usage.recorded', at: 1_500, iteration: 1, performer: 'claude', task: 'T1', usage });
    expect(loopView({ state: told, seq: 4, held: alive }, 4_000).spend).toMatchObject({
      cost: '$0.0000',
      usage: { costUsdMicros: 12 },
    });
  });

  it('given that nobody holds it, then the time since its last event is no work', () => {
    expect(loopView({ state, seq: 3, held: dead }, 9_000_000).spend.activeMs).toBe(0);
  });

  it('has its tasks one by one only where one loop is viewed, and is plain JSON', () => {
    const seen = { state, seq: 3, held: alive };
    expect(loopView(seen, 4_000).tasks).toEqual({ total: 1, done: 0, skipped: 0, blocked: 0, open: 1, unverified: 0 });
    const view = fullLoopView(seen, 4_000);
    expect(view.tasks.items).toEqual([{ id: 'T1', title: 'One', status: 'active', attempts: 1 }]);
    expect(view.live).toMatchObject([{ iteration: 1, task: 'T1', performer: 'claude', startedAt: 1_000 }]);
    expect(JSON.parse(JSON.stringify(view))).toEqual(view);
  });

  it('given its end, then how: the reason, the exit code, and whether it was proven', () => {
    const over = folded({
      type: 'loop.ended',
      at: 9_000,
      reason: 'max_iterations',
      limit: 'iterations',
      because: '1 of 1',
    });
    expect(loopView({ state: over, seq: 4, held: undefined }, 9_000).ending).toEqual({
      reason: 'max_iterations',
      limit: 'iterations',
      because: '1 of 1',
      at: 9_000,
      exitCode: 3,
      verified: false,
    });
  });
});

describe('one word for how a loop stands', () => {
  const seen = (state: State, held: typeof alive | undefined = alive) => loopView({ state, seq: 9, held }, 4_000);
  const ended = (reason: TerminationReason): State => folded({ type: 'loop.ended', at: 9_000, reason, because: '' });

  it('given a process that was killed, then it does not run: nothing is at work, nothing is healthy', () => {
    expect(seen(folded())).toMatchObject({ state: 'running', health: { state: 'healthy' }, live: [{ iteration: 1 }] });
    expect(seen(folded(), dead)).toMatchObject({ state: 'not-running', health: { state: 'not-running' }, live: [] });
  });

  it('given a pause of a loop that nobody runs, then it does not run either; paused is one that rests', () => {
    const paused = new Story();
    paused.command({ type: 'pause', now: false });
    expect(seen(paused.state, dead).state).toBe('not-running');
    expect(seen(paused.state)).toMatchObject({ state: 'paused', waits: { kind: 'pause' } });
  });

  it('given a claim among open tasks, then it is checking; given nothing read yet, then starting', () => {
    const story = new Story({ checks: ['x'] });
    story.begin('A');
    story.performed(claims('A'));
    expect(seen(story.state).state).toBe('checking');
    expect(seen([loopStarted('shop')].reduce(evolve, initialState)).state).toBe('starting');
  });

  it('given an end with work left, then it is stopped, whatever ended it; nothing done is not completed', () => {
    const reasons = ['max_iterations', 'budget_exhausted', 'explicit_stop', 'consecutive_errors'] as const;
    expect(reasons.map(reason => seen(ended(reason), undefined).state)).toEqual(reasons.map(() => 'stopped'));
    expect(seen(ended('goal_achieved'), undefined).state).toBe('taken-back');
    const skipped = folded({ type: 'task.skipped', at: 8_000, task: 'T1', because: '' } as Event);
    const over = evolve(skipped, { type: 'loop.ended', at: 9_000, reason: 'goal_achieved', because: '' });
    expect(seen(over, undefined).state).toBe('stopped');
  });

  it('given a question, then a loop that works on is not called healthy, and says why', () => {
    const story = new Story({}, [spec('A'), spec('B')]);
    story.iteration('A', says('<escalate type="deviation">\n<question>Which?</question>\n</escalate>'));
    story.begin('B');
    expect(seen(story.state)).toMatchObject({
      state: 'running',
      health: { state: 'degraded', because: '1 question waits for you' },
    });
  });
});
