// Every bound a loop runs under, with a unit in its name, and what holds unless a mode or a person says otherwise.
import { flagOf } from '../text/format.ts';
import type { Json } from './task.ts';

/** How people and programs count a limit; the core has micro-dollars and milliseconds. */
export const perUnit = { count: 1, dollars: 1_000_000, minutes: 60_000, instant: 1 } as const;

interface LimitRow {
  /** Its setting: flag and variable follow from that. */
  readonly key: string;
  /** Its name in the options of `runLoop`. */
  readonly option: string;
  /** Its name in status.json, and for a program that drives its own loop. */
  readonly statusName?: string;
  /** Its name in `loop.ended`. */
  readonly id?: string;
  readonly unit: keyof typeof perUnit;
  readonly word: string;
  /** May be null, for unlimited. */
  readonly orNull?: true;
}

/** Every limit that a person may set, by its name in the core: the one place where its other names stand. */
export const limitTable = {
  iterationsMax: {
    key: 'maxIterations',
    option: 'iterations',
    statusName: 'max_iterations',
    id: 'iterations',
    unit: 'count',
    word: 'iterations',
    orNull: true,
  },
  costUsdMicrosMax: {
    key: 'maxCost',
    option: 'costUsd',
    statusName: 'max_cost',
    id: 'cost',
    unit: 'dollars',
    word: 'money',
    orNull: true,
  },
  tokensMax: { key: 'maxTokens', option: 'tokens', id: 'tokens', unit: 'count', word: 'tokens', orNull: true },
  /** Active time: iterations, checks, actions; waits do not count. */
  durationMsMax: {
    key: 'maxDuration',
    option: 'minutes',
    statusName: 'max_duration_minutes',
    id: 'duration',
    unit: 'minutes',
    word: 'time',
    orNull: true,
  },
  /** Wall clock, epoch ms. */
  deadlineAt: {
    key: 'deadline',
    option: 'deadline',
    id: 'deadline',
    unit: 'instant',
    word: 'the deadline',
    orNull: true,
  },
  iterationMsMax: {
    key: 'iterationTimeout',
    option: 'iterationMinutes',
    unit: 'minutes',
    word: 'time of an iteration',
  },
  consecutiveErrorsMax: {
    key: 'maxErrors',
    option: 'errorsInRow',
    unit: 'count',
    word: 'errors in a row',
    orNull: true,
  },
  noProgressIterations: {
    key: 'noProgress',
    option: 'iterationsWithoutProgress',
    unit: 'count',
    word: 'iterations without progress',
    orNull: true,
  },
  /** Different tasks, with none closed between them. */
  blockedMax: {
    key: 'maxBlocked',
    option: 'tasksBlocked',
    unit: 'count',
    word: 'tasks blocked in a row',
    orNull: true,
  },
  attemptsPerTaskMax: { key: 'maxAttempts', option: 'attemptsPerTask', unit: 'count', word: 'attempts at a task' },
  averageIterationMsMax: {
    key: 'maxAverageDuration',
    option: 'averageIterationMinutes',
    id: 'average-duration',
    unit: 'minutes',
    word: 'average time of an iteration',
    orNull: true,
  },
} as const satisfies Readonly<Record<string, LimitRow>>;

export type LimitTable = typeof limitTable;
export type LimitName = keyof LimitTable;
export const limitNames = Object.keys(limitTable) as readonly LimitName[];
export const limitRow = (name: LimitName): LimitRow => limitTable[name];

/** `null` = unlimited; it must be typed by a person, and another limit must hold (ADR 4). */
export type Limits = {
  readonly [Name in LimitName]: number | (LimitTable[Name] extends { readonly orNull: true } ? null : never);
} & { readonly escalationsPerTaskMax: number };

