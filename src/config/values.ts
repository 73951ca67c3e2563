// Kinds of settings: how the text of each is read, the same way from a flag, a variable or a file. What is doubtful is refused.
import { formatDuration } from '../text/format.ts';
import { readAgent, readAgents, readModel, readPairs } from './agents.ts';
import { type Bounds, commandCharactersMax, type Kind, million } from './kinds.ts';
import { type Given as GivenText, good, goodAll, type Reading, refuse, wrong } from './reading.ts';

/** What the readers of one kind are given. */
interface Given extends GivenText {
  readonly field: Bounds;
  /** Epoch ms. */
  readonly now: number;
}

const readWhole = (given: Given): Reading<number> =>
  holdWhole(given, /^[1-9][0-9]{0,15}$/.test(given.text.trim()) ? Number(given.text) : Number.NaN);

function holdWhole(given: Given, value: number): Reading<number> {
  const most = given.field.most ?? million;
  if (Number.isSafeInteger(value) && value > 0 && value <= most) return good(value);
  return wrong(given, `is not a whole number from 1 to ${most.toLocaleString('en-US')}; write it in plain digits`);
}

const microsPerDollar = 1_000_000;
const dollarsMax = 1_000_000;

/** Dollars to integer micro-dollars by digits, so that no fraction is ever rounded. */
function readMoney(given: Given): Reading<number> {
  const parts = /^\$?(0|[1-9][0-9]{0,6})(?:\.([0-9]{1,6}))?$/.exec(given.text.trim());
  return holdMoney(given, Number(parts?.[1] ?? 0) * microsPerDollar + Number((parts?.[2] ?? '').padEnd(6, '0')));
}

function holdMoney(given: Given, value: number): Reading<number> {
  const micros = Math.round(value);
  const isWhole = Math.abs(value - micros) < 0.001; // what is more than the noise of a sum of dollars is not rounded away
  if (isWhole && micros > 0 && micros <= dollarsMax * microsPerDollar) return good(micros);
  return wrong(given, 'is not an amount in dollars above 0 and up to $1,000,000; write it like 5, $5 or 0.50');
}

const unitsMs = [86_400_000, 3_600_000, 60_000, 1_000, 1] as const;
const durationPattern =
  /^(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?(?:([0-9]{1,10})ms)?$/;
const durationCharactersMax = 64;
const durationMsMax = 30 * unitsMs[0];

function readDuration(given: Given): Reading<number> {
  const trimmed = given.text.trim();
  const parts = trimmed.length <= durationCharactersMax ? durationPattern.exec(trimmed) : null;
  const sumMs = unitsMs.reduce((sum, unitMs, index) => sum + Number(parts?.[index + 1] ?? 0) * unitMs, 0);
  return holdDuration(given, sumMs);
}

function holdDuration(given: Given, durationMs: number): Reading<number> {
  const mostMs = given.field.most ?? durationMsMax;
  const wholeMs = Math.round(durationMs);
  if (wholeMs > 0 && wholeMs <= mostMs) return good(wholeMs);
  const how = 'write it with units d, h, m, s or ms, largest first, like 2h30m or 90s';
  return wrong(given, `is not a duration above 0 and up to ${formatDuration(mostMs)}; ${how}`);
}

const isoPattern =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,3})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})$/;
const clockPattern = /^([01][0-9]|2[0-3]):([0-5][0-9])$/;
/** A deadline further away than this bounds nothing. */
const deadlineMsMax = 366 * unitsMs[0];

/** Epoch ms. `HH:MM` is the next time the local clock shows it, so that 02:00 said in the evening means tonight. */
function readDeadline(given: Given): Reading<number> {
  const trimmed = given.text.trim();
  const at = clockPattern.test(trimmed) ? nextLocal(trimmed, given.now) : isoInstant(trimmed);
  const how = 'write a date-time with its zone like 2030-01-31T18:00:00Z, or a local time like 18:30';
  if (at === undefined) return wrong(given, `is not a point in time; ${how}.`);
  return holdDeadline(given, at);
}

