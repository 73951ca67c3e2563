// Presets: what holds when nobody set anything, by mode, as values and in words. Help loads no reader.
import { type LimitName, type Limits, limitNames, limitTable, type ModeName } from '../core/settings.ts';
import { defaultSettings, type ModeWord, modeName, modeNames, modesWith, usualMode } from '../modes/registry.ts';
import { formatDuration, formatUsd } from '../text/format.ts';
import { fieldOf, type Key, type Values } from './fields.ts';
import type { Field } from './kinds.ts';

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
    noMcp: false as boolean,
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

/** The setting of each limit. */
export const limitKey = (name: LimitName): Key => limitTable[name].key;

/** A limit that is only there when somebody sets it has no preset that could be written. */
function presetLimits(limits: Limits): Values {
  const written = limitNames.filter(name => limits[name] !== null || fieldOf(limitKey(name)).unlimited === true);
  return Object.fromEntries(written.map(name => [limitKey(name), limits[name]]));
}

// In words.

function wordOf({ kind }: Field, value: unknown): string {
  if (value === null) return 'unlimited';
  if (value === undefined || value === false || (Array.isArray(value) && value.length === 0)) return '';
  if (kind === 'money') return formatUsd(value as number).replace(/\.00$/, '');
  return kind === 'duration' ? formatDuration(value as number) : String(value);
}

/** Also what the rules of a mode count otherwise than its settings do. */
function shownPreset(key: Key, mode: ModeWord): string {
  const { rounds, commitEvery } = defaultSettings(mode);
  const values: Values = {
    ...presetValues(modeName(mode)),
    rounds: rounds ?? undefined,
    checkpointInterval: commitEvery ?? undefined,
  };
  return wordOf(fieldOf(key), values[key]);
}

/** `50; goal, plan 10; prompt 100`: the value of most modes first, then those that differ. Empty: there is none. */
export function presetWords(key: Key, modes: readonly ModeWord[] = modeNames): string {
  const known = modesWith(key).length === 0 ? modes : modes.filter(mode => modesWith(key).includes(mode));
  const byValue = Map.groupBy(known, mode => shownPreset(key, mode));
  const usual = known.find(mode => modeName(mode) === usualMode) ?? known[0];
  const first = usual === undefined ? '' : shownPreset(key, usual);
  const others = [...byValue].flatMap(([value, names]) =>
    value === first ? [] : [`${names.join(', ')} ${value === '' ? 'none' : value}`],
  );
  return [...(first === '' ? [] : [first]), ...others].join('; ');
}
