// Reads the text of one value, the same way from a flag, a variable or a file; whatever is doubtful is refused.

import type { ModeName } from '../core/settings.ts';
import { looksSecret } from '../secrets/redactor.ts';
import { readAgent, readAgents, readModel, readPairs } from './agents.ts';

const microsPerDollar = 1_000_000;
const dollarsMax = 1_000_000;
const valueCharactersMax = 64;

function readWhole(label: string, text: string, most: number, mayBeUnlimited: boolean): Reading<number | null> {
  const trimmed = text.trim();
  if (mayBeUnlimited && trimmed === 'unlimited') return good(null);
  const value = /^[1-9][0-9]{0,15}$/.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (value <= most) return good(value);
  const range = `a whole number from 1 to ${most.toLocaleString('en-US')}`;
  const word = mayBeUnlimited ? ', or the word unlimited' : '';
  return refuse(`${label}: ${shown(text)} is not ${range}; write it in plain digits${word}.`);
}

/** Dollars to integer micro-dollars by digits, so that no fraction is ever rounded. */
function readMoney(label: string, text: string, mayBeUnlimited: boolean): Reading<number | null> {
  const trimmed = text.trim();
  if (mayBeUnlimited && trimmed === 'unlimited') return good(null);
  const parts = /^\$?(0|[1-9][0-9]{0,6})(?:\.([0-9]{1,6}))?$/.exec(trimmed);
  if (parts) {
    const micros = Number(parts[1]) * microsPerDollar + Number((parts[2] ?? '').padEnd(6, '0'));
    if (micros > 0 && micros <= dollarsMax * microsPerDollar) return good(micros);
  }
  const word = mayBeUnlimited ? ', or the word unlimited' : '';
  return refuse(
    `${label}: ${shown(text)} is not an amount in dollars above 0 and up to $1,000,000; write it like 5, $5 or 0.50${word}.`,
  );
}

const unitsMs = [86_400_000, 3_600_000, 60_000, 1_000, 1] as const;
const durationPattern =
  /^(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?(?:([0-9]{1,10})ms)?$/;

export const durationMsMax = 30 * unitsMs[0];

export function readDuration(
  label: string,
  text: string,
  mostMs: number,
  mayBeUnlimited: boolean,
): Reading<number | null> {
  const trimmed = text.trim();
  if (mayBeUnlimited && trimmed === 'unlimited') return good(null);
  const parts = trimmed.length <= valueCharactersMax ? durationPattern.exec(trimmed) : null;
  if (parts) {
    const sumMs = unitsMs.reduce((sum, unitMs, index) => sum + Number(parts[index + 1] ?? 0) * unitMs, 0);
    if (sumMs > 0 && sumMs <= mostMs) return good(sumMs);
  }
  const word = mayBeUnlimited ? ', or the word unlimited' : '';
  return refuse(
    `${label}: ${shown(text)} is not a duration above 0 and up to ${sayDuration(mostMs)}; ` +
      `write it with units d, h, m, s or ms, largest first, like 2h30m or 90s${word}.`,
  );
}

/** The text that reads back as this duration. */
export function sayDuration(durationMs: number): string {
  let restMs = durationMs;
  const parts = unitsMs.map((unitMs, index) => {
    const count = Math.floor(restMs / unitMs);
    restMs -= count * unitMs;
    return count === 0 ? '' : `${count}${['d', 'h', 'm', 's', 'ms'][index]}`;
  });
  return parts.join('');
}

const isoPattern =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,3})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})$/;
const clockPattern = /^([01][0-9]|2[0-3]):([0-5][0-9])$/;
/** A deadline further away than this bounds nothing. */
const deadlineMsMax = 366 * unitsMs[0];

/** Epoch ms. `HH:MM` is the next time the local clock shows it, so that 02:00 said in the evening means tonight. */
function readDeadline(label: string, text: string, now: number): Reading<number> {
  const trimmed = text.trim();
  const at = clockPattern.test(trimmed) ? nextLocal(trimmed, now) : isoInstant(trimmed);
  const how = 'write a date-time with its zone like 2030-01-31T18:00:00Z, or a local time like 18:30';
  if (at === undefined) return refuse(`${label}: ${shown(text)} is not a point in time; ${how}.`);
  if (at <= now) return refuse(`${label}: ${shown(text)} is not in the future; give a later time.`);
  if (at - now > deadlineMsMax)
    return refuse(`${label}: ${shown(text)} is more than 366 days away; give an earlier time.`);
  return good(at);
}