function holdDeadline(given: Given, at: number): Reading<number> {
  const { now } = given;
  if (at <= now) return wrong(given, 'is not in the future; give a later time.');
  if (at - now > deadlineMsMax) return wrong(given, 'is more than 366 days away; give an earlier time.');
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
function readLine(given: GivenText, charactersMax: number): Reading<string> {
  const { label, text } = given;
  const trimmed = text.trim();
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text) || !text.isWellFormed())
    return wrong(given, 'contains a line break or control character; write it on one line.');
  // ASCII first: those classes take a start a millisecond.
  if (!/[!-~]/.test(trimmed) && !/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(trimmed))
    return refuse(`${label}: "" is empty; give at least one character.`);
  if (trimmed.length <= 2 * charactersMax && [...trimmed].length <= charactersMax) return good(trimmed);
  return wrong(given, `is longer than ${charactersMax.toLocaleString('en-US')} characters; shorten it.`);
}

function readChoice(given: Given): Reading<string> {
  const { text, field } = given;
  const choices = field.choices ?? [];
  const trimmed = text.trim();
  return choices.includes(trimmed)
    ? good(trimmed)
    : wrong(given, `is not a known choice; use one of ${choices.join(', ')}.`);
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

function readTruth(given: Given): Reading<boolean> {
  const truth = truths.get(given.text.trim());
  return truth === undefined ? wrong(given, 'is neither true nor false; write true or false.') : good(truth);
}

const namesMax = 100;

/** Names separated by commas or white space. */
function readNames(
  { label, text }: Given,
  pattern: RegExp,
  wrongWords: string,
  noneWords: string,
): Reading<readonly string[]> {
  const names = text.split(/[\s,]+/).filter(name => name !== '');
  const bad = names.find(name => !pattern.test(name));
  if (bad !== undefined) return wrong({ label, text: bad }, wrongWords);
  if (names.length === 0) return refuse(`${label}: "" ${noneWords}`);
  if (names.length > namesMax) return refuse(`${label}: ${names.length} names are more than ${namesMax}; give fewer.`);
  return good([...new Set(names)]);
}

const readVariables = (given: Given): Reading<readonly string[]> =>
  readNames(
    given,
    /^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
    'is not the name of an environment variable; give names only, like PATH, never NAME=value.',
    'names no environment variable; give at least one, like PATH.',
  );

const noRole = 'is not the name of a role; use letters, digits and dashes.';

/** Roles stand in task ids and in the names of files: letters, digits and dashes. */
const readRoles = (given: Given): Reading<readonly string[]> =>
  readNames(given, /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, noRole, noRole);

/** A Windows network or device path would contact another machine on being opened (B32). */
function readPath(given: Given): Reading<string> {
  if (/^\s*(\\\\|\\\?\?\\|\/\/)/.test(given.text))
    return wrong(given, 'is a network or device path; give a path on this machine.');
  return readLine(given, 4_096);
}

const runsMax = 10;

/** `2/3`: how many passes are needed, out of how many runs at most. */
function readRuns(given: Given): Reading<string> {
  const parts = /^([1-9][0-9]?)\/([1-9][0-9]?)$/.exec(given.text.trim());
  const [needed, most] = [Number(parts?.[1] ?? 0), Number(parts?.[2] ?? 0)];
  if (needed > 0 && needed <= most && most <= runsMax) return good(`${needed}/${most}`);
  return wrong(given, `is not N/M with N at most M and M at most ${runsMax}; write it like 2/3.`);
}

const bytesByUnit: Readonly<Record<string, number>> = { m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const bytesMin = 64 * 2 ** 20; // no agent starts below it
const bytesMax = 64 * 2 ** 40;

/** Bytes. A number without a unit is doubtful and refused. */
function readSize(given: Given): Reading<number> {
  const least = given.field.least ?? bytesMin;
  const parts = /^([1-9][0-9]{0,6})([mgt])(?:i?b)?$/i.exec(given.text.trim());
  const bytes = Number(parts?.[1] ?? 0) * (bytesByUnit[(parts?.[2] ?? '').toLowerCase()] ?? 0);
  if (bytes >= least && bytes <= bytesMax) return good(bytes);
  return wrong(given, `is not a size from ${Math.ceil(least / 1024 ** 2)}m to 64t; write it like 512m or 8g`);
}

const readCommand = (given: Given): Reading<string> => readLine(given, given.field.most ?? commandCharactersMax);

interface Reader {
  readonly read: (given: Given) => Reading<unknown>;
  /** Its sentence is open for "or the word unlimited". */
  readonly isAmount?: true;
  /** Holds a number, in the unit of the value once read, to the same bounds. */
  readonly hold?: (given: Given, value: number) => Reading<number>;
  /** Such a number in a sentence. */
  readonly say?: (value: number) => string;
}

const readers = {
  whole: { read: readWhole, hold: holdWhole, isAmount: true },
  money: { read: readMoney, hold: holdMoney, say: micros => String(micros / microsPerDollar), isAmount: true },
  duration: { read: readDuration, hold: holdDuration, say: ms => `${Math.round(ms)}ms`, isAmount: true },
  deadline: { read: readDeadline, hold: holdDeadline, say: at => new Date(at).toISOString() },
  line: { read: given => readLine(given, given.field.most ?? 200) },
  path: { read: readPath },
  slug: { read: ({ label, text }) => slugOf(text, label) },
  choice: { read: readChoice },
  truth: { read: readTruth },
  names: { read: readVariables },
  roles: { read: readRoles },
  commands: { read: given => goodAll([readCommand(given)]) },
  size: { read: readSize, isAmount: true },
  agent: { read: readAgent },
  agents: { read: readAgents },
  model: { read: readModel },
  pairs: { read: given => readPairs(given, given.field.choices) },
  words: {
    read: given => {
      const line = readCommand(given);
      return line.ok ? splitWords({ label: given.label, text: line.value }) : line;
    },
  },
  paths: { read: given => goodAll([readPath(given)]) },
  runs: { read: readRuns },
  judge: { read: given => (given.text.trim() === 'auto' ? good('auto') : readAgent(given)) },
} as const satisfies Readonly<Record<Kind, Reader>>;

const readerOf = (kind: Kind): Reader => readers[kind];

/** The type of a value once read. Money is micro-dollars, durations are ms, a deadline is epoch ms, a size bytes. */
export type ValueOf<Name extends Kind> = (typeof readers)[Name]['read'] extends (given: never) => Reading<infer Value>
  ? Value
  : never;

/** `unlimited` must be typed, and only where it is allowed. */
export function readKind(kind: Kind, given: Given, mayBeUnlimited = false): Reading<unknown> {
  if (mayBeUnlimited && given.text.trim() === 'unlimited') return good(null);
  return amountRefusal(kind, readerOf(kind).read(given), mayBeUnlimited);
}

/** A number that was never a text, or null for unlimited: the same bounds, refused in the same words. */
export function holdNumber(
  kind: Kind,
  given: Omit<Given, 'text'>,
  value: number | null,
  mayBeUnlimited = false,
): Reading<unknown> {
  if (mayBeUnlimited && value === null) return good(null);
  const { read, hold = read, say = String } = readerOf(kind);
  const text = value === null ? 'unlimited' : say(value);
  return amountRefusal(kind, hold({ ...given, text }, value ?? Number.NaN), mayBeUnlimited);
}

function amountRefusal(kind: Kind, reading: Reading<unknown>, mayBeUnlimited: boolean): Reading<unknown> {
  if (reading.ok || readerOf(kind).isAmount !== true) return reading;
  return refuse(`${reading.problem}${mayBeUnlimited ? ', or the word unlimited' : ''}.`);
}

/** A duration that is no setting of ours. */
export const readTime = (label: string, text: string): Reading<number> =>
  readDuration({ label, text, field: {}, now: 0 });

/** Names that paths, branches and addresses can hold (B13). */
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
    return wrong({ label, text }, 'has no letter a-z or digit to make a name of; use a name like add-login.');
  if (reserved.test(slug))
    return wrong({ label, text }, `is the name of a device on Windows; use a name like ${slug}-loop.`);
  return good(slug);
}

const wordsMax = 200;

/** White space, 'single quotes', "double quotes", an escaped character, anything plain, or what is never closed. */
const pieces = /(\s+)|'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|([^\s'"\\]+)|(['"\\])/g;
/** Inside double quotes a backslash protects only these (POSIX). */
const escapedInQuotes = /\\(["\\$`])/g;

/** One line split as a shell would. */
export function splitWords(given: GivenText): Reading<readonly string[]> {
  const words: string[] = [];
  let isOpen = false;
  for (const [, blank, single, double, escaped, plain, unclosed] of given.text.matchAll(pieces)) {
    if (unclosed === '\\') return wrong(given, 'ends with a backslash; write it twice.');
    if (unclosed !== undefined) return wrong(given, `opens a ${unclosed} that is never closed; close it.`);
    if (blank === undefined) {
      const text = single ?? double?.replace(escapedInQuotes, '$1') ?? escaped ?? plain ?? '';
      words.push(isOpen ? words.pop() + text : text);
    }
    isOpen = blank === undefined;
  }
  if (words.length <= wordsMax) return good(words);
  return refuse(`${given.label}: ${words.length} words are more than ${wordsMax}; give fewer.`);
}
