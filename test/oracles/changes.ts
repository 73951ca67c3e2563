// Allowed differences between the states that 0.4.0 recorded and today's: each row says why it is no regression.
import type { Event } from '../../src/core/event.ts';
import type { Input } from '../../src/core/input.ts';
import type { Settings } from '../../src/core/settings.ts';
import { type State, unpackState } from '../../src/core/state.ts';
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
    parkedSinceProgress: 'parkedSinceProgress',
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

/** What is decided otherwise today, on purpose: the events that 0.4.0 decided, as today does in that state. */
export const decisionChanges: readonly { readonly because: string; rewrite(event: Event, state: State): Event }[] = [
  {
    because: 'the mark of a task that is left out is committed at once (issue 14)',
    rewrite: (event, { settings: { commits, worktreePerTask, policy } }) =>
      event.type === 'task.skipped' && commits && !worktreePerTask && policy.documentShows !== 'nothing'
        ? { ...event, commits: true }
        : event,
  },
];

/** How a stored event body becomes an event. */
export const readEvent = (stored: unknown): Event => upcast(stored);

/** How a recorded input becomes one of today: a command that has another shape by now is rewritten here. */
export const readInput = (recorded: unknown): Input => recorded as Input;

/** What differs in printed output, by the command's words; empty: every byte is as it was. */
export interface OutputChange {
  readonly because: string;
  /** `today`: what is printed now. Only names that 0.4.0 did not print may be taken from it, and they are listed. */
  readonly rewrite: (output: string, command: readonly string[], today: string) => string;
}

const names: Readonly<Record<string, string>> = {
  'task.kept': 'task.edit-rejected',
  'iteration.heard': 'iteration.heartbeat',
  'guidance.reached': 'guidance.delivered',
  'work.screened': 'proof.screened',
};

const json = (output: string, rewrite: (value: Fields) => Fields): string =>
  output.startsWith('{') ? JSON.stringify(rewrite(JSON.parse(output) as Fields)) : output;

const withIds = (question: Fields): Fields =>
  today({ type: 'escalation.raised', escalation: question })['escalation'] as Fields;

/** `loops show --json` prints the state itself. */
const shownLoop = (shown: Fields): Fields =>
  shown['state'] === undefined
    ? shown
    : { ...shown, state: stateChanges.reduce((one, change) => change.rewrite(one), shown['state'] as PackedState) };

const pick = (from: Fields, wanted: readonly string[]): Fields =>
  Object.fromEntries(wanted.map(name => [name, from[name]]));

/** Names of a LoopView that neither `status --json` nor `loops list --json` of 0.4.0 had. */
const addedByView = ['mode', 'liveness', 'summary', 'tasks', 'live', 'checking', 'questions', 'waits', 'health'];

const endingOf = (reason: unknown, at: unknown, today: Fields): Fields | undefined =>
  reason === null || reason === ''
    ? undefined
    : { ...pick(today['ending'] as Fields, ['because', 'limit', 'exitCode', 'verified']), reason, at };

/** A time of status.json, or none. */
const timeOf = (text: unknown): number => Date.parse(text as string);

/** `loop_id`, `config`, `current_iteration`, `total_…`, `termination_reason` … and where a LoopView says the same. */
function viewOfStatus(old: Fields, today: Fields): Fields {
  const config = old['config'] as Readonly<Record<string, number | null>>;
  const times = (value: number | null | undefined, unit: number) => (value == null ? null : Math.round(value * unit));
  const [limits, spend] = [today['limits'] as Fields, today['spend'] as Fields];
  const costUsdMicros = times(old['total_cost'] as number, 1_000_000);
  const isReported = (old['total_input_tokens'] as number) > 0 || costUsdMicros !== 0;
  const agent = [config['agent_type'], config['model']].filter(part => `${part}` !== '').join('/');
  return {
    ...pick(today, [...addedByView, 'name', 'document', 'directory', 'seq']),
    version: 2,
    loop: old['loop_id'],
    goal: old['goal'],
    startedAt: timeOf(old['started_at']),
    agents: [...(agent === '' ? [] : [agent]), ...(today['agents'] as readonly string[]).slice(1)],
    limits: {
      ...limits,
      iterationsMax: config['max_iterations'],
      costUsdMicrosMax: times(config['max_cost'], 1_000_000),
      durationMsMax: times(config['max_duration_minutes'], 60_000),
    },
    spend: {
      ...pick(spend, ['activeMs']),
      iterations: old['current_iteration'],
      usage: isReported ? { ...(spend['usage'] as Fields), costUsdMicros } : undefined,
    },
    ending: endingOf(old['termination_reason'], timeOf(old['completed_at']), today),
  };
}