/** What files said of limits and servers when a person said yes to a plan. */
export interface ApprovedTerms {
  readonly limits: Partial<Limits>;
  /** `hash`: of all that decides which program it is. */
  readonly servers: Readonly<
    Record<string, { readonly hash: string; readonly callMsMax: number; readonly idempotent: readonly string[] }>
  >;
}

export const limitFlag = (name: LimitName): string => flagOf(limitTable[name].key);

declare const opaque: unique symbol;

/** A text, which only src/modes makes and looks into: to compare it with a word is an error of types everywhere else. */
export interface ModeName {
  readonly [opaque]: true;
}

export interface Settings {
  /** For people and for whoever opens it. What the mode decides stands in `policy`. */
  readonly mode: ModeName;
  readonly policy: Policy;
  readonly limits: Limits;
  /** Nobody set the limit of money: what a subscription covers does not count against it (ADR 4). Absent: a person did. */
  readonly costMaxIsPreset?: true | undefined;
  readonly promise: string;
  readonly parallel: number;
  /** The performers by name: the first usable one does the work, the rest are the fallback chain. */
  readonly performers: readonly string[];
  /** Who does a certain task, or a certain phase, first; the chain above stands behind. */
  readonly performersByTask: Readonly<Record<string, string>>;
  readonly performersByPhase: Readonly<Record<string, string>>;
  /** Who takes a task over after so many refused claims; absent: nobody. */
  readonly stronger?: { readonly performer: string; readonly after: number };
  readonly checks: readonly string[];
  /** Of the protected files, when they were taken anew after the start. */
  readonly protectedHash?: string;
  /** Iterations work in forks that are merged after their checks. */
  readonly worktreePerTask: boolean;
  readonly checkpoints: boolean;
  /** A task that is done becomes a commit on the loop's branch. */
  readonly commits: boolean;
  /** This many errors in a row restore the last good checkpoint, and again at every multiple; null: never. */
  readonly rollbackAfter: number | null;
  /** The work is looked at for deleted or weakened tests before a claim is believed. */
  readonly tamperScreen: boolean;
  /** The nth identical error in a row escalates (prd: STUCK_THRESHOLD); null: it hands off instead. */
  readonly sameErrorsToEscalate: number | null;
  readonly errorsToHandOff: number;
  readonly contextFractionMax: number;
  /** How long a performer that was asked to hand off may take before it is interrupted. */
  readonly handoffWithinMs: number;
  readonly budgetAlertFraction: number;
  readonly contextCharsMax: number;
  readonly backoffBaseMs: number;
  readonly backoffMsMax: number;
  readonly ladder: Ladder;
  readonly breaker: BreakerSettings;
  /** After every so many iterations the work is committed although its task is not done; null: only what is done. */
  readonly commitEvery: number | null;
  /** How long to wait before the second, third, ... try of the same task; null: exponential back-off. */
  readonly retryMs: readonly number[] | null;
  /** A task that has used up its attempts ends the loop (seed 002); else it is blocked. */
  readonly haltOnMaxAttempts: boolean;
  /** Nothing begins before a person approved exactly what the document says. */
  readonly approval: boolean;
  /** Tasks that only look at the work, side by side. */
  readonly readersMax: number;
  /** Of a mode that goes round by round. */
  readonly rounds: number | null;
  /** What only the mode of this loop reads. */
  readonly own?: unknown;
  /** What was typed for it beyond these settings (its agent's command, its sandbox), redacted: it goes on with the same. */
  readonly startedWith?: Readonly<Record<string, Json>>;
}

/**
 * How a loop of one mode differs from that of another, as plain data. It is recorded when a loop starts, so that a loop
 * keeps its own whatever later releases think. Core reads these fields and knows no mode by its name.
 */
