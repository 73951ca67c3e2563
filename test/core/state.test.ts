// Proves the small questions that everyone asks the state: is it busy, how long has it worked, how many tokens.

import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { next } from '../../src/core/next.ts';
import {
  activeMsAt,
  initialState,
  isBusy,
  liveIteration,
  noUsage,
  packState,
  type State,
  stateVersion,
  totalTokens,
  unpackState,
} from '../../src/core/state.ts';
import { evolve } from '../../src/modes/evolve.ts';
import { everyEvent } from './every-event.ts';
import { claims, failed, minute, Story, says, spec, t0, usd } from './given.ts';

it('given a live iteration or an unchecked claim, then the loop is busy, and otherwise not', () => {
  const story = new Story({ checks: ['x'] }, [spec('A')]);
  expect(isBusy(story.state)).toBe(false);
  story.begin('A');
  expect(isBusy(story.state)).toBe(true);
  expect(liveIteration(story.state, 1)?.task).toBe('A');
  expect(liveIteration(story.state, 2)).toBeUndefined();
  story.performed(claims('A'));
  expect(isBusy(story.state)).toBe(true);
  story.checked(false);
  expect(isBusy(story.state)).toBe(false);
});

it('given an idle loop, then its active time stands still; given a clock that went back, then it does not shrink', () => {
  const story = new Story();
  expect(activeMsAt(story.state, t0 + minute)).toBe(0);
  story.begin('A');
  expect(activeMsAt(story.state, t0 + minute)).toBe(minute);
  expect(activeMsAt(story.state, t0 - minute)).toBe(0);
});

it('given four kinds of tokens, then all of them count', () => {
  expect(
    totalTokens({ ...noUsage, inputTokens: 1, outputTokens: 20, cacheReadTokens: 300, cacheWriteTokens: 4_000 }),
  ).toBe(4_321);
});

it('the state at the beginning is plain data', () => {
  expect(JSON.parse(JSON.stringify(initialState))).toEqual(initialState);
});

const throughJson = (state: State): State => unpackState(JSON.parse(JSON.stringify(packState(state))));

it('given a loop with work, questions, waits and guidance, then the state comes back equal, table and counts included', () => {
  const story = new Story(
    { parallel: 2, checks: ['x'] },
    Array.from({ length: 200 }, (_, n) => spec(`T${n}`, { done: n % 7 === 1 })),
  );
  story.iteration('T0', claims('T0'));
  story.checked(true);
  story.iteration('T2', failed('connection'));
  story.iteration('T3', says('<escalate type="stuck">\n<summary>s</summary>\n</escalate>', { usage: usd(1) }));
  story.command({ type: 'tell', text: 'x', task: 'T4' });
  story.begin('T4');
  const { index: _before, ...table } = story.state.tasks;
  const back = throughJson(story.state);
  const { index: _after, ...tableBack } = back.tasks;
  expect(tableBack).toEqual(table);
  expect({ ...back, tasks: 0 }).toEqual({ ...story.state, tasks: 0 });
});

it('given any further event, then both go the same way', () => {
  const story = new Story({ parallel: 2 });
  story.begin('A');
  for (const event of everyEvent) {
    expect(packState(evolve(throughJson(story.state), event))).toEqual(packState(evolve(story.state, event)));
  }
});

it('given a task that the document called done, opened again and closed on a word, then it still counts as unverified', () => {
  const story = new Story({}, [spec('A', { done: true })]);
  story.given({ type: 'task.reopened', at: t0, task: 'A', because: '' });
  story.iteration('A', claims('A'));
  expect(story.state.tasks.unverified).toBe(1);
  expect(throughJson(story.state).tasks.unverified).toBe(1);
});

it('given a state of an older version, then what it does not know has its usual value', () => {
  const story = new Story();
  const { claims: _c, performers: _r, ...older } = packState(story.state) as Record<string, unknown>;
  const { performersByTask: _t, performersByPhase: _p, handoffWithinMs: _h, ...settings } = story.state.settings;
  const state = unpackState({ ...older, settings });
  expect(next(state, t0, 'me').effects).toMatchObject([{ type: 'begin', task: 'A' }]);
});

it('the packed state keeps its fields as long as it keeps its version', () => {
  const groups = Object.entries(packState(initialState) as Record<string, object>);
  const fields = groups
    .flatMap(([group, names]) => [group, ...Object.keys(names).map(name => `${group}.${name}`)])
    .sort();
  expect({ stateVersion, fields: createHash('sha256').update(fields.join()).digest('hex').slice(0, 16) }).toEqual({
    stateVersion: 15,
    fields: '44624a3c99b849d2',
  });
});
