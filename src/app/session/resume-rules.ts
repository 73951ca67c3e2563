// Resume rules: what a loop that goes on takes from the ledger, and what a typed word changes in it. One table.

import { modelless, specOf } from '../../config/agents.ts';
import { flagName, isKey, type Key, type Values } from '../../config/fields.ts';
import type { RunConfig } from '../../config/resolve.ts';
import type { Command } from '../../core/input.ts';
import type { ApprovedTerms } from '../../core/settings.ts';
import {
  type ChangedSettings,
  isBounded,
  type Limits,
  limitNames,
  limitTable,
  type Settings,
} from '../../core/settings.ts';
import type { Json } from '../../core/task.ts';
import { makeRedactor, redactDeep, secretValues } from '../../secrets/redactor.ts';
import { canonical } from '../../text/canonical.ts';
import { UsageError } from '../../text/errors.ts';
import { filedSince, limitsInFiles } from '../approved-terms.ts';
import { nothingBounds } from '../problems.ts';

/** A run that may go on with a loop. */
export interface Resuming extends Pick<RunConfig, 'config' | 'settings' | 'typed'> {
  /** As typed: `07:00` is another moment every day. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** The settings of the loop that goes on; absent: none does. */
  readonly before?: Settings | undefined;
  /** Who said each; with `approved`, what files said when a person said yes to the loop's plan. */
  readonly sources?: RunConfig['sources'];
  readonly approved?: ApprovedTerms | undefined;
}

/** Where, and with which variables. */
interface Place {
  readonly env: Parameters<typeof secretValues>[0];
  readonly directory: string;
}

interface Row<Value> {
  /** Words each of which, typed, decides anew as for a new loop. Files do not count: an agent may have written them. */
  readonly unless?: readonly Key[];
  /** What is kept; absent: what the ledger has. */
  readonly keeps?: (before: Settings, now: Resuming) => Value;
}

/** Settings without a row are the ledger's for good. */
const table: { readonly [Name in keyof Settings]?: Row<Settings[Name]> } = {
  limits: { keeps: limitsOnResume },
  costMaxIsPreset: { unless: ['maxCost'] },
  performers: { unless: ['agent', 'agentCommand', 'script'], keeps: agentsOnResume },
  performersByTask: { unless: ['taskAgent'] },
  performersByPhase: { unless: ['phaseAgent'] },
  stronger: { unless: ['stronger', 'strongerAfter'] },
  checks: { unless: ['verify'], keeps: checksOnResume },
  promise: { unless: ['promise'] },
  rollbackAfter: { unless: ['rollbackAfter'] },
  // What it began without does not come back.
  checkpoints: { keeps: (before, now) => before.checkpoints && !isOff('noCheckpoints', now) },
  commits: { keeps: (before, now) => before.commits && !isOff('noCommit', now) },
  parallel: { keeps: parallelOnResume },
};

/** What of the changes is recorded: the command that changes a loop knows these. */
const recorded = [
  'performers',
  'performersByTask',
  'performersByPhase',
  'stronger',
  'checks',
  'promise',
  'checkpoints',
  'commits',
  'rollbackAfter',
  'startedWith',
] as const satisfies readonly (keyof ChangedSettings)[];

/** The settings that a loop goes on with, without those that a typed word decides anew. Empty: no loop goes on. */
export function onResume(now: Resuming): Partial<Settings> {
  const { before, typed } = now;
  if (before === undefined) return {};
  const rows = table as Readonly<Record<string, Row<unknown> | undefined>>;
  const kept = Object.entries(before).map(([name, value]) => {
    const { unless = [], keeps = () => value } = rows[name] ?? {};
    return [name, unless.some(key => typed.has(key)) ? undefined : keeps(before, now)];
  });
  return Object.fromEntries(kept);
}

const isOff = (key: 'noCheckpoints' | 'noCommit', { typed, config }: Resuming): boolean =>
  typed.has(key) && config[key];