interface Policy {
  /** Many tasks; or one over many iterations, where an iteration that ended well uses up no attempt. */
  readonly tasks: 'many' | 'one';
  /** What the work is called. */
  readonly subject: 'tasks' | 'steps' | 'task' | 'goal' | 'document';
  /** What claims a task beside a line that says so and an edit of the document; a promise claims the one task too. */
  readonly claimsBy: 'line' | 'checkbox' | 'report' | 'review-tag';
  /** A task that is done, a changed tree, or a new item or phase in the agent's report. */
  readonly progressBy: 'tasks' | 'changes' | 'report';
  /** What says that the goal is achieved: that every task is over, or the rules of the mode, by the newest round. */
  readonly achievedBy: 'tasks' | 'rounds';
  /** What too many errors in a row lead to: the end, or a question. */
  readonly onErrors: 'end' | 'ask';
  /** An attempt counts when it begins, so that a crash counts. */
  readonly crashIsAttempt: boolean;
  /** People set how often a task is tried again, not how often it is tried. */
  readonly countsRetries: boolean;
  /** What the document shows: nothing; done and left out; blocked too; or also who is at work and how often it was tried. */
  readonly documentShows: 'nothing' | 'results' | 'blocked' | 'progress';
  /** The words of the document hold for ever. */
  readonly textFixedAtStart: boolean;
  /** Ralph keeps the document, so a restore leaves it alone; else the document is the work. */
  readonly restoreKeepsDocument: boolean;
  /** Unfinished work of a task is set aside before another one begins; absent in ledgers before 0.5. */
  readonly setsAside?: boolean;
  /** The document lies in a vault of plans: a restore leaves the vault alone, and what is done is put away. */
  readonly vault: boolean;
}

/** What may differ when the same loop is run again with other flags. */
export type ChangedSettings = Partial<
  Pick<
    Settings,
    | 'performers'
    | 'performersByTask'
    | 'performersByPhase'
    | 'stronger'
    | 'checks'
    | 'promise'
    | 'checkpoints'
    | 'commits'
    | 'rollbackAfter'
    | 'protectedHash'
    | 'startedWith'
  >
>;

/** Seed 000's graduated intervention. */
export interface Ladder {
  readonly stuckAfterMs: number;
  readonly nudgeEveryMs: number;
  readonly nudgesMax: number;
  readonly answerWithinMs: number;
  /** This many iterations in a row ended by the ladder are a health failure of the loop. */
  readonly terminationsMax: number;
}

export interface BreakerSettings {
  readonly failuresToOpen: number;
  readonly cooldownMs: number;
  readonly cooldownMsMax: number;
  /** Openings in a row of every performer before the loop gives up. */
  readonly openingsMax: number;
}

const minute = 60_000;
const hour = 60 * minute;

const houseLimits: Limits = {
  iterationsMax: 50,
  costUsdMicrosMax: 50_000_000, // seed 000; the house default where a seed names none
  tokensMax: null,
  durationMsMax: null,
  deadlineAt: null,
  iterationMsMax: 2 * hour,
  // One task that fails must not end the others: what bounds them is how many were set aside in a row (ADR 5).
  consecutiveErrorsMax: null,
  noProgressIterations: null,
  blockedMax: 3,
  attemptsPerTaskMax: 5,
  escalationsPerTaskMax: 3,
  averageIterationMsMax: null, // seed 001 halts at 5 min; ADR 3: only when asked
};

/** Where nothing is set aside: errors and iterations without progress bound the loop (ADR 3, 5). */
export const limitsOfOneTask = { consecutiveErrorsMax: 5, noProgressIterations: 5, blockedMax: null } as const;

const defaultLadder: Ladder = {
  stuckAfterMs: 30 * minute,
  nudgeEveryMs: 10 * minute,
  nudgesMax: 3,
  answerWithinMs: 15 * minute,
  terminationsMax: 2,
};

export const defaultBreaker: BreakerSettings = {
  failuresToOpen: 3,
  cooldownMs: minute,
  cooldownMsMax: 30 * minute,
  openingsMax: 24, // ten hours: a network that is away at night is there again in the morning (F92)
};

