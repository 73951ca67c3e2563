// Options of a loop for a program, in plain units, and the settings of the run that they stand for.

import { isAbsolute } from 'node:path';
import type { Performer } from '../../agents/performer.ts';
import type { Check } from '../../checks/check.ts';
import { fieldOf, type Key, keys, type Value } from '../../config/fields.ts';
import type { RunOptions } from '../../config/options.ts';
import type { Answer, Event } from '../../core/event.ts';
import { type LimitName, type LimitTable, limitNames, limitTable, perUnit } from '../../core/settings.ts';
import type { State } from '../../core/state.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type ModeWord, modeNames } from '../../modes/registry.ts';
import { UsageError } from '../../text/errors.ts';
import { type Fields, isFields, present } from '../../text/fields.ts';
import type { AskedQuestion } from '../../views/ending.ts';
import type { Environment } from '../app.ts';
import { isText, type Kind, type Kinds, oneOf, refuseShape, table, text, truth } from './shapes.ts';

/**
 * In plain units; null: unlimited, which is allowed only beside another limit. What is left out is the mode's own.
 * `minutes` are active time, iterations and checks without waiting; `deadline` is by the clock.
 */
export type LoopLimits = {
  readonly [Name in LimitName as LimitTable[Name]['option']]?: LimitTable[Name]['unit'] extends 'instant'
    ? Date
    : Value<LimitTable[Name]['key']>;
};

type Setting = string | number | boolean | null | readonly string[];

/** Every setting of docs/config.md by its key, written as on the command line; null: unlimited. */
export type LoopSettings = { readonly [Name in Key]?: Setting } & {
  /** Also in `/` and in the home folder. */
  readonly force?: boolean;
  /** A PRD whose stories have no acceptance criteria may run. */
  readonly allowEmptyCriteria?: boolean;
  /** Boxes that were ticked before there was a record count as done. */
  readonly acceptTicked?: boolean;
};

/** Answers a question; undefined: leaves it open, and the loop comes back when nothing else can be done. */
export type AnswerQuestion = (
  question: AskedQuestion,
  state: State,
  stop: AbortSignal,
) => Answer | undefined | Promise<Answer | undefined>;

export interface LoopOptions {
  /** In words; the same words in the same directory go on with the same loop. */
  readonly goal?: string;
  /** A PRD, a task list, a plan, a prompt or a document to review; without it and a goal, what `ralph run` would find. */
  readonly document?: string;
  /** Unless told, what the document is. */
  readonly mode?: ModeWord;
  /** Where the work happens: an absolute path. */
  readonly directory: string;
  /** RALPH_HOME: where the ledger and the loops' folders lie. */
  readonly home?: string;
  /** Nothing outlives the call: a ledger in memory, and a home that is removed. */
  readonly memory?: boolean;
  /** Your own ledger in place of the database in `home`. */
  readonly ledger?: Ledger;
  /** The one who works: an agent as in --agent, or your own. */
  readonly agent?: string | Performer;
  /** In place of `agent`: the first works, the others take over while it cannot. */
  readonly performers?: readonly (string | Performer)[];
  /** Commands as in --verify, or your own. */
  readonly checks?: readonly (string | Check)[];
  readonly limits?: LoopLimits;
  readonly settings?: LoopSettings;
  /** Starts over with new counters. */
  readonly new?: boolean;
  /** What to do with a question; `exit`, unless told: the loop comes back, and the same call goes on with it. */
  readonly onEscalation?: 'exit' | 'skip' | 'wait' | AnswerQuestion;
  /** After the event is durable. */
  readonly onEvent?: (event: Event, state: State) => void;
  /** What the command line would print beside the work. */
  readonly onNotice?: (sentence: string) => void;
  /** Stops the live iterations and records it; the loop stays open, and the same call goes on with it. */
  readonly signal?: AbortSignal;
  /** What agents, checks and git may know, such as `process.env`; nothing unless told. */
  readonly environment?: Environment;
  /** Who it is, for the ledger. */
  readonly by?: string;
}

type Flags = Readonly<Record<string, unknown>>;

const number: Kind = [value => value === null || typeof value === 'number', 'a number or null'];
const isTime = (value: unknown): boolean => value instanceof Date && !Number.isNaN(value.getTime());
const time: Kind = [isTime, 'a Date'];
const limitKinds: Kinds = Object.fromEntries(
  limitNames.map(name => [limitTable[name].option, limitTable[name].unit === 'instant' ? time : number]),
);

/** In the units of the settings. */
function limitOptions(limits: LoopLimits): RunOptions {
  refuseShape(limits, limitKinds, 'limits.', 'limit');
  const given: Readonly<Record<string, number | Date | null | undefined>> = limits;
  return Object.fromEntries(
    limitNames.map(name => {
      const { key, option, unit } = limitTable[name];
      const value = given[option];
      if (value instanceof Date) return [key, value.getTime()];
      return [key, typeof value === 'number' ? value * perUnit[unit] : value];
    }),
  );
}

const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const setting: Kind = [value => isPlain(value) || isTexts(value), 'a text, a number, a boolean or a list of texts'];
const bound: Kind = [value => value === null || isPlain(value), 'a text, a number or null'];
const settingKinds: Kinds = {
  force: truth,
  allowEmptyCriteria: truth,
  acceptTicked: truth,
  ...Object.fromEntries(keys.map(key => [key, fieldOf(key).unlimited === true ? bound : setting])),
};