/** Each limit that was typed, and the others as they were, or as tight as a file says since a plan was approved. */
function limitsOnResume({ limits }: Settings, now: Resuming): Limits {
  const { settings, typed, flags, approved, sources } = now;
  const isTyped = (name: (typeof limitNames)[number]): boolean =>
    typed.has(limitTable[name].key) ||
    (name === 'attemptsPerTaskMax' && settings.policy.countsRetries && typed.has('retries'));
  const changed = limitNames
    .filter(isTyped)
    .filter(name => name !== 'deadlineAt' || !isLaterByTheClock(limits.deadlineAt, settings.limits.deadlineAt, flags));
  const filed = sources === undefined ? {} : limitsInFiles({ settings, sources });
  const { tighter } = filedSince(approved, filed, limits);
  const given = Object.fromEntries(changed.map(name => [name, settings.limits[name]]));
  const bounds = { ...limits, ...tighter, ...given };
  if (!isBounded(bounds)) throw nothingBounds();
  return bounds;
}

/** The same `--deadline 07:00` a day later must not move the deadline that the loop has. */
function isLaterByTheClock(before: number | null, wanted: number | null, { deadline }: Resuming['flags']): boolean {
  return before !== null && wanted !== null && wanted > before && /^\d{1,2}:\d{2}$/.test(String(deadline));
}

/** A model alone is for the agent that works already; a fallback alone stands behind it. */
function agentsOnResume({ performers: [first, ...others] }: Settings, { config, typed }: Resuming): readonly string[] {
  if (first === undefined) return [];
  const agent = specOf(first)?.agent;
  const isOther = typed.has('model') && config.model !== undefined && agent !== undefined && !modelless.has(agent);
  const head = isOther ? `${agent}/${config.model}` : first;
  return [...new Set([head, ...(typed.has('fallback') ? config.fallback : others)])];
}

const providedPrefix = 'own check: ';

/** As a check that a program brings along stands among the checks of a loop: nobody else can run it. */
export const providedCheckName = (name: string): string => `${providedPrefix}${name}`;

/** Proof never goes away silently. */
function checksOnResume({ checks }: Settings): readonly string[] {
  if (checks.some(command => command.includes('[redacted:')))
    throw new UsageError(
      'A check of this loop holds a secret, which is not kept.',
      'Give the checks again: --verify CMD',
    );
  const lost = checks.filter(name => name.startsWith(providedPrefix)).map(name => name.slice(providedPrefix.length));
  if (lost.length > 0)
    throw new UsageError(
      `A program brought a check of this loop along: ${lost.join(', ')}.`,
      'Go on with that program, or name other checks: --verify CMD',
    );
  return checks;
}

function parallelOnResume({ parallel }: Settings, { typed, config }: Resuming): number {
  if (typed.has('parallel') && config.parallel !== parallel)
    throw new UsageError(
      `--parallel is settled when a loop begins, and this one has begun with ${parallel}.`,
      'Leave it out, or start a new loop with --new when this one has ended.',
    );
  return parallel;
}

// What a loop was started with beyond its settings: kept in the ledger, redacted like all that is there (ADR 4).

/** Typed words whose meaning stands in the settings, or is over once a loop has begun. */
const settled: ReadonlySet<string> = new Set<Key>([
  ...limitNames.map(name => limitTable[name].key),
  ...([
    'agent',
    'model',
    'fallback',
    'stronger',
    'strongerAfter',
    'taskAgent',
    'phaseAgent',
    'verify',
    'judge',
    'detectChecks',
    'promise',
  ] as const),
  ...(['rollbackAfter', 'noCheckpoints', 'noCommit', 'parallel', 'worktree', 'rounds', 'retries'] as const),
  ...(['stuckThreshold', 'contextChars', 'backoffBase', 'haltOnMaxAttempts', 'checkpointInterval'] as const),
  ...([
    'name',
    'project',
    'taskId',
    'allowRedStart',
    'protectAnew',
    'targetConfidence',
    'reviewer',
    'section',
  ] as const),
  'workflow',
]);

/** Words of `run` that are no settings, and that a document or a folder needs again. */
const otherWords = ['criteria', 'acceptTicked', 'force'];

type Started = NonNullable<Settings['startedWith']>;

