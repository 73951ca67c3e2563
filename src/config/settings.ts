// Turns settings as people write them into the core's Settings, on top of the preset of the mode.
import { type Limits, limitNames, type ModeName, type Settings } from '../core/settings.ts';
import { defaultSettings, rulesOf } from '../modes/registry.ts';
import { pairsOf } from './agents.ts';
import type { Values } from './fields.ts';
import { limitKey, type presetValues } from './presets.ts';

type Preset = ReturnType<typeof presetValues>;
/** Every setting, presets filled in; only what has no preset may be absent. */
export type Config = Values & Preset;

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
