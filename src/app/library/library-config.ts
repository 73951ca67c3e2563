// What a program that drives its own loop says about it, in the seed's names, and how that becomes settings.
import { isBound } from '../../core/command.ts';
import { UsageError } from '../../text/errors.ts';
import { defaultSettings, isBounded, type ModeName, type Settings } from '../../core/settings.ts';
import type { TaskSpec } from '../../core/task.ts';
import type { LoopStatus } from '../../views/status.ts';
import { type Kind, modeKind, refuseShape } from './library-shape.ts';

/** The seed's own names; null: unlimited. What is left out is the mode's own. */
export type LoopConfig = Partial<LoopStatus['config']> & {
  readonly mode?: ModeName;
  /** A goal is one task; other modes have those of their document. */
  readonly tasks?: readonly TaskSpec[];
  /** Whatever else differs from the mode's own settings. */
  readonly settings?: Partial<Settings>;
  readonly loop?: string;
  readonly name?: string;
};

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;
const isAbove0 = (value: unknown): boolean => Number.isFinite(value) && Number(value) > 0;
const orNull =
  (isIt: (value: unknown) => boolean): Kind[0] =>
  value =>
    value === null || isIt(value);
const text: Kind = [value => typeof value === 'string', 'a text'];

const isTask = (value: unknown): boolean => {
  const { id, title, description, criteria, dependsOn } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isSaid = [id, title, description].every(one => typeof one === 'string');
  return isSaid && id !== '' && Array.isArray(criteria) && Array.isArray(dependsOn);
};

const configKinds: Readonly<Record<keyof LoopConfig, Kind>> = {
  max_iterations: [orNull(isWhole), 'a whole number above 0, or null'],
  max_cost: [orNull(isAbove0), 'a number above 0, or null'],
  max_duration_minutes: [orNull(isAbove0), 'a number above 0, or null'],
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

export function settingsOf(config: LoopConfig): Settings {
  refuseShape(config, configKinds, '', 'option');
  const preset = defaultSettings(config.mode ?? 'goal');
  refuseShape(
    config.settings ?? {},
    Object.fromEntries([...Object.keys(preset), 'protectedHash'].map(key => [key, anything])),
    'settings.',
    'setting',
  );
  const {
    max_iterations,
    max_cost,
    max_duration_minutes,
    context_threshold,
    agent_type = 'agent',
    model = '',
  } = config;
  const { limits } = preset;
  const settings = {
    ...preset,
    contextFractionMax: context_threshold ?? preset.contextFractionMax,
    performers: [model === '' ? agent_type : `${agent_type}/${model}`],
    ...config.settings,
    limits: {
      ...limits,
      iterationsMax: max_iterations === undefined ? limits.iterationsMax : max_iterations,
      costUsdMicrosMax: scaled(max_cost, 1_000_000, limits.costUsdMicrosMax),
      durationMsMax: scaled(max_duration_minutes, 60_000, limits.durationMsMax),
      ...config.settings?.limits,
    },
  };
  const wrong = Object.entries(settings.limits).find(one => !isBound(one));
  if (wrong !== undefined)
    throw new UsageError(`settings.limits.${wrong[0]}: ${String(wrong[1])} bounds nothing.`, 'Give a number above 0.');
  if (!isBounded(settings.limits))
    throw new UsageError('Nothing bounds this loop.', 'Set max_iterations, max_cost or max_duration_minutes.');
  return settings;
}

/** Never less than the smallest that bounds anything. */
function scaled(value: number | null | undefined, factor: number, preset: number | null): number | null {
  if (value === undefined) return preset;
  return value === null ? null : Math.max(1, Math.round(value * factor));
}