function isoInstant(text: string): number | undefined {
  const parts = isoPattern.exec(text);
  if (!parts) return undefined;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  // Date.parse turns 30 February into 2 March; a date that does not exist is refused instead.
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCDate() !== day) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

function nextLocal(text: string, now: number): number {
  const date = new Date(now);
  date.setHours(Number(text.slice(0, 2)), Number(text.slice(3)), 0, 0);
  if (date.getTime() <= now) date.setDate(date.getDate() + 1);
  return date.getTime();
}

/** Text on one line: trimmed, not empty, bounded, compared and stored literally. */
function readLine(label: string, text: string, charactersMax: number): Reading<string> {
  const trimmed = text.trim();
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) || !text.isWellFormed())
    return refuse(`${label}: ${shown(text)} contains a line break or control character; write it on one line.`);
  if (trimmed === '') return refuse(`${label}: "" is empty; give at least one character.`);
  if (trimmed.length > 2 * charactersMax || [...trimmed].length > charactersMax)
    return refuse(
      `${label}: ${shown(text)} is longer than ${charactersMax.toLocaleString('en-US')} characters; shorten it.`,
    );
  return good(trimmed);
}

function readChoice(label: string, text: string, choices: readonly string[]): Reading<string> {
  const trimmed = text.trim();
  if (choices.includes(trimmed)) return good(trimmed);
  return refuse(`${label}: ${shown(text)} is not a known choice; use one of ${choices.join(', ')}.`);
}

const truths: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

function readTruth(label: string, text: string): Reading<boolean> {
  const trimmed = text.trim();
  if (Object.hasOwn(truths, trimmed)) return good(truths[trimmed] === true);
  return refuse(`${label}: ${shown(text)} is neither true nor false; write true or false.`);
}

const namesMax = 100;

/** Names of environment variables, separated by commas or white space. */
function readNames(label: string, text: string): Reading<readonly string[]> {
  const names = text.split(/[\s,]+/).filter(name => name !== '');
  const wrong = names.find(name => !/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name));
  if (wrong !== undefined)
    return refuse(
      `${label}: ${shown(wrong)} is not the name of an environment variable; give names only, like PATH, never NAME=value.`,
    );
  if (names.length === 0) return refuse(`${label}: "" names no environment variable; give at least one, like PATH.`);
  if (names.length > namesMax) return refuse(`${label}: ${names.length} names are more than ${namesMax}; give fewer.`);
  return good([...new Set(names)]);
}

/** Names that stand in task ids and in the names of files: letters, digits and dashes. */
function readRoles(label: string, text: string): Reading<readonly string[]> {
  const roles = text.split(/[\s,]+/).filter(role => role !== '');
  const wrong = roles.find(role => !/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/.test(role));
  if (wrong !== undefined || roles.length === 0)
    return refuse(`${label}: ${shown(wrong ?? '')} is not the name of a role; use letters, digits and dashes.`);
  if (roles.length > namesMax) return refuse(`${label}: ${roles.length} names are more than ${namesMax}; give fewer.`);
  return good([...new Set(roles)]);
}

/** A Windows network or device path would contact another machine on being opened (B32). */
function readPath(label: string, text: string): Reading<string> {
  if (/^\s*(\\\\|\\\?\?\\|\/\/)/.test(text))
    return refuse(`${label}: ${shown(text)} is a network or device path; give a path on this machine.`);
  return readLine(label, text, 4_096);
}

const runsMax = 10;

/** `2/3`: how many passes are needed, out of how many runs at most. */
function readRuns(label: string, text: string): Reading<string> {
  const parts = /^([1-9][0-9]?)\/([1-9][0-9]?)$/.exec(text.trim());
  const [needed, most] = [Number(parts?.[1] ?? 0), Number(parts?.[2] ?? 0)];
  if (needed > 0 && needed <= most && most <= runsMax) return good(`${needed}/${most}`);
  return refuse(`${label}: ${shown(text)} is not N/M with N at most M and M at most ${runsMax}; write it like 2/3.`);
}

