// The settings of one `ralph run`, and which of them a person set rather than the preset.
import type { ModeName, Settings } from '../core/settings.ts';
import { userConfigDirectory } from './home.ts';
import type { Problem } from './reading.ts';
import { resolveConfig } from './resolve.ts';
import type { Config } from './settings.ts';

export interface RunConfig {
  readonly config: Config;
  readonly settings: Settings;
  readonly notices: readonly string[];
  /** True when a flag or the real environment says so: files of the project can be an agent's work. */
  readonly isSet: (key: string) => boolean;
  /** Nobody said anything about it: the mode's own value holds. */
  readonly isPreset: (key: string) => boolean;
}

/** Which setting bounds which limit. */
const limitKeys: Readonly<Record<string, string>> = {
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
};

export type ResolvedRun =
  | { readonly ok: true; readonly run: RunConfig }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export async function resolveRun(
  mode: ModeName,
  env: Readonly<Record<string, string | undefined>>,
  directory: string,
  flags: Readonly<Record<string, unknown>>,
): Promise<ResolvedRun> {
  const found = userConfigDirectory(env);
  const userDirectory = 'path' in found ? found.path : undefined;
  const resolved = await resolveConfig({ mode, flags: flags as never, env, directory, userDirectory, now: Date.now() });
  if (!resolved.ok) return resolved;
  const { config, settings, notices } = resolved;
  const sources: Readonly<Record<string, string>> = resolved.sources;
  const isSaid = (key: string): boolean => ['flag', 'environment'].includes(sources[key] ?? '');
  const isSet = (key: string): boolean =>
    isSaid(limitKeys[key] ?? key) || (mode === 'plan' && key === 'attemptsPerTaskMax' && isSaid('retries'));
  const isPreset = (key: string): boolean => sources[limitKeys[key] ?? key] === 'preset';
  return { ok: true, run: { config, settings, notices, isSet, isPreset } };
}