/** `reason` and `endedAt` of a row are in its `ending`; the other names are as they were. */
const viewOfRow = ({ reason, endedAt, ...row }: Fields, today: Fields): Fields => ({
  ...pick(today, [...addedByView, 'goal', 'agents', 'spend', 'limits']),
  ...row,
  version: 2,
  ending: endingOf(reason, endedAt, today),
});

/** The view beside the sequence, the hash and the state. */
const viewOfShown = (shown: Fields, today: Fields): Fields =>
  shown['state'] === undefined
    ? shown
    : {
        ...pick(today, [...addedByView, 'loop', 'name', 'document', 'directory', 'goal', 'agents', 'startedAt']),
        ...pick(today, ['spend', 'limits', 'ending']),
        ...shown,
        version: 2,
      };

type Rows = readonly Fields[];

const some = (value: unknown): unknown => (value === '' || value === null ? undefined : value);
const micros = (dollars: unknown): number => Math.round((dollars as number) * 1_000_000);
const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Tokens of the input are split by now; what nobody reported is absent. */
const usageOf = (cost: unknown, tokens: Fields, today: unknown): Fields | undefined =>
  micros(cost) === 0 && tokens['input'] === 0 && tokens['output'] === 0
    ? undefined
    : { ...(today as Fields), costUsdMicros: micros(cost), outputTokens: tokens['output'] };

const viewOfIteration = (old: Fields, today: Fields): Fields => ({
  ...pick(old, ['iteration', 'task', 'performer', 'phase', 'errors']),
  startedAt: timeOf(old['started_at']),
  endedAt: old['completed_at'] === '' ? undefined : timeOf(old['completed_at']),
  outcome: today['outcome'],
  completed: old['completed_items'],
  pending: old['pending_items'],
  checkpoint: some(old['checkpoint_id']),
  usage: usageOf(old['cost'], { input: old['input_tokens'], output: old['output_tokens'] }, today['usage']),
  handoff: some(old['handoff_trigger']),
  health: old['health_state'],
});

/** Items that the agent reported stood behind the tasks. */
const reportedOf = (items: Rows, today: unknown): Fields | undefined => {
  const titles = (status: string): unknown[] => items.filter(one => one['status'] === status).map(one => one['title']);
  const blocked = items.filter(one => one['status'] === 'blocked');
  if (items.length === 0 && today === undefined) return undefined;
  return {
    ...(today as Fields),
    completed: titles('done'),
    pending: titles('pending'),
    blocked: blocked.map(({ title, note }) => ({ item: title, reason: note })),
  };
};

function viewOfReport(old: Fields, today: Fields): Fields {
  const [tasks, spend, history] = ['tasks', 'spend', 'history'].map(name => today[name] as Fields) as [
    Fields,
    Fields,
    Fields,
  ];
  const [items, rows] = [old['items'] as Rows, old['iterations'] as Rows];
  const count = (tasks['items'] as Rows).length;
  const { success_rate: _, elapsed_hours: __, cost_per_task_usd: ___, ...counts } = old['metrics'] as Fields;
  const ending = endingOf(old['reason'], timeOf(old['completed_at']), today);
  return {
    ...pick(today, [...addedByView, 'document', 'directory', 'seq', 'agents', 'limits']),
    ...pick(old, ['name', 'goal', 'summary']),
    version: 2,
    loop: old['loop_id'],
    startedAt: timeOf(old['started_at']),
    tasks: {
      ...tasks,
      items: items
        .slice(0, count)
        .map(({ verified, note, ...item }) => ({ ...item, verified: some(verified), note: some(note) })),
    },
    spend: {
      ...pick(spend, ['iterations']),
      activeMs: Math.round((old['active_minutes'] as number) * 60_000),
      usage: usageOf(old['cost_usd'], old['tokens'] as Fields, spend['usage']),
    },
    ending: ending && { ...ending, verified: old['verified'] },
    history: {
      ...pick(old, ['checks', 'errors']),
      iterations: rows.map((row, at) => viewOfIteration(row, (history['iterations'] as Rows)[at] ?? {})),
      counts: Object.fromEntries(Object.entries(counts).map(([name, value]) => [camel(name), value])),
      reported: reportedOf(items.slice(count), history['reported']),
    },
  };
}

