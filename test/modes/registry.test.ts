// Proves the limits, settings and policy of each mode, and that the core goes by the recorded policy, not by a name.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { makeEvolve } from '../../src/core/mode.ts';
import { next } from '../../src/core/next.ts';
import { houseSettings, isBounded, type Settings } from '../../src/core/settings.ts';
import { initialState, type State } from '../../src/core/state.ts';
import { upcast } from '../../src/ledger/upcast.ts';

import { evolve } from '../../src/modes/evolve.ts';
import {
  defaultSettings,
  findRules,
  type ModeWord,
  modeFor,
  modeName,
  modeNames,
  openMode,
  openModeSession,
} from '../../src/modes/registry.ts';

import { endingOf } from '../../src/views/ending.ts';
import { hour, minute } from '../core/given.ts';
import { ledgerFiles, readLedgers } from '../oracles/ledgers.ts';

it.each<[ModeWord, number, number, number | null, number | null, number, string, (number | null)?]>([
  ['goal', 10, 50, 120 * minute, 3, 5, 'DONE'],
  ['prompt', 100, 10, 4 * hour, 5, 5, 'LOOP_COMPLETE'],
  ['prd', 50, 50, null, null, 5, 'DONE', null], // what bounds a list: three tasks blocked in a row
  ['project', 50, 50, null, null, 3, 'DONE', null],
  ['plan', 10, 50, null, 10, 4, 'DONE', 10], // one try and three more; failures of all steps come in a row
  ['review', 60, 50, 30 * minute, 12, 3, 'ALL_ISSUES_RESOLVED'],
])(
  'given the mode %s, then its limits are the seed’s',
  (mode, iterations, dollars, durationMs, window, attempts, promise, errors = 5) => {
    expect(defaultSettings(mode).limits).toMatchObject({
      iterationsMax: iterations,
      costUsdMicrosMax: dollars * 1_000_000,
      durationMsMax: durationMs,
      noProgressIterations: window,
      attemptsPerTaskMax: attempts,
      consecutiveErrorsMax: errors,
      escalationsPerTaskMax: 3,
      averageIterationMsMax: null,
    });
    expect(defaultSettings(mode).promise).toBe(promise);
    expect(isBounded(defaultSettings(mode).limits)).toBe(true);
  },
);

it('given the default settings, then the thresholds are those of the seeds', () => {
  expect(defaultSettings('goal')).toMatchObject({
    contextFractionMax: 0.7,
    budgetAlertFraction: 0.8,
    errorsToHandOff: 3,
    contextCharsMax: 5_000,
    backoffBaseMs: 1_000,
    backoffMsMax: 60_000,
    sameErrorsToEscalate: null,
    ladder: { stuckAfterMs: 30 * minute, nudgeEveryMs: 10 * minute, nudgesMax: 3, answerWithinMs: 15 * minute },
  });
  expect(defaultSettings('prd').sameErrorsToEscalate).toBe(3);
});

const tasks = houseSettings.policy;

it.each<[ModeWord, string, ModeWord, Partial<Settings['policy']>]>([
  ['prd', '/project/PRD.json', 'prd', {}],
  ['prd', '/project/spec.md', 'lists', {}],
  ['prd', '/pro\nject/PRD.JSONC', 'prd', {}],
  ['prd', 'tasks.yaml', 'lists', {}],
  ['project', '/project/tasks.json', 'project', { crashIsAttempt: true, documentShows: 'progress' }],
  [
    'project',
    'spec.md',
    'interview',
    { crashIsAttempt: true, documentShows: 'progress', restoreKeepsDocument: false, setsAside: false },
  ],
  [
    'plan',
    '/project/plan.md',
    'plan',
    { subject: 'steps', countsRetries: true, documentShows: 'blocked', vault: true, setsAside: false },
  ],
  [
    'review',
    '/project/spec.md',
    'review',
    {
      subject: 'document',
      claimsBy: 'review-tag',
      achievedBy: 'rounds',
      onErrors: 'ask',
      restoreKeepsDocument: false,
      setsAside: false,
    },
  ],
  [
    'prompt',
    '/project/PROMPT.md',
    'prompt',
    { tasks: 'one', subject: 'task', claimsBy: 'checkbox', progressBy: 'changes' },
  ],
  [
    'goal',
    '/home/goals/x.md',
    'goal',
    {
      tasks: 'one',
      subject: 'goal',
      claimsBy: 'report',
      progressBy: 'report',
      documentShows: 'nothing',
      textFixedAtStart: true,
    },
  ],
])(
  'given %s for %s, then the mode is %s, and its policy is that of a list of tasks but for these',
  (word, document, mode, policy) => {
    expect(modeFor(word, document)).toBe(mode);
    expect(defaultSettings(mode)).toMatchObject({ mode, policy: { ...tasks, ...policy } });
  },
);

