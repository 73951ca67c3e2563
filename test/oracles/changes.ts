// Allowed differences between the states that 0.4.0 recorded and today's: each row says why it is no regression.
import type { Event } from '../../src/core/event.ts';
import type { Input } from '../../src/core/input.ts';
import type { Settings } from '../../src/core/settings.ts';
import { packState, type State, unpackState } from '../../src/core/state.ts';
import { upcast } from '../../src/ledger/upcast.ts';

import { defaultSettings, findRules, type ModeWord, modeFor } from '../../src/modes/registry.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A part of a recorded state, as the upcaster reads the event that it came from. */
const today = (stored: Fields): Fields => upcast(stored) as unknown as Fields;

/** A packed state as JSON: `tasks` is an array. */
export type PackedState = Record<string, unknown>;

export interface StateChange {
  readonly because: string;
  /** Turns a recorded state into what today's code must give. It gets a copy and may change it. */
  readonly rewrite: (state: PackedState) => PackedState;
}

const taskNames: Readonly<Record<string, string>> = {
  reads: 'readOnly',
  closing: 'completion',
  under: 'section',
  called: 'documentId',
  asked: 'openQuestion',
  acted: 'maybeExecuted',
  held: 'rejectedEdit',
  absent: 'missing',
  parked: 'blockedBecause',
};

/** Where each field of the flat state of 0.4.0 is now: its group, and its name there. */
const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  loop: {
    loop: 'id',
    name: 'name',
    goal: 'goal',
    document: 'document',
    directory: 'directory',
    projectId: 'projectId',
    taskId: 'taskId',
    protectedHash: 'protectedHash',
    branch: 'branch',
    baseline: 'baseline',
    startedAt: 'startedAt',
  },
  document: {
    loaded: 'isLoaded',
    documentHash: 'hash',
    unsaved: 'unsaved',
    substance: 'contentHash',
    approval: 'approval',
  },
  claims: { claims: 'open', accepted: 'acceptedFindings', lastChecks: 'lastChecks' },
  iterations: {
    iterations: 'begun',
    iterationsEnded: 'ended',
    iterationMsSum: 'msSum',
    toolCalls: 'toolCalls',
    lastIteration: 'last',
  },
  spend: {
    usage: 'usage',
    estimatedSoFar: 'isEstimated',
    dearestUsdMicros: 'dearestUsdMicros',
    activeMs: 'activeMs',
    clockedAt: 'countedUntil',
    budgetAlerted: 'isAlerted',
    budgetHandedOff: 'isHandedOff',
  },
  streaks: {
    errorsInRow: 'errors',
    failuresInRow: 'failures',
    sameErrorsInRow: 'sameErrors',
    lastError: 'lastError',
    terminationsInRow: 'terminations',
    sinceProgress: 'sinceProgress',
    parkedSinceProgress: 'blockedSinceProgress',
    limitsInRow: 'rateLimits',
    startsFailedInRow: 'failedStarts',
  },
  performers: { breakers: 'breakers', limited: 'rateLimitedUntil' },
  questions: { escalations: 'open', escalationsRaised: 'raised' },
  memory: {
    echoes: 'recentOutputs',
    report: 'report',
    reported: 'reported',
    repetition: 'repetition',
    handoff: 'handoff',
    refusal: 'lastRejection',
    guidance: 'guidance',
    guidanceGiven: 'guidanceGiven',
    obstacles: 'obstacles',
  },
  checkpoints: {
    checkpointsDue: 'due',
    checkpointsMade: 'made',
    first: 'first',
    newest: 'latest',
    good: 'lastGood',
    restoreDue: 'restoreDue',
    restores: 'restores',
    uncommitted: 'uncommitted',
    commitsDue: 'commitsDue',
  },
  control: { wait: 'wait', paused: 'paused', stop: 'stop', ended: 'ended' },
};

const placed = new Set(Object.values(groups).flatMap(names => Object.keys(names)));

/** What a task's document says of it, beside its id. */
const specNames = new Set(
  'title description criteria dependsOn done skipped mayChangeTests blocked performer order attemptsBefore attemptsMax readOnly interactive completion round role section documentId'.split(
    ' ',
  ),
);

function grouped(task: Fields): Fields {
  const { id, ...rest } = task;
  const isSpec = ([name]: readonly [string, unknown]): boolean => specNames.has(name);
  const entries = Object.entries(rest);
  const spec = { id, ...Object.fromEntries(entries.filter(isSpec)) };
  return { id, spec, ...Object.fromEntries(entries.filter(entry => !isSpec(entry))) };
}

const nothing: Event = { type: 'command.refused', at: 0, command: '', by: '', because: '' };

/** What the rules of its mode say, from the recorded state alone: `nothing` tells the mode nothing. */
function withVerdict(packed: PackedState): PackedState {
  const { evolve } = findRules((packed['settings'] as Settings).mode) ?? {};
  if (evolve === undefined) return packed;
  const state = unpackState(packed);
  return { ...packed, mode: evolve(state.mode, nothing, state) };
}

