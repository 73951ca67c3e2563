// What a typed flag changes in a loop that goes on: one row per setting, and nothing that nobody typed.
import { describe, expect, it } from 'vitest';
import { changedSettings } from '../../../src/app/session/resume-rules.ts';
import type { Limits, Settings } from '../../../src/core/settings.ts';
import { defaultSettings } from '../../../src/modes/registry.ts';

const before: Settings = { ...defaultSettings('prd'), checkpoints: true, commits: true, checks: ['npm test'] };
const asked = (wanted: Partial<Settings>, typed: readonly string[], flags = {}, was = before) =>
  changedSettings(was, { ...was, ...wanted }, key => typed.includes(key), flags);
const limits = (some: Partial<Limits>, was = before): Partial<Settings> => ({ limits: { ...was.limits, ...some } });

describe('a loop that goes on', () => {
  it.each<[string, Partial<Settings>, readonly string[], object | undefined]>([
    ['a limit that was typed', limits({ iterationsMax: 7 }), ['iterationsMax'], { limits: { iterationsMax: 7 } }],
    ['a limit from a file', limits({ iterationsMax: 7 }), [], undefined],
    ['a limit as it was', {}, ['iterationsMax'], undefined],
    ['another agent', { performers: ['pi'] }, [], { settings: { performers: ['pi'] } }],
    ['other checks', { checks: ['make'] }, [], { settings: { checks: ['make'] } }],
    ['a promise that was typed', { promise: 'YES' }, ['promise'], { settings: { promise: 'YES' } }],
    ['a promise from a file', { promise: 'YES' }, [], undefined],
    ['no checkpoints', { checkpoints: false }, ['noCheckpoints'], { settings: { checkpoints: false } }],
    ['no checkpoints, by a file', { checkpoints: false }, [], undefined],
    ['no commits', { commits: false }, ['noCommit'], { settings: { commits: false } }],
    ['a rollback', { rollbackAfter: 2 }, ['rollbackAfter'], { settings: { rollbackAfter: 2 } }],
  ])('given %s, then it changes that and nothing else', (_what, wanted, typed, change) => {
    const expected = change && { type: 'limits', limits: {}, settings: {}, ...change };
    expect(asked(wanted, typed)).toEqual(expected);
  });

  it('given checkpoints or commits that it began without, then a flag does not bring them back', () => {
    const was = { ...before, checkpoints: false, commits: false };
    expect(asked({ checkpoints: true, commits: true }, ['noCheckpoints', 'noCommit'], {}, was)).toBeUndefined();
  });

  it('given the same time of day again, then the deadline stays; given a date, then it moves', () => {
    const was = { ...before, ...limits({ deadlineAt: 1_000 }) };
    const later = limits({ deadlineAt: 2_000 }, was);
    expect(asked(later, ['deadlineAt'], { deadline: '07:00' }, was)).toBeUndefined();
    const moved = { limits: { deadlineAt: 2_000 } };
    expect(asked(later, ['deadlineAt'], { deadline: '2030-01-01T00:00:00Z' }, was)).toMatchObject(moved);
  });

  it('given another --parallel, or no bound at all, then it is refused', () => {
    expect(() => asked({ parallel: 4 }, ['parallel'])).toThrow('--parallel is settled when a loop begins');
    const unlimited = { iterationsMax: null, costUsdMicrosMax: null };
    expect(() => asked(limits(unlimited), Object.keys(unlimited))).toThrow('Nothing would bound this loop any more');
  });
});
