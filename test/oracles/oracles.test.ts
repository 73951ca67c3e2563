// Ledgers that 0.4.0 wrote fold under today's code to the states 0.4.0 had, after every event and byte for byte.
import { describe, expect, it } from 'vitest';
import type { Answer, EscalationKind, EventType, TerminationReason } from '../../src/core/event.ts';
import { next } from '../../src/core/next.ts';
import { initialState, type State, update } from '../../src/core/state.ts';

import { decide } from '../../src/modes/decide.ts';
import { evolve } from '../../src/modes/evolve.ts';
import { modeNames } from '../../src/modes/registry.ts';

import { canonical } from '../../src/text/canonical.ts';
import { everyEvent } from '../core/every-event.ts';
import {
  comparedState,
  decisionChanges,
  nextChanges,
  type PackedState,
  type RecordedNext,
  readEvent,
  readInput,
  stateChanges,
} from './changes.ts';
import { ledgerFiles, type RecordedLedger, readLedgers } from './ledgers.ts';

type Fold = typeof evolve;

const holder = 'holder-1';

const wantedState = (recorded: PackedState): string =>
  canonical(
    stateChanges.length === 0
      ? recorded
      : stateChanges.reduce((state, change) => change.rewrite(state), structuredClone(recorded)),
  );

const wantedNext = (recorded: RecordedNext): string =>
  canonical(nextChanges.reduce((wanted, change) => change.rewrite(wanted), recorded));

/** In forks a task need not wait while others are saved, nor for work that passed and waits for its merge (ADR 40). */
function withoutSooner(
  { settings, checkpoints, claims }: State,
  wanted: RecordedNext,
  now: RecordedNext,
): RecordedNext {
  const isSaving = settings.worktreePerTask && checkpoints.due.length > 0;
  if (!isSaving && !claims.open.some(claim => claim.stage === 'merge')) return now;
  const isKnown = (key: string): boolean => !key.startsWith('begin:') || wanted.effects.includes(key);
  return { effects: now.effects.filter(isKnown), wakeAt: wanted.wakeAt };
}

function nextOf(state: State, at: number, recorded: RecordedNext): string {
  const { effects, wakeAt } = next(state, at, holder);
  return canonical(withoutSooner(state, recorded, { effects: effects.map(effect => effect.key), wakeAt }));
}

/**
 * Without what 0.4.0 did not remember: what Ralph wrote last into the document, what that was before a task's first attempt, and
 * how a task succeeded.
 */
function withoutNews(packed: PackedState): PackedState {
  const { written: _, ...document } = packed['document'] as PackedState;
  const tasks = (packed['tasks'] as readonly PackedState[]).map(({ documentBefore: __, ...task }) => task);
  const memory = packed['memory'] as PackedState;
  const successes = (memory['successes'] as readonly string[]).map(one => one.replace(/\. How: .*$/s, ''));
  return { ...packed, document, tasks, memory: { ...memory, successes } };
}

/** Where the fold first differs, and how; undefined: nowhere. */
function difference(ledger: RecordedLedger, fold: Fold): unknown {
  let state = initialState;
  for (const [index, recorded] of ledger.events.entries()) {
    const event = readEvent(recorded.stored);
    state = fold(state, event);
    const where = `${ledger.name}, event ${index + 1} (${String(recorded.stored['type'])})`;
    const [got, wanted] = [canonical(withoutNews(comparedState(state))), wantedState(recorded.state)];
    if (got !== wanted) return { where, fields: changedFields(got, wanted) };
    const [effects, wantedEffects] = [nextOf(state, event.at, recorded.next), wantedNext(recorded.next)];
    if (effects !== wantedEffects) return { where, next: effects, wanted: wantedEffects };
  }
  const final = wantedState(ledger.final);
  return canonical(withoutNews(comparedState(state))) === final ? undefined : { where: `${ledger.name}, at the end` };
}

function changedFields(got: string, wanted: string): unknown {
  const [now, then] = [JSON.parse(got) as PackedState, JSON.parse(wanted) as PackedState];
  const fields = [...new Set([...Object.keys(now), ...Object.keys(then)])];
  const text = (value: unknown): string => (value === undefined ? '' : canonical(value));
  return fields
    .filter(field => text(now[field]) !== text(then[field]))
    .map(field => ({ field, now: text(now[field]), wanted: text(then[field]) }));
}

const byFile = new Map(ledgerFiles.map(file => [file, [...readLedgers(file)]]));
const every = [...byFile.values()].flat();

function firstDifference(fold: Fold): unknown {
  for (const ledger of every) {
    const found = difference(ledger, fold);
    if (found !== undefined) return found;
  }
  return undefined;
}

