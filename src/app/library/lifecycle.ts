// Lifecycle of a loop as pure steps over the core, for a program that drives its own loop and keeps its own storage.

import type { Event, HandoffTrigger, Usage } from '../../core/event.ts';
import { phaseOf, shouldHandOff } from '../../core/handoff.ts';
import { type CheckOutcome, type Input, isBound, type Performed } from '../../core/input.ts';
import { next } from '../../core/next.ts';
import { isBounded, type Settings } from '../../core/settings.ts';
import { countedUsdMicros, initialState, liveIteration, type State } from '../../core/state.ts';
import { findTask, type TaskSpec } from '../../core/task.ts';
import type { Phase } from '../../messages/report.ts';
import { decide } from '../../modes/decide.ts';
import { evolve } from '../../modes/evolve.ts';
import { goalPrompt } from '../../modes/goal/mode.ts';
import type { Mode } from '../../modes/mode.ts';
import { defaultSettings, goalName, type ModeWord } from '../../modes/registry.ts';
import { UsageError } from '../../text/errors.ts';
import type { Fields } from '../../text/fields.ts';
import { anyOf } from '../../text/format.ts';
import { type LoopStatus, statusLimits } from '../../views/status.ts';
import { modeKind } from './options.ts';
import { readActivity, readUsage } from './performer.ts';
import { isText, type Kind, orNull, refuseShape, text } from './shapes.ts';

/** What a step leads to. Store `events`: folded by `evolve` they give `state` again. */
export interface Step {
  readonly state: State;
  readonly events: readonly Event[];
}

const driver = 'a program';

function step(state: State, inputs: readonly Input[], now: number): Step {
  const events: Event[] = [];
  let current = state;
  for (const input of inputs) {
    const decided = decide(current, input, now);
    current = decided.reduce(evolve, current);
    events.push(...decided);
  }
  return { state: current, events };
}

/** 1: a loop with its goal, its limits and its tasks. */
export function initialiseLoop(goal: string, config: LoopConfig, now: number): Step {
  if (typeof goal !== 'string' || goal.trim() === '') throw new UsageError('The goal is empty.', 'Say it in words.');
  if (!Number.isFinite(now))
    throw new UsageError(`${String(now)} is no time.`, 'Give milliseconds, as Date.now() does.');
  const settings = settingsOf(config);
  const { loop = `loop-${now}`, name = 'loop' } = config;
  const task: TaskSpec = {
    id: 'goal',
    title: goal.slice(0, 120),
    description: goal,
    criteria: [],
    dependsOn: [],
    done: false,
    skipped: false,
  };
  const place = { document: '', directory: '', projectId: '', taskId: '' };
  const start: Input = { type: 'start', loop, name, goal, ...place, settings, by: driver };
  return step(initialState, [start, { type: 'document', tasks: config.tasks ?? [task], hash: '' }], now);
}

/** One iteration that is to be done now: whoever does it gets `prompt`, in a fresh context. */
export interface IterationPlan extends Step {
  readonly iteration: number;
  readonly task: string;
  readonly agent: string;
  readonly prompt: string;
  /** Where the agent has a system prompt; else before `prompt`. */
  readonly system?: string;
  readonly phase: Phase;
  /** In US dollars; null: unlimited. */
  readonly budgetRemaining: number | null;
}

/** 2: undefined when nothing may begin: ask `evaluateTermination`, `waitingFor` and the open questions why. */
export function planIteration(
  state: State,
  now: number,
  promptOf: Mode['prompt'] = goalPrompt,
): IterationPlan | undefined {
  const begin = next(state, now, driver).effects.find(effect => effect.type === 'begin');
  if (begin === undefined) return undefined;
  const { task, performer } = begin;
  const begun = step(state, [{ type: 'begin', task, performer, holder: driver }], now);
  const live = liveIteration(begun.state, begun.state.iterations.begun);
  if (live === undefined) return undefined;
  const { text: prompt, system } = promptOf(begun.state, live, '', {});
  return {
    ...begun,
    iteration: live.iteration,
    task,
    agent: performer,
    prompt,
    system,
    phase: phaseOf(state),
    budgetRemaining: budgetRemaining(state),
  };
}

function budgetRemaining({ spend: { usage }, settings }: State): number | null {
  const max = settings.limits.costUsdMicrosMax;
  return max === null ? null : Math.max(0, max - countedUsdMicros(settings, usage)) / 1_000_000;
}

/** What an iteration left behind. */
export interface IterationOutcome extends Performed {
  /** The newest, unless told. */
  readonly iteration?: number;
  /** How the checks of the loop came out, when it claims to be done. */
  readonly checks?: readonly CheckOutcome[];
  /** For the spread of waits after a failure: 0 to 1. */
  readonly chance?: number;
}

/** What cannot be read would count for nothing: money too. */
function refuseOutcome({ message, failure, usage }: IterationOutcome): void {
  const end = readActivity({ type: 'ended', message, failure });
  const used = usage === undefined ? undefined : readUsage(usage);
  const problem = end.ok ? (used?.ok === false ? used.problem : undefined) : end.problem;
  if (problem !== undefined) throw new UsageError(`This is no outcome of an iteration: ${problem}.`);
}