/** A number stands for what it would on the command line: a count, or dollars; of the others it is the text. */
function settingOption(key: Key, value: Setting): Setting {
  if (typeof value !== 'number') return value;
  const { kind } = fieldOf(key);
  if (kind === 'money') return value * perUnit.dollars;
  return kind === 'whole' ? value : String(value);
}

function settingOptions(settings: LoopSettings): Flags {
  refuseShape(settings, settingKinds, 'settings.', 'setting');
  const { force, allowEmptyCriteria, acceptTicked } = settings;
  const given = keys.filter(key => settings[key] !== undefined);
  return present({
    ...Object.fromEntries(given.map(key => [key, settingOption(key, settings[key] as Setting)])),
    force: force || undefined,
    criteria: allowEmptyCriteria ? false : undefined,
    acceptTicked: acceptTicked || undefined,
  });
}

/** Where two places say it, one of them would count for nothing. */
function refuseTwice(settings: Flags, others: Flags, chain: readonly (string | Performer)[]): void {
  const isBrought = chain.some(one => typeof one !== 'string');
  const twice = Object.keys(settings).find(
    key => others[key] !== undefined || (isBrought && ['agent', 'fallback'].includes(key)),
  );
  if (twice !== undefined)
    throw new UsageError(`settings.${twice} is also said by another option.`, 'Leave one of them out.');
}

/** Under the names that the command line has for them. */
export function flagsOf(options: LoopOptions): Flags {
  const { mode, settings = {}, limits = {}, checks, onEscalation } = options;
  const commands = checks?.filter(check => typeof check === 'string') ?? [];
  const chain = chainOf(options);
  const agents = chain.filter(one => typeof one === 'string');
  const [agent, ...fallback] = agents;
  const said = settingOptions(settings);
  const others = present({
    ...limitOptions(limits),
    mode,
    verify: commands.length === 0 ? undefined : commands,
    agent,
    fallback: fallback.length === 0 ? undefined : fallback,
    new: options.new || undefined,
    onEscalation: typeof onEscalation === 'string' ? onEscalation : undefined,
  });
  refuseTwice(said, others, chain);
  return { ...said, ...others };
}

export function chainOf({ agent, performers }: LoopOptions): readonly (string | Performer)[] {
  if (agent !== undefined && performers !== undefined)
    throw new UsageError('agent and performers say the same.', 'Leave one of them out.');
  return performers ?? (agent === undefined ? [] : [agent]);
}

/** Refuses what no type can. */
export function checkOptions(options: LoopOptions): void {
  refuseShape(options, optionKinds, '', 'option');
  const { directory, goal, document, home, memory, ledger } = options;
  if (directory === undefined || !isAbsolute(directory))
    throw new UsageError('directory must be an absolute path.', 'Say where the work happens.');
  if (goal !== undefined && document !== undefined)
    throw new UsageError('A loop has a goal or a document, not both.', 'Leave one of them out.');
  if (home !== undefined && !isAbsolute(home)) throw new UsageError('home must be an absolute path.');
  if (memory === true && ledger !== undefined)
    throw new UsageError('memory and ledger say the same.', 'Leave one of them out.');
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const has = (value: unknown, ...names: readonly string[]): boolean =>
  isFields(value) && names.every(name => isFunction(value[name]));
const path: Kind = [value => isText(value) && !value.includes('\0'), 'a path'];
const callback: Kind = [isFunction, 'a function'];
const isNamed = (value: unknown): boolean => isText(value) || isFields(value);
const named: Kind = [value => Array.isArray(value) && value.every(isNamed), 'a list of names or objects only'];

const isSignal = (value: unknown): boolean =>
  value instanceof AbortSignal || (has(value, 'addEventListener') && typeof (value as Fields)['aborted'] === 'boolean');

const isLedger = (value: unknown): boolean =>
  isFields(value) &&
  has(value['store'], 'append', 'read', 'loops', 'lease') &&
  has(value['mailbox'], 'send', 'waiting', 'watch') &&
  has(value['snapshots'], 'save', 'latest');

const isEnvironment = (value: unknown): boolean =>
  isFields(value) && Object.values(value).every(one => one === undefined || isText(one));

const isLine = (value: unknown): boolean => isText(value) && /^[^\p{Cc}]{1,200}$/u.test(value.trim());

export const modeKind = oneOf(modeNames);

const optionKinds: Kinds = {
  goal: text,
  document: path,
  mode: modeKind,
  directory: path,
  home: path,
  memory: truth,
  ledger: [isLedger, 'a ledger'],
  agent: [isNamed, 'a name or an object'],
  performers: named,
  checks: named,
  limits: table,
  settings: table,
  new: truth,
  onEscalation: [
    value => isFunction(value) || ['exit', 'skip', 'wait'].some(word => word === value),
    '"exit", "skip", "wait" or a function',
  ],
  onEvent: callback,
  onNotice: callback,
  signal: [isSignal, 'an AbortSignal'],
  environment: [isEnvironment, 'an object of texts only'],
  by: [isLine, 'a line of at most 200 characters'],
};
