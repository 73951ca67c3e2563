// Turns settings as people write them into the core's Settings, on top of the preset of the mode.
import type { Limits, Settings } from '../core/settings.ts';
import { defaultSettings } from '../modes/rules.ts';
import { pairsOf } from './agents.ts';
import type { Key, Values } from './fields.ts';

const verifyMsMax = 600_000; // a test suite may be slow, but a check that hangs must end

/** What holds when nobody set anything, by mode. */
export function presetValues(mode: string) {
  const { limits, promise, sameErrorsToEscalate, contextCharsMax, backoffBaseMs } = defaultSettings(mode);
  return {
    maxIterations: limits.iterationsMax,
    maxCost: limits.costUsdMicrosMax,
    maxTokens: limits.tokensMax,
    maxDuration: limits.durationMsMax,
    iterationTimeout: limits.iterationMsMax,
    maxErrors: limits.consecutiveErrorsMax,
    noProgress: limits.noProgressIterations,
    maxAttempts: limits.attemptsPerTaskMax,
    stuckThreshold: sameErrorsToEscalate ?? undefined,
    promise,
    fallback: [] as readonly string[],
    taskAgent: [] as readonly string[],
    phaseAgent: [] as readonly string[],
    agentArgs: [] as readonly string[],
    agentEnv: [] as readonly string[],
    verify: [] as readonly string[],
    sandbox: 'auto' as NonNullable<Values['sandbox']>,
    interactive: false as boolean,
    verifyTimeout: verifyMsMax,
    verifyRuns: '1/1',
    detectChecks: 'auto' as NonNullable<Values['detectChecks']>,
    allowRedStart: false as boolean,
    protect: [] as readonly string[],
    noCheckpoints: false as boolean,
    noCommit: false as boolean,
    worktree: false as boolean,
    worktreeCopy: [] as readonly string[],
    parallel: 1 as number,
    requireChecks: false,
    contextChars: contextCharsMax,
    backoffBase: backoffBaseMs,
  } satisfies Values;
}

type Preset = ReturnType<typeof presetValues>;
/** Every setting, presets filled in; only what has no preset may be absent. */
export type Config = Values & Preset;

/** Which setting bounds which limit. */
export const limitKeys = {
  iterationsMax: 'maxIterations',
  costUsdMicrosMax: 'maxCost',
  tokensMax: 'maxTokens',
  durationMsMax: 'maxDuration',
  deadlineAt: 'deadline',
  iterationMsMax: 'iterationTimeout',
  consecutiveErrorsMax: 'maxErrors',
  noProgressIterations: 'noProgress',
  attemptsPerTaskMax: 'maxAttempts',
  averageIterationMsMax: 'maxAverageDuration',
} as const satisfies Partial<Record<keyof Limits, Key>>;

/** A limit that nobody set is the preset's. A plan counts retries, which are attempts after the first. */
function limitsOf(mode: string, config: Config): Limits {
  const { limits, policy } = defaultSettings(mode);
  const given =
    policy.countsRetries && config.retries !== undefined ? { ...config, maxAttempts: config.retries + 1 } : config;
  const set = Object.entries(limitKeys).filter(([, key]) => given[key] !== undefined);
  return { ...limits, ...Object.fromEntries(set.map(([limit, key]) => [limit, given[key]])) };
}

export function settingsOf(mode: string, config: Config): Settings {
  const preset = defaultSettings(mode);
  return {
    ...preset,
    limits: limitsOf(mode, config),
    promise: config.promise,
    performers: chain(config),
    performersByTask: pairsOf(config.taskAgent),
    performersByPhase: pairsOf(config.phaseAgent),
    checks: config.verify,
    sameErrorsToEscalate: config.stuckThreshold ?? preset.sameErrorsToEscalate,
    contextCharsMax: config.contextChars,
    backoffBaseMs: config.backoffBase,
    ...modeSettings(mode, config),
  };
}

/** What only some modes know. */
function modeSettings(mode: string, config: Config): Partial<Settings> {
  const { review, commitEvery } = defaultSettings(mode);
  const { haltOnMaxAttempts = false, rounds, targetConfidence, reviewer = [], section, workflow } = config;
  if (review === null)
    return { haltOnMaxAttempts, commitEvery: commitEvery && (config.checkpointInterval ?? commitEvery) };
  return {
    haltOnMaxAttempts,
    review: {
      ...review,
      reviewers: reviewer.length === 0 ? review.reviewers : [...new Set(reviewer)],
      roundsMax: rounds ?? review.roundsMax,
      targetConfidence: targetConfidence ?? review.targetConfidence,
      section: section ?? review.section,
      workflow: workflow ?? review.workflow,
    },
  };
}

/** The agent, then those that take over; empty while it is not known which agents are installed. */
function chain({ agent, fallback }: Config): readonly string[] {
  return agent === undefined ? [] : [...new Set([agent, ...fallback])];
}