it('given a mode’s name outside its registry, then the compiler refuses to look into it', () => {
  // @ts-expect-error: opaque
  expect(defaultSettings('goal').mode === 'goal').toBe(true);
});

describe('a loop of another release', () => {
  const started = (settings: object, document = '/project/spec.md') => ({
    type: 'loop.started',
    at: 1,
    document,
    settings,
  });
  const read = (stored: object): Settings => (upcast(stored) as Event & { settings: Settings }).settings;

  it('given no policy, then it has that of its mode and document, and what it recorded stays', () => {
    const { mode, policy, promise, ...rest } = read(started({ mode: 'project', promise: 'OVER', stepwise: false }));
    expect([mode, policy, promise]).toEqual(['interview', defaultSettings('interview').policy, 'OVER']);
    expect(rest).not.toHaveProperty('stepwise');
  });

  it('given a policy of a build before 0.5, then what it lacks is of its mode, and a review has its own settings', () => {
    const { achievedBy: _, ...policy } = defaultSettings('review').policy;
    const review = { reviewers: ['a'], roundsMax: 2, targetConfidence: 90 };
    const settings = read(started({ ...defaultSettings('review'), policy: { ...policy, onErrors: 'end' }, review }));
    expect(settings.policy).toEqual({ ...defaultSettings('review').policy, onErrors: 'end' });
    expect([settings.rounds, settings.own]).toEqual([2, { reviewers: ['a'], targetConfidence: 90 }]);
  });

  it('given a policy that is not the one of today, then it keeps its own', () => {
    const own = { ...defaultSettings('prd'), policy: { ...tasks, onErrors: 'ask' as const } };
    expect(read(started(own))).toBe(own);
  });

  it.each(['triage', 'constructor'])(
    'given the unknown mode %s, then it can be read, and to open it is refused',
    async mode => {
      const { settings } = evolve(initialState, upcast(started({ mode })));
      expect([settings.mode, settings.policy]).toEqual([mode, { ...tasks, setsAside: false }]);
      const because = `The mode "${mode}" is not known here: its loop was made by a newer version of Ralph.`;
      await expect(openMode(settings.mode)).rejects.toThrow(because);
      await expect(openModeSession(settings.mode)).rejects.toThrow(because);
      expect(() => defaultSettings(settings.mode)).toThrow(because);
    },
  );
});

/** The first loops of each mode that 0.4.0 recorded, interviews among them. */
const recorded = (() => {
  const byMode = new Map<unknown, Event[][]>();
  for (const file of ledgerFiles)
    for (const { events } of readLedgers(file)) {
      const all = events.map(one => upcast(one.stored));
      const mode = all.find(one => one.type === 'loop.started')?.settings.mode;
      const known = byMode.get(mode) ?? [];
      if (known.length < 50) byMode.set(mode, [...known, all]);
    }
  return byMode;
})();

it.each(modeNames)(
  'given loops of the mode %s under another name, then states, effects and endings are the same',
  mode => {
    const loops = recorded.get(mode) ?? [];
    expect(loops.length).toBeGreaterThan(0);
    const triage = modeName('triage' as ModeWord);
    const renamed = (event: Event): Event =>
      event.type === 'loop.started' ? { ...event, settings: { ...event.settings, mode: triage } } : event;
    const named = makeEvolve(name => findRules(name === triage ? mode : name));
    for (const events of loops) {
      let [own, other]: [State, State] = [initialState, initialState];
      for (const event of events) {
        own = evolve(own, event);
        other = named(other, renamed(event));
        expect({ ...other, settings: { ...other.settings, mode: own.settings.mode } }).toEqual(own);
        expect(next(other, event.at, 'me')).toEqual(next(own, event.at, 'me'));
      }
      expect(endingOf(other)).toEqual(endingOf(own));
    }
  },
);
