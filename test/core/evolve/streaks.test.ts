// Proves which event begins which streak anew, and which streaks an iteration makes longer: one row each.
import { describe, expect, it } from 'vitest';
import type { Event, EventOf } from '../../../src/core/event.ts';
import type { Failure } from '../../../src/core/failure.ts';
import type { State, Streaks } from '../../../src/core/state.ts';
import { evolve } from '../../../src/modes/evolve.ts';
import { type StateParts, Story, spec, t0, withParts } from '../given.ts';

/** Every streak stands at 7, and the error before was "same". */
const streaks = {
  errors: 7,
  failures: 7,
  sameErrors: 7,
  lastError: 'same',
  terminations: 7,
  failedStarts: 7,
  sinceProgress: 7,
  blockedSinceProgress: 7,
  rateLimits: { agent: 7, other: 7 },
} as const;

const long = (part: StateParts = {}): State => {
  const story = new Story({}, [spec('A'), spec('B')]);
  story.begin('A');
  return withParts(story.state, { streaks }, part);
};

/** The streaks that are not as they were. */
function changed(state: State, event: Event): Partial<Streaks> {
  const after = evolve(state, event).streaks;
  const names = Object.keys(streaks) as (keyof typeof streaks)[];
  return Object.fromEntries(names.filter(name => after[name] !== state.streaks[name]).map(name => [name, after[name]]));
}

const question = (kind: 'stuck' | 'storage' | 'agent', task?: string): StateParts => ({
  questions: { open: [{ id: 'E1', kind, task, summary: '', context: '', options: [], question: '', raisedAt: t0 }] },
});
const answer = (by: string): Event => ({
  type: 'escalation.answered',
  at: t0,
  id: 'E1',
  answer: { kind: 'retry' },
  by,
  because: '',
});
const resume: Event = { type: 'loop.resumed', at: t0, by: 'ada', because: '' };
const ended = { reason: 'consecutive_errors' as const, because: '', at: t0 };
const block = (task: string): Event => ({ type: 'task.blocked', at: t0, task, because: '' });
const byPerson = { sinceProgress: 0, sameErrors: 0, failedStarts: 0 };
const noFailures = {
  errors: 0,
  failures: 0,
  sameErrors: 0,
  terminations: 0,
  failedStarts: 0,
};

describe('what begins a streak anew', () => {
  const closed: Event = { type: 'task.closed', at: t0, task: 'A', iteration: 1, verified: true, because: '' };
  it.each<[string, State, Event, Partial<Streaks>]>([
    ['a task is closed', long(), closed, { sinceProgress: 0, blockedSinceProgress: 0 }],
    ['another task is blocked', long(), block('A'), { blockedSinceProgress: 8 }],
    ['a person answers', long(question('storage')), answer('ada'), byPerson],
    ['a person answers about a task', long(question('stuck', 'A')), answer('ada'), byPerson],
    ['a person answers about failures', long(question('stuck')), answer('ada'), { ...byPerson, errors: 0 }],
    ['Ralph closes a question', long(question('storage')), answer('ralph'), {}],
    ['a pause ends', long({ control: { paused: { by: 'ada', now: false } } }), resume, {}],
    ['a person ends a wait', long(), resume, { rateLimits: {} }],
    ['a new process takes over', long(), { ...resume, takesOver: true }, {}],
    [
      'an ended loop is reopened',
      long({ control: { ended } }),
      resume,
      { ...noFailures, sinceProgress: 0, blockedSinceProgress: 0, rateLimits: {} },
    ],
    ['limits change', long(), { type: 'limits.changed', at: t0, limits: {}, by: 'ada', because: '' }, {}],
  ])('%s', (_name, state, event, wanted) => {
    expect(changed(state, event)).toEqual(wanted);
  });

  it('the first task that is blocked gives the others a new window only when its claim had failed (F77)', () => {
    const claimed = new Story({ checks: ['x'] }, [spec('A'), spec('B')]);
    claimed.iteration('A', { message: 'Task A complete' });
    claimed.checked(false);
    const state = withParts(claimed.state, { streaks: { ...streaks, blockedSinceProgress: 0 } });
    expect(changed(state, block('A'))).toEqual({ sinceProgress: 0, blockedSinceProgress: 1 });
    expect(changed(state, block('B'))).toEqual({ blockedSinceProgress: 1 });
    expect(changed(withParts(state, { streaks: { blockedSinceProgress: 1 } }), block('A'))).toEqual({
      blockedSinceProgress: 2,
    });
  });
});

describe('what an ended iteration does to streaks', () => {
  type Part = Partial<EventOf<'iteration.ended'>>;
  const because = (kind: Failure['kind'], echo = 'same'): Part => ({
    outcome: 'failed',
    echo,
    failure: { kind, detail: '' },
  });
  const end = (part: Part): Event => ({
    type: 'iteration.ended',
    at: t0,
    iteration: 1,
    task: 'A',
    performer: 'agent',
    outcome: 'succeeded',
    durationMs: 0,
    because: '',
    excerpt: '',
    echo: '',
    ...part,
  });
  const failed = { failures: 8, terminations: 0, failedStarts: 0 };
  const well = { ...noFailures, lastError: '', rateLimits: { other: 7 } };

  it.each<[string, Part, Partial<Streaks>]>([
    ['well', {}, { ...well, sinceProgress: 8 }],
    ['with a question', { outcome: 'escalated' }, well],
    ['with a handoff', { outcome: 'handed-off' }, { ...well, sinceProgress: 8 }],
    ['by our own stop', { outcome: 'interrupted', failure: { kind: 'stopped', detail: '' } }, {}],
    ['with the same error', because('process'), { ...failed, errors: 8, sameErrors: 8, sinceProgress: 8 }],
    [
      'with another error',
      because('process', 'new'),
      { ...failed, errors: 8, sameErrors: 1, lastError: 'new', sinceProgress: 8 },
    ],
    [
      'with an error without words',
      because('process', ''),
      { ...failed, errors: 8, sameErrors: 1, lastError: 'process', sinceProgress: 8 },
    ],
    ['by a provider’s trouble', because('connection'), failed],
    ['before it started', because('spawn'), { ...failed, failedStarts: 8, errors: 8, sameErrors: 8, sinceProgress: 8 }],
    [
      'at a provider’s limit',
      { ...because('rate-limit'), waitUntil: t0 + 1, waitFor: 'limit-reset' },
      { ...failed, rateLimits: { agent: 8, other: 7 } },
    ],
  ])('it ended %s', (_name, part, wanted) => {
    expect(changed(long(), end(part))).toEqual(wanted);
  });

  it('by the health ladder: only then terminations are in a row', () => {
    const state = long();
    const terminated = state.live.map(one => ({ ...one, terminated: 'quiet' }));
    expect(changed({ ...state, live: terminated }, end(because('timeout')))).toMatchObject({ terminations: 8 });
  });
});