const bytesByUnit: Readonly<Record<string, number>> = { m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const bytesMin = 64 * 2 ** 20; // no agent starts below it
const bytesMax = 64 * 2 ** 40;

/** Bytes. A number without a unit is doubtful and refused. */
function readSize(label: string, text: string, mayBeUnlimited: boolean, least = bytesMin): Reading<number | null> {
  const trimmed = text.trim();
  if (mayBeUnlimited && trimmed === 'unlimited') return good(null);
  const parts = /^([1-9][0-9]{0,6})([mgt])(?:i?b)?$/i.exec(trimmed);
  const bytes = parts === null ? 0 : Number(parts[1]) * (bytesByUnit[(parts[2] ?? '').toLowerCase()] ?? 0);
  if (bytes >= least && bytes <= bytesMax) return good(bytes);
  const word = mayBeUnlimited ? ', or the word unlimited' : '';
  return refuse(
    `${label}: ${shown(text)} is not a size from ${Math.ceil(least / 1024 ** 2)}m to 64t; write it like 512m or 8g${word}.`,
  );
}

// What reading a setting gives: its value, or one sentence that a person can act on.

/** The same shape as the ports' Problem; config may not import ports. */
export interface Problem {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  readonly fix?: string;
}

export type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

export function good<Value>(value: Value): Reading<Value> {
  return { ok: true, value };
}

export function refuse(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}

const shownCharactersMax = 40;

/** A value as it may stand in a message: short, without control characters, and never a secret. */
export function shown(text: string): string {
  if (looksSecret(text)) return '(hidden: it looks like a secret)';
  const start = [...text.slice(0, 4 * shownCharactersMax)];
  const kept = start
    .slice(0, shownCharactersMax)
    .join('')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u00b7');
  const isWhole = start.length <= shownCharactersMax && text.length <= 4 * shownCharactersMax;
  return `"${kept}${isWhole ? '' : '…'}"`;
}

// The kinds of settings: the type of each value, and how its text is read, the same way from a flag, a variable or a file.

export const million = 1_000_000;
export const commandCharactersMax = 10_000;

/** The type of a value once read. Money is micro-dollars, durations are ms, a deadline is epoch ms, a size bytes. */
export interface ValueByKind {
  whole: number;
  money: number;
  duration: number;
  deadline: number;
  line: string;
  path: string;
  slug: string;
  choice: string;
  truth: boolean;
  names: readonly string[];
  roles: readonly string[];
  commands: readonly string[];
  size: number;
  /** AGENT or AGENT/MODEL. */
  agent: string;
  agents: readonly string[];
  model: string;
  /** NAME=AGENT[/MODEL]. */
  pairs: readonly string[];
  /** One line, split as a shell would. */
  words: readonly string[];
  paths: readonly string[];
  /** N/M. */
  runs: string;
  /** AGENT[/MODEL] or auto. */
  judge: string;
}

export type Kind = keyof ValueByKind;

export interface Field {
  readonly kind: Kind;
  readonly description: string;
  readonly example: string;
  /** Largest number, longest duration (ms) or most characters. */
  readonly most?: number;
  /** Smallest size in bytes; 64 MB unless set. */
  readonly least?: number;
  /** The word `unlimited` is allowed and reads as null. */
  readonly unlimited?: true;
  readonly choices?: readonly string[];
  readonly short?: string;
  /** Without effect in the others: said on the command line there, it is an error. */
  readonly modes?: readonly ModeName[];
  /** A project's own files cannot set it (DESIGN 6.13); it belongs to the user. */
  readonly userOnly?: true;
  /** Seed names of environment variables still read; with `mode`, in that mode only. The more specific comes first. */
  readonly formerly?: readonly { readonly name: string; readonly mode?: string }[];
}

/** May be given several times; in a file it is a list. */
export function isList({ kind }: Field): boolean {
  return ['names', 'roles', 'commands', 'agents', 'pairs', 'paths'].includes(kind);
}

type Reader = (label: string, text: string, field: Field, now: number) => Reading<unknown>;

export const readers: Readonly<Record<Kind, Reader>> = {
  whole: (label, text, field) => readWhole(label, text, field.most ?? million, field.unlimited === true),
  money: (label, text, field) => readMoney(label, text, field.unlimited === true),
  duration: (label, text, field) => readDuration(label, text, field.most ?? durationMsMax, field.unlimited === true),
  deadline: (label, text, _field, now) => readDeadline(label, text, now),
  line: (label, text, field) => readLine(label, text, field.most ?? 200),
  path: (label, text) => readPath(label, text),
  slug: (label, text) => slugOf(text, label),
  choice: (label, text, field) => readChoice(label, text, field.choices ?? []),
  truth: (label, text) => readTruth(label, text),
  names: (label, text) => readNames(label, text),
  roles: (label, text) => readRoles(label, text),
  commands: (label, text, field) => {
    const line = readLine(label, text, field.most ?? commandCharactersMax);
    return line.ok ? { ok: true, value: [line.value] } : line;
  },
  size: (label, text, field) => readSize(label, text, field.unlimited === true, field.least),
  agent: (label, text) => readAgent(label, text),
  agents: (label, text) => readAgents(label, text),
  model: (label, text) => readModel(label, text),
  pairs: (label, text, field) => readPairs(label, text, field.choices),
  words: (label, text, field) => {
    const line = readLine(label, text, field.most ?? commandCharactersMax);
    return line.ok ? splitWords(label, line.value) : line;
  },
  paths: (label, text) => {
    const path = readPath(label, text);
    return path.ok ? { ok: true, value: [path.value] } : path;
  },
  runs: (label, text) => readRuns(label, text),
  judge: (label, text) => (text.trim() === 'auto' ? { ok: true, value: 'auto' } : readAgent(label, text)),
};

// Makes the name of a loop safe to use in paths, branches and addresses (B13).

const slugPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
const slugCharactersMax = 63;
/** Names that Windows gives to devices, whatever the folder. */
const reserved = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

/** The slug of a text; callers show it when it differs from what was typed. */
export function slugOf(text: string, label = 'name'): Reading<string> {
  const slug = text
    .slice(0, 4_096)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, slugCharactersMax)
    .replace(/-$/, '');
  if (!slugPattern.test(slug))
    return refuse(`${label}: ${shown(text)} has no letter a-z or digit to make a name of; use a name like add-login.`);
  if (reserved.test(slug))
    return refuse(`${label}: ${shown(text)} is the name of a device on Windows; use a name like ${slug}-loop.`);
  return good(slug);
}