describe('the ledgers of 0.4.0', () => {
  it.each(ledgerFiles)('%s folds to the recorded states and effects', file => {
    for (const ledger of byFile.get(file) ?? []) expect(difference(ledger, evolve)).toBeUndefined();
  });

  it('each answer to each question of Ralph is decided as 0.4.0 decided it', () => {
    const answered = every.filter(ledger => ledger.decided !== undefined);
    expect(answered.length).toBeGreaterThan(150);
    for (const { name, decided, events } of answered) {
      const { after, input, now } = decided!;
      const stored = events.map(one => readEvent(one.stored));
      const state = stored.slice(0, after).reduce(evolve, initialState);
      const got = decide(state, readInput(input), now).map(canonical);
      const wanted = stored
        .slice(after)
        .map(event => decisionChanges.reduce((one, change) => change.rewrite(one, state), event));
      expect(got, name).toEqual(wanted.map(canonical));
    }
  });

  it('show a fold that forgets one field of one event', () => {
    const forgetful: Fold = (state, event) =>
      event.type === 'escalation.answered'
        ? update(evolve(state, event), 'questions', { open: state.questions.open })
        : evolve(state, event);
    const found = firstDifference(forgetful);
    expect(found).toMatchObject({ fields: [{ field: 'questions' }] });
  });

  it('show a fold that gets one number of one task wrong', () => {
    const wrong: Fold = (state, event) =>
      evolve(state, event.type === 'iteration.started' ? { ...event, attempt: event.attempt + 1 } : event);
    expect(firstDifference(wrong)).toBeDefined();
  });
});

/** Total tables: a new kind without a row does not compile. False: 0.4.0 did not know it. */
const kinds: Readonly<Record<EscalationKind, boolean>> = {
  stuck: true,
  deviation: true,
  unknown: true,
  blocked: true,
  health: true,
  agent: true,
  storage: true,
  tamper: true,
  effect: true,
  approval: true,
  budget: false,
  branch: false,
};
const kindsThen = Object.entries(kinds).flatMap(([kind, isOld]) => (isOld ? [kind] : []));
/** Types of events that 0.4.0 did not know. */
const newTypes: ReadonlySet<EventType> = new Set<EventType>([
  'windows.reported',
  'work.set-aside',
  'work.given-back',
  'branch.accepted',
  'permissions.stated',
  'iteration.reported',
]);
const answers: Readonly<Record<Answer['kind'], true>> = {
  option: true,
  text: true,
  skip: true,
  retry: true,
  abort: true,
};
const reasons: Readonly<Record<TerminationReason, true>> = {
  goal_achieved: true,
  explicit_stop: true,
  circuit_breaker_open: true,
  health_failure: true,
  consecutive_errors: true,
  budget_exhausted: true,
  max_iterations: true,
  max_duration: true,
  no_progress: true,
};

describe('what the ledgers hold', () => {
  const events = every.flatMap(ledger => ledger.events.map(({ stored }) => readEvent(stored)));
  const questions = new Map(
    every.flatMap(({ name, events: own }) =>
      own
        .map(({ stored }) => readEvent(stored))
        .filter(event => event.type === 'escalation.raised')
        .map(({ escalation }) => [`${name}/${escalation.id}`, escalation] as const),
    ),
  );

  it('every type of event', () => {
    const types = new Set<EventType>(events.map(event => event.type));
    expect([...types].sort()).toEqual(
      everyEvent
        .map(event => event.type)
        .filter(type => !newTypes.has(type))
        .sort(),
    );
  });

  it('every mode', () => {
    const started = events.filter(event => event.type === 'loop.started').map(event => event.settings);
    expect([...new Set(started.map(one => one.mode))].sort()).toEqual([...modeNames].sort());
  });

  it('every kind of document', () => {
    const documents = events.filter(event => event.type === 'loop.started').map(event => event.document);
    for (const ending of ['PRD.json', '.md', '.yaml', 'tasks.json'])
      expect(
        documents.some(one => one.endsWith(ending)),
        ending,
      ).toBe(true);
  });

  it('every reason to end', () => {
    const ended = events.filter(event => event.type === 'loop.ended').map(event => event.reason);
    expect([...new Set(ended)].sort()).toEqual(Object.keys(reasons).sort());
  });

  it('every kind of question, each answered, and every kind of answer', () => {
    const given = every.flatMap(({ name, events: own }) =>
      own
        .map(({ stored }) => readEvent(stored))
        .filter(event => event.type === 'escalation.answered')
        .map(event => ({ kind: questions.get(`${name}/${event.id}`)?.kind, answer: event.answer.kind })),
    );
    expect([...new Set([...questions.values()].map(one => one.kind))].sort()).toEqual(kindsThen.sort());
    expect([...new Set(given.map(one => one.answer))].sort()).toEqual(Object.keys(answers).sort());
    const pairs = new Set(given.map(one => `${one.kind} ${one.answer}`));
    for (const kind of kindsThen)
      for (const answer of Object.keys(answers))
        expect(pairs, 'a kind with each answer').toContain(`${kind} ${answer}`);
  });
});
