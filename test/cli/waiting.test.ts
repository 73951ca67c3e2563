// What a person reads while a loop waits, and what `tell` says became of their words: pure functions of the state.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { becameOf } from '../../src/cli/commands/tell.ts';
import { liveLine, waitWords } from '../../src/cli/live.ts';
import type { Event } from '../../src/core/event.ts';
import { initialState, type LiveIteration, type State } from '../../src/core/state.ts';
import { addTasks, emptyTable } from '../../src/core/task.ts';
import { settings, spec } from '../core/given.ts';

const now = Date.parse('2026-11-15T13:53:00Z');
const zone = process.env['TZ'];
beforeEach(() => {
  process.env['TZ'] = 'UTC';
});
afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

const waiting = (limited: Readonly<Record<string, number>>, performers = ['claude']): State => ({
  ...initialState,
  loop: { ...initialState.loop, id: 'loop-1' },
  document: { ...initialState.document, isLoaded: true },
  settings: settings({ performers }),
  tasks: addTasks(emptyTable, [spec('US-1')]),
  performers: { ...initialState.performers, rateLimitedUntil: limited },
});

describe('F54: a provider that has said when it serves again', () => {
  it.each([
    ['2026-11-15T14:05:00Z', "waits for claude's limit to reset at 14:05Z (in 12 min), nothing is spent"],
    ['2026-11-15T13:53:40Z', "waits for claude's limit to reset at 13:53Z (in 40s), nothing is spent"],
    ['2026-11-15T18:00:00Z', "waits for claude's limit to reset at 18:00Z (in 4h 7m), nothing is spent"],
    ['2026-11-18T09:00:00Z', "waits for claude's limit to reset at 2026-11-18 09:00Z (in 2d 19h), nothing is spent"],
  ])('is shown with its time until %s', (reset, words) => {
    const state = waiting({ claude: Date.parse(reset) });
    expect(waitWords(state, now)).toBe(words);
    expect(liveLine(state, now, { dot: '|' })).toContain(words);
  });

  it('keeps the wait in a narrow terminal, where other parts go first', () => {
    const state = waiting({ claude: now + 720_000 });
    expect(liveLine(state, now, { dot: '|', columns: 80 })).toBe(
      "0/1 tasks | waits for claude's limit to reset at 14:05Z (in 12 min), nothing is spent",
    );
  });

  it('is no wait while another agent of the chain can work, nor when its time has come', () => {
    expect(waitWords(waiting({ claude: now + 720_000 }, ['claude', 'codex']), now)).toBeUndefined();
    expect(waitWords(waiting({ claude: now - 1 }), now)).toBeUndefined();
  });

  it('names the one that is back first when all of the chain wait', () => {
    const state = waiting({ claude: now + 7_200_000, codex: now + 600_000 }, ['claude', 'codex']);
    expect(waitWords(state, now)).toContain("codex's limit to reset at 14:03Z (in 10 min)");
  });
});

describe('other waits', () => {
  it('say what is left, or who paused', () => {
    const backoff: State = {
      ...waiting({}),
      control: { ...waiting({}).control, wait: { for: 'backoff', until: now + 4_000, because: 'x' } },
    };
    expect(waitWords(backoff, now)).toBe('waits for backoff, 4s left');
    expect(
      waitWords({ ...waiting({}), control: { ...waiting({}).control, paused: { by: 'ada', now: false } } }, now),
    ).toBe('paused by ada');
  });
});

describe('what became of guidance', () => {
  const working = (performer: string): State => ({
    ...waiting({}),
    memory: { ...waiting({}).memory, guidanceGiven: 1 },
    live: [{ iteration: 3, performer, task: 'US-1' } as LiveIteration],
  });
  const given = (by = 'ada'): Event => ({ type: 'guidance.given', at: now, text: 'mind the gap', by, because: 'x' });
  const reached = (id: string, delivered: boolean): Event => ({
    type: 'guidance.delivered',
    at: now,
    id,
    iteration: 3,
    delivered,
    because: 'x',
  });

  it('reached the agent that works', () => {
    expect(becameOf(working('claude'), [given(), reached('G2', true)], 'ada')).toMatch(
      /^Reached claude in iteration 3;/,
    );
  });

  it('could not reach it', () => {
    expect(becameOf(working('codex'), [given(), reached('G2', false)], 'ada')).toBe(
      'Agent "codex" takes no messages while it works; your words stand at the top of its next prompt.',
    );
  });

  it('is not known yet', () => {
    expect(becameOf(working('claude'), [], 'ada')).toBeUndefined();
    expect(becameOf(working('claude'), [given()], 'ada')).toBeUndefined();
  });

  it('is not taken for what became of somebody else’s words', () => {
    expect(becameOf(working('claude'), [reached('G1', true), given()], 'ada')).toBeUndefined();
    const both = [given('bob'), given(), reached('G2', true)];
    expect(becameOf(working('claude'), both, 'ada')).toBeUndefined();
    expect(becameOf(working('claude'), [...both, reached('G3', false)], 'ada')).toContain('takes no messages');
  });
});