export const outputChanges: readonly OutputChange[] = [
  {
    because: 'events are printed as they are read today',
    rewrite: (output, command) => {
      if (command[0] !== 'events') return output;
      if (command.includes('--json'))
        return output.replace(/^\{.*\}$/gm, line => JSON.stringify(today(JSON.parse(line) as Fields)));
      return output.replace(/^(.{33})(\S+) +/gm, (whole, before: string, type: string) =>
        names[type] === undefined ? whole : `${before}${names[type].padEnd(20)} `,
      );
    },
  },
  {
    because: 'a question for programs names the ids of its options beside their texts',
    rewrite: (output, command) =>
      command[0] !== 'inbox'
        ? output
        : json(output, ({ questions, ...rest }) => ({
            ...rest,
            questions: (questions as readonly Fields[]).map(question => ({
              ...question,
              optionIds: (withIds(question)['options'] as readonly Fields[]).map(one => one['id']),
            })),
          })),
  },
  {
    because: 'fields of tasks have plain names',
    rewrite: (output, command) =>
      command[0] === 'task'
        ? output.replace(/^( +)"(\w+)":/gm, (whole, blank: string, name: string) =>
            taskNames[name] === undefined ? whole : `${blank}"${taskNames[name]}":`,
          )
        : output,
  },
  {
    because: 'four events have other names',
    rewrite: (output, command) =>
      command[0] === 'task'
        ? output.replace(/"type": "([^"]+)"/g, (_whole, type: string) => `"type": "${names[type] ?? type}"`)
        : output,
  },
  {
    because: 'a state has the names of today',
    rewrite: (output, command) => (command.slice(0, 2).join(' ') === 'loops show' ? json(output, shownLoop) : output),
  },
  {
    because: '`status --json`, `loops list --json` and `loops show --json` print a LoopView, with its names',
    rewrite: (output, command, today) => {
      if (!['status', 'loops'].includes(command[0] ?? '') || !output.startsWith('{')) return output;
      const now = JSON.parse(today) as Fields;
      if (command[0] === 'status') return json(output, old => viewOfStatus(old, now));
      if (command[1] === 'show') return json(output, old => viewOfShown(old, now));
      const views = now['loops'] as readonly Fields[];
      return json(output, old => ({
        version: 2,
        loops: (old['loops'] as readonly Fields[]).map((row, at) => viewOfRow(row, views[at] ?? {})),
      }));
    },
  },
  {
    because: '`report --json` prints the LoopView with its history; report.json keeps its names',
    rewrite: (output, command, today) =>
      command[0] === 'report' ? json(output, old => viewOfReport(old, JSON.parse(today) as Fields)) : output,
  },
  {
    because: 'there is one word for each level of proof, everywhere (issue 14)',
    rewrite: (output, command) =>
      (command[1] === 'show' && command[0] === 'loops'
        ? output.replace(
            /^( {4}\S+ +(?:pending|active |done {3}|blocked|skipped) {1,2})(.{11}) /gm,
            (_whole, before: string, proof: string) => {
              const word = { unverified: 'closed unverified', 'done before': 'done before the loop' }[proof.trim()];
              return `${before}${(word ?? proof.trim()).padEnd(20)} `;
            },
          )
        : output
      )
        .replace(/\| checked \|/g, '| proven |')
        .replace(/claimed, unverified(?=[)| ]|$)/gm, 'closed unverified')
        .replaceAll("on the agent's word", 'closed unverified')
        .replace(/(\d+) unverified\b/g, '$1 closed unverified')
        .replace(/, UNVERIFIED/g, ', closed unverified')
        .replace(/(unverified: no) check is\n( +)configured/g, '$1\n$2check is configured')
        .replace(/\(unverified\)/g, '(closed unverified)'),
  },
];