// Splits one line into words as a shell would, by quotes and backslashes; nothing in it is expanded or executed.

const wordsMax = 200;

type Quote = '' | "'" | '"';

/** Inside double quotes a backslash protects only these (POSIX). */
const escapedInQuotes = new Set(['"', '\\', '$', '`']);

export function splitWords(label: string, text: string): Reading<readonly string[]> {
  const words: string[] = [];
  let word: string | undefined;
  let quote: Quote = '';
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (quote === "'") {
      if (letter === "'") quote = '';
      else word = `${word ?? ''}${letter}`;
    } else if (letter === '\\') {
      const next = text[at + 1];
      if (next === undefined) return refuse(`${label}: ${shown(text)} ends with a backslash; write it twice.`);
      if (quote === '"' && !escapedInQuotes.has(next)) word = `${word ?? ''}\\`;
      else {
        word = `${word ?? ''}${next}`;
        at += 1;
      }
    } else if (letter === quote) quote = '';
    else if (quote === '' && (letter === "'" || letter === '"')) {
      quote = letter;
      word ??= '';
    } else if (quote === '' && /\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${letter}`;
  }
  if (quote !== '') return refuse(`${label}: ${shown(text)} opens a ${quote} that is never closed; close it.`);
  if (word !== undefined) words.push(word);
  return words.length > wordsMax
    ? refuse(`${label}: ${words.length} words are more than ${wordsMax}; give fewer.`)
    : good(words);
}