/** The policy of a list of tasks. */
const housePolicy: Policy = {
  tasks: 'many',
  subject: 'tasks',
  claimsBy: 'line',
  progressBy: 'tasks',
  achievedBy: 'tasks',
  onErrors: 'end',
  crashIsAttempt: false,
  countsRetries: false,
  documentShows: 'results',
  textFixedAtStart: false,
  restoreKeepsDocument: true,
  setsAside: true,
  vault: false,
};

/** The settings of a list of tasks: what a mode leaves out. */
export const houseSettings: Settings = {
  mode: '' as unknown as ModeName, // before a start
  policy: housePolicy,
  limits: houseLimits,
  promise: 'DONE',
  parallel: 1,
  performers: [],
  performersByTask: {},
  performersByPhase: {},
  checks: [],
  worktreePerTask: false,
  checkpoints: false,
  commits: false,
  rollbackAfter: null, // only when asked (ADR 3)
  tamperScreen: false,
  sameErrorsToEscalate: null,
  errorsToHandOff: 3, // seed 000
  contextFractionMax: 0.7, // seed 000
  handoffWithinMs: minute,
  budgetAlertFraction: 0.8, // seed 000
  contextCharsMax: 5_000, // seed 001
  backoffBaseMs: 1_000,
  backoffMsMax: 60_000, // seed 001: min(2^n, 60) s
  ladder: defaultLadder,
  breaker: defaultBreaker,
  commitEvery: null,
  retryMs: null,
  haltOnMaxAttempts: false,
  approval: false,
  readersMax: 3,
  rounds: null,
};

/** What of a mode's settings differs from the house. */
export interface ModePreset {
  /** The settings that it knows among those that only some modes know. */
  readonly flags?: readonly string[];
  /** Variables of its seed that are still read, and the setting of each; they go before those of all modes. */
  readonly formerly?: Readonly<Record<string, string>>;
  readonly limits?: Partial<Limits>;
  readonly policy?: Partial<Policy>;
  readonly settings?: Partial<Omit<Settings, 'mode' | 'limits' | 'policy' | 'own'>>;
  /** Its own settings, from those that were given under the names of its flags. */
  own?(given: object): unknown;
}

export function settingsBy(mode: ModeName, preset: ModePreset): Settings {
  const { limits, policy, settings } = preset;
  return {
    ...houseSettings,
    ...settings,
    mode,
    limits: { ...houseLimits, ...limits },
    policy: { ...housePolicy, ...policy },
    own: preset.own?.({}),
  };
}

type Workers = Pick<Settings, 'performers' | 'performersByTask' | 'performersByPhase' | 'stronger'>;

/** All who may work in a loop, each once. */
export const everyPerformer = (by: Workers): readonly string[] => [
  ...new Set([
    ...by.performers,
    ...Object.values(by.performersByTask),
    ...Object.values(by.performersByPhase),
    ...(by.stronger === undefined ? [] : [by.stronger.performer]),
  ]),
];

/** Each bounds the length or the spend of a loop by itself. */
export const boundingLimits = [
  'iterationsMax',
  'costUsdMicrosMax',
  'tokensMax',
  'durationMsMax',
  'deadlineAt',
] as const;

/** A loop without any bound on its length or spend is refused. */
export const isBounded = (limits: Limits): boolean => boundingLimits.some(name => limits[name] !== null);

/** What a person calls them; the others are named as they are. */
export const settingWords: Readonly<Record<string, string>> = {
  ...Object.fromEntries(limitNames.map(name => [name, limitTable[name].word])),
  performers: 'agents',
  performersByTask: 'agents of tasks',
  performersByPhase: 'agents of phases',
  stronger: 'the stronger agent',
  checkpoints: 'checkpoints',
  commits: 'progress commits',
  rollbackAfter: 'errors before a rollback',
  protectedHash: 'the protected files',
  startedWith: 'what it is run with',
};
