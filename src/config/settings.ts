// Turns settings as people write them into the core's Settings, on top of the preset of the mode.
import { type LimitName, type Limits, limitNames, limitTable, type ModeName, type Settings } from '../core/settings.ts';
import { defaultSettings, rulesOf } from '../modes/registry.ts';
import { pairsOf } from './agents.ts';
import { fieldOf, type Key, type Values } from './fields.ts';

const verifyMsMax = 600_000; // a test suite may be slow, but a check that hangs must end

/** What holds when nobody set anything, by mode. */
export function presetValues(mode: ModeName) {
  const { limits, promise, sameErrorsToEscalate, contextCharsMax, backoffBaseMs } = defaultSettings(mode);
  return {
    ...presetLimits(limits),
    stuckThreshold: sameErrorsToEscalate ?? undefined,
    promise,
    fallback: [] as readonly string[],
    strongerAfter: 2 as number,
    taskAgent: [] as readonly string[],
    phaseAgent: [] as readonly string[],
    agentArgs: [] as readonly string[],
    agentEnv: [] as readonly string[],
    checkEnv: [] as readonly string[],
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

/** The setting of each limit. */
const limitKey = (name: LimitName): Key => limitTable[name].key;

/** A limit that is only there when somebody sets it has no preset that could be written. */
function presetLimits(limits: Limits): Values {
  const written = limitNames.filter(name => limits[name] !== null || fieldOf(limitKey(name)).unlimited === true);
  return Object.fromEntries(written.map(name => [limitKey(name), limits[name]]));
}

/** A limit that nobody set is the preset's. A plan counts retries, which are attempts after the first. */
function limitsOf(mode: ModeName, config: Config): Limits {
  const { limits, policy } = defaultSettings(mode);
  const given =
    policy.countsRetries && config.retries !== undefined ? { ...config, maxAttempts: config.retries + 1 } : config;
  const set = limitNames.filter(name => given[limitKey(name)] !== undefined);
  return { ...limits, ...Object.fromEntries(set.map(name => [name, given[limitKey(name)]])) };
}

export function settingsOf(mode: ModeName, config: Config): Settings {
  const preset = defaultSettings(mode);
  return {
    ...preset,
    limits: limitsOf(mode, config),
    promise: config.promise,
    performers: chain(config),
    performersByTask: pairsOf(config.taskAgent),
    performersByPhase: pairsOf(config.phaseAgent),
    stronger: strongerOf(config),
    checks: config.verify,
    sameErrorsToEscalate: config.stuckThreshold ?? preset.sameErrorsToEscalate,
    contextCharsMax: config.contextChars,
    backoffBaseMs: config.backoffBase,
    haltOnMaxAttempts: config.haltOnMaxAttempts ?? preset.haltOnMaxAttempts,
    commitEvery: preset.commitEvery && (config.checkpointInterval ?? preset.commitEvery),
    rounds: preset.rounds && (config.rounds ?? preset.rounds),
    own: rulesOf(mode).own?.(config),
  };
}

const strongerOf = ({ stronger, strongerAfter: after }: Config): Settings['stronger'] =>
  stronger === undefined ? undefined : { performer: stronger, after };

/** The agent, then those that take over; empty while it is not known which agents are installed. */
function chain({ agent, fallback }: Config): readonly string[] {
  return agent === undefined ? [] : [...new Set([agent, ...fallback])];
}