/** 3: its end, what it used, what it claims, and the proof of that. */
export function recordIteration(state: State, outcome: IterationOutcome, now: number): Step {
  refuseOutcome(outcome);
  const { iteration = state.iterations.begun, checks: given = [], chance = 0.5, ...performed } = outcome;
  const checks = given.map(one => ({ ...one, passed: one.passed === true })); // only a plain yes proves anything
  const ended = step(state, [{ type: 'performed', iteration, performed, chance }], now);
  const isClaimed = ended.state.claims.open.some(claim => claim.iteration === iteration);
  const proven = step(ended.state, isClaimed ? [{ type: 'checked', iteration, outcomes: checks }] : [], now);
  const { unsaved } = proven.state.document;
  const marks = unsaved.map(id => {
    const status = findTask(proven.state.tasks, id)?.status;
    return { id, done: status === 'done', skipped: status === 'skipped' };
  });
  // The program is the document: what it was told is written.
  const saved = step(proven.state, marks.length === 0 ? [] : [{ type: 'saved', marks, hash: '' }], now);
  return { state: saved.state, events: [...ended.events, ...proven.events, ...saved.events] };
}

/** What an iteration has used since it was last asked; its own last word may hold usage too. */
export function recordConsumption(
  state: State,
  usage: Usage,
  now: number,
  iteration: number = state.iterations.begun,
): Step {
  const read = readUsage(usage);
  if (!read.ok) throw new UsageError(`This is no usage: ${read.problem}.`);
  return step(state, [{ type: 'usage', iteration, usage: read.value }], now);
}

/** 4: why a fresh context shall take over: from a working iteration, else what the last one ended with. */
export function checkHandoff(state: State): HandoffTrigger | undefined {
  const { settings, live } = state;
  const { usage, isHandedOff } = state.spend;
  const max = settings.limits.costUsdMicrosMax;
  const now = shouldHandOff({
    contextUsed: Math.max(0, ...live.map(one => one.contextUsed)),
    contextFractionMax: settings.contextFractionMax,
    errorsInRow: state.streaks.errors,
    errorsToHandOff: settings.errorsToHandOff,
    budgetUsed: max === null ? 0 : countedUsdMicros(settings, usage) / max,
    budgetAlertFraction: settings.budgetAlertFraction,
    budgetAlerted: isHandedOff,
    phaseComplete: false,
    requested: false,
    timedOut: false,
  });
  return now ?? (live.length === 0 ? state.memory.handoff : undefined);
}

/** 5: the end, when a criterion holds or it is stopped; no event when neither is so. */
export function completeLoop(state: State, now: number, reason?: 'explicit_stop'): Step {
  const stop: Input = { type: 'command', by: driver, command: { type: 'stop' } };
  return step(state, [...(reason === undefined ? [] : [stop]), { type: 'end' }], now);
}

/** null: unlimited. What is left out is the mode's own. */
export type LoopConfig = Partial<LoopStatus['config']> & {
  readonly mode?: ModeWord;
  /** A goal is one task; other modes have those of their document. */
  readonly tasks?: readonly TaskSpec[];
  /** Whatever else differs from the mode's own settings. */
  readonly settings?: Partial<Settings>;
  readonly loop?: string;
  readonly name?: string;
};

const isAbove0 = (value: unknown): boolean => Number.isFinite(value) && Number(value) > 0;
const whole: Kind = [value => isAbove0(value) && Number.isSafeInteger(value), 'a whole number above 0'];
const above0: Kind = [isAbove0, 'a number above 0'];

const isTask = (value: unknown): boolean => {
  const { id, title, description, criteria, dependsOn } = (value ?? {}) as Fields;
  const isSaid = [id, title, description].every(isText);
  return isSaid && id !== '' && Array.isArray(criteria) && Array.isArray(dependsOn);
};

const configKinds: Readonly<Record<keyof LoopConfig, Kind>> = {
  ...(Object.fromEntries(
    statusLimits.map(({ statusName, scale }) => [statusName, orNull(scale === 1 ? whole : above0)]),
  ) as Record<(typeof statusLimits)[number]['statusName'], Kind>),
  context_threshold: [value => isAbove0(value) && Number(value) <= 1, 'a fraction above 0 and at most 1'],
  agent_type: text,
  model: text,
  mode: modeKind,
  tasks: [value => Array.isArray(value) && value.every(isTask), 'a list of tasks (see TaskSpec)'],
  settings: [value => typeof value === 'object' && value !== null, 'an object'],
  loop: text,
  name: text,
};

const anything: Kind = [() => true, ''];

function settingsOf(config: LoopConfig): Settings {
  refuseShape(config, configKinds, '', 'option');
  const preset = defaultSettings(config.mode ?? goalName);
  const known = Object.fromEntries([...Object.keys(preset), 'protectedHash'].map(key => [key, anything]));
  refuseShape(config.settings ?? {}, known, 'settings.', 'setting');
  const { agent_type = 'agent', model = '' } = config;
  const { limits } = preset;
  const settings = {
    ...preset,
    contextFractionMax: config.context_threshold ?? preset.contextFractionMax,
    performers: [model === '' ? agent_type : `${agent_type}/${model}`],
    ...config.settings,
    limits: {
      ...limits,
      ...Object.fromEntries(
        statusLimits.map(({ name, statusName, scale }) => [name, scaled(config[statusName], scale, limits[name])]),
      ),
      ...config.settings?.limits,
    },
  };
  const wrong = Object.entries(settings.limits).find(one => !isBound(one));
  if (wrong !== undefined)
    throw new UsageError(`settings.limits.${wrong[0]}: ${String(wrong[1])} bounds nothing.`, 'Give a number above 0.');
  if (!isBounded(settings.limits))
    throw new UsageError(
      'Nothing bounds this loop.',
      `Set ${anyOf(statusLimits.map(({ statusName }) => statusName))}.`,
    );
  return settings;
}

/** Never less than the smallest that bounds anything. */
function scaled(value: number | null | undefined, factor: number, preset: number | null): number | null {
  if (value === undefined) return preset;
  return value === null ? null : Math.max(1, Math.round(value * factor));
}