/** With what was typed now in place of what was typed before. A secret is left out of it, and must be said again. */
export function startedWith(now: Resuming & Place): Started | undefined {
  const { typed, config, flags, before, env, directory } = now;
  // One that works elsewhere is asked for from here.
  const isElsewhere = before === undefined && (config.worktree || config.parallel > 1);
  const said = [
    ['directory', isElsewhere ? directory : undefined],
    ...[...typed].filter(key => !settled.has(key)).map(key => [key, config[key]]),
    ...otherWords.map(word => [word, flags[word]]),
  ].filter(([, value]) => value !== undefined);
  const all: Started = {
    ...before?.startedWith,
    ...redactDeep(Object.fromEntries(said), makeRedactor(secretValues(env))),
  };
  return Object.keys(all).length === 0 ? undefined : all;
}

const isRedacted = (value: Json): boolean => JSON.stringify(value).includes('[redacted:');

/** The settings among it, without those that held a secret. */
export function keptValues({ startedWith: all = {} }: Partial<Settings> = {}): Values {
  return Object.fromEntries(Object.entries(all).filter(([key, value]) => isKey(key) && !isRedacted(value)));
}

/** The other words among it, and the folder that it was started in, where it works in another. */
export function keptWords({ startedWith: all = {} }: Settings) {
  const flags = Object.fromEntries(Object.entries(all).filter(([key]) => otherWords.includes(key)));
  return { flags, directory: typeof all['directory'] === 'string' ? all['directory'] : undefined };
}

/** What held a secret goes on only when it is said again: without it another agent would work. */
export function refuseLost({ before, typed }: Resuming): void {
  const lost = Object.entries(before?.startedWith ?? {}).find(
    ([key, value]) => isKey(key) && !typed.has(key) && isRedacted(value),
  )?.[0] as Key | undefined;
  if (lost === undefined) return;
  const flag = flagName(lost);
  throw new UsageError(`${flag} of this loop held a secret, which is not kept.`, `Say it again, with its ${flag}.`, 7);
}

/** What these agents are started with stands in `startedWith`, but not for a loop of 0.4. */
const unrecorded = [
  ['command', 'agentCommand', '--agent-command'],
  ['acp', 'acpCommand', '--acp-command'],
  ['scripted', 'script', '--script'],
] as const;

/** A loop goes on with its own agent, but not every agent is known by its name. */
export function refuseUnrecorded({ config, settings }: Pick<RunConfig, 'config' | 'settings'>): void {
  for (const [agent, key, flag] of unrecorded) {
    if (config[key] !== undefined || !settings.performers.some(spec => specOf(spec)?.agent === agent)) continue;
    throw new UsageError(
      `The agent "${agent}" needs ${flag}, and this loop has none recorded.`,
      `Say it again with ${flag}, or name another agent: --agent claude`,
      7,
    );
  }
}

const ifChanged = <Value>(before: Value, now: Value): Value | undefined =>
  canonical({ value: before }) === canonical({ value: now }) ? undefined : now;

/** The command that changes a loop from the settings it had to those it goes on with; undefined: nothing differs. */
export function changedSettings(before: Settings, now: Settings): Extract<Command, { type: 'limits' }> | undefined {
  // The same number binds otherwise once it was typed.
  const isSetNow = (name: string): boolean =>
    name === 'costUsdMicrosMax' && before.costMaxIsPreset === true && now.costMaxIsPreset !== true;
  const limits: Partial<Limits> = Object.fromEntries(
    limitNames
      .filter(name => before.limits[name] !== now.limits[name] || isSetNow(name))
      .map(name => [name, now.limits[name]]),
  );
  // A ledger of 0.1 has no such tables.
  const was = {
    ...before,
    performersByTask: before.performersByTask ?? {},
    performersByPhase: before.performersByPhase ?? {},
  };
  const settings: ChangedSettings = Object.fromEntries(
    recorded.map(name => [name, ifChanged(was[name], now[name])]).filter(([, value]) => value !== undefined),
  );
  if (Object.keys(limits).length + Object.keys(settings).length === 0) return undefined;
  return { type: 'limits', limits, settings };
}