/** Applied in this order to every recorded state. Add a row for a renamed or regrouped field, never for a changed value. */
export const stateChanges: readonly StateChange[] = [
  {
    because: 'two settings have plain names',
    rewrite: state => {
      const { forked, screen, ...settings } = state['settings'] as Fields;
      return { ...state, settings: { ...settings, worktreePerTask: forked, tamperScreen: screen } };
    },
  },
  {
    because: 'what a mode decides is a policy, which holds the former stepwise too; lists and interviews are modes',
    rewrite: state => {
      const { stepwise: _, ...settings } = state['settings'] as Fields;
      const { mode, policy } = defaultSettings(modeFor(settings['mode'] as ModeWord, String(state['document'])));
      return { ...state, settings: { ...settings, mode, policy: { ...policy, setsAside: false } } };
    },
  },
  {
    because: 'rounds are one setting for every mode that has them, and what only a review is set to is its own',
    rewrite: state => {
      const { review, ...settings } = state['settings'] as Fields;
      if (review === null || review === undefined) return { ...state, settings };
      const { roundsMax: rounds, ...own } = review as Fields;
      return { ...state, settings: { ...settings, rounds, own } };
    },
  },
  {
    because: 'fields of tasks have plain names',
    rewrite: state => ({
      ...state,
      tasks: (state['tasks'] as readonly Fields[]).map(task =>
        Object.fromEntries(Object.entries(task).map(([name, value]) => [taskNames[name] ?? name, value])),
      ),
    }),
  },
  {
    because: 'the options of questions have ids, as the upcaster gives them',
    rewrite: state => ({
      ...state,
      escalations: (state['escalations'] as readonly Fields[]).map(
        escalation => today({ type: 'escalation.raised', escalation })['escalation'],
      ),
    }),
  },
  {
    because: 'a checkpoint has a kind instead of two flags',
    rewrite: state => ({
      ...state,
      checkpointsDue: (state['checkpointsDue'] as readonly Fields[]).map(
        ({ beforeRestore: _, foreign: __, ...due }) => ({
          ...due,
          kind: today({ type: 'checkpoint.made', label: due['label'] })['kind'],
        }),
      ),
    }),
  },
  {
    because: 'the end of a loop names the limit that was reached',
    rewrite: state => {
      if (state['ended'] === undefined) return state;
      const { type: _, ...ended } = today({ type: 'loop.ended', ...(state['ended'] as Fields) });
      return { ...state, ended };
    },
  },
  {
    because:
      'the state is grouped; the id of the last checkpoint stands in the last checkpoint; what a mode says of its goal is kept',
    rewrite: flat => {
      const { lastCheckpoint: _, review, settings, live, tasks, memory, ...rest } = flat;
      // A field without a place stays where it was, and is found.
      const unplaced = Object.fromEntries(Object.entries(rest).filter(([name]) => !placed.has(name)));
      const state: PackedState = { ...unplaced, settings, live, tasks, mode: { own: review } };
      for (const [group, names] of Object.entries(groups)) {
        const fields = Object.entries(names).map(([old, now]) => [now, rest[old]]);
        state[group] = { ...(group === 'memory' ? (memory as Fields) : {}), ...Object.fromEntries(fields) };
      }
      return withVerdict({ ...state, tasks: (tasks as readonly Fields[]).map(grouped) });
    },
  },
];

/** Today's state without what 0.4.0 had no word for: the trail, from which no other field of an old ledger follows. */
export function comparedState(state: State): PackedState {
  const { trail: _, ...known } = packState(state) as PackedState;
  return known;
}

/** The keys of the effects that `next` wants, and when it wants to be asked again. */
export interface RecordedNext {
  readonly effects: readonly string[];
  readonly wakeAt?: number;
}

export interface NextChange {
  readonly because: string;
  readonly rewrite: (next: RecordedNext) => RecordedNext;
}

export const nextChanges: readonly NextChange[] = [];

const refusedWords =
  'Not accepted: do what is missing, and put back what was changed in tests and checks if anything was, then claim again.';

/** What is decided otherwise today, on purpose: the events that 0.4.0 decided, as today does in that state. */
export const decisionChanges: readonly { readonly because: string; rewrite(event: Event, state: State): Event }[] = [
  {
    because: 'the mark of a task that is left out is committed at once (issue 14)',
    rewrite: (event, { settings: { commits, worktreePerTask, policy } }) =>
      event.type === 'task.skipped' && commits && !worktreePerTask && policy.documentShows !== 'nothing'
        ? { ...event, commits: true }
        : event,
  },
  {
    because: 'work that changed nothing is refused in the same words as work that changed a test (issue 15)',
    rewrite: event =>
      event.type === 'guidance.given'
        ? { ...event, text: event.text.replace(/^Not accepted: put back what was changed in tests.*/, refusedWords) }
        : event,
  },
];

/** How a stored event body becomes an event. */
export const readEvent = (stored: unknown): Event => upcast(stored);

/** How a recorded input becomes one of today: a command that has another shape by now is rewritten here. */
export const readInput = (recorded: unknown): Input => recorded as Input;
