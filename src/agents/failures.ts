// Failures of an agent's run: what its stream says comes first, then what we did to it, then how it ended.

import { classifyFailure, type Failure, type FailureKind } from '../core/failure.ts';
import { resetMsMax } from '../core/scheduling.ts';
import type { ProcessExit } from '../processes/spawn.ts';
import { countOf, type Fields, fieldsOf, textOf } from '../text/fields.ts';
import type { AgentResult, StreamProblem } from './agent.ts';

export interface RunFacts {
  readonly exit: ProcessExit;
  readonly result: AgentResult;
  /** Its output is plain text: it has no last word, and a good exit is its good end. */
  readonly isPlain: boolean;
  readonly stopped: boolean;
  /** Its good last word was there before we stopped it: what we stopped was only its way out. */
  readonly hadSucceeded?: boolean;
  /** The end of its stderr. */
  readonly errors: string;
  /** The end of what it printed that is no event. */
  readonly strayLines?: string;
  /** How its words begin when it has no login. */
  readonly loginMissing?: readonly string[];
  readonly loginMissingCode?: number | undefined;
  /** How long it was allowed to be silent when it ended. */
  readonly silenceMs: number;
  readonly firstByteMs: number;
  readonly timeMsMax: number;
  readonly nowMs: number;
}

const detailCharsMax = 500;
const fullCharsMax = 4_000;

/** Undefined for a success: a good last word, whatever the exit code. */
export function failureOf(run: RunFacts): Failure | undefined {
  const { exit, result } = run;
  const isGood = result.finished && result.problem === undefined;
  if (run.stopped && !(isGood && run.hadSucceeded === true)) return { kind: 'stopped', detail: 'stopped by Ralph' };
  if (exit.spawnError !== undefined) return classifyFailure({ spawnError: exit.spawnError, text: '' });
  if (isGood) return undefined;
  if (exit.cause === 'memory' || exit.cause === 'processes') return overLimit(exit.cause);
  if (result.problem) return streamFailure(result.problem, exit, run.nowMs);
  if (isGoodPlainEnd(run)) return undefined;
  return endedByTimer(run) ?? endedWithoutLogin(run) ?? endedWithoutResult(run);
}

/** Kiro exits with 0 when it has no login: only an answer and the exit code together are a good end. */
function isGoodPlainEnd({ isPlain, exit, result }: RunFacts): boolean {
  return isPlain && exit.code === 0 && exit.cause === undefined && result.message().trim() !== '';
}

/** Only a provider is waited for to a time; words about another failure may name any. */
export const resetFor = ({ kind, resetAtMs }: Failure, nowMs: number): number | undefined =>
  kind === 'rate-limit' || kind === 'overloaded' ? plausibleReset(resetAtMs, nowMs) : undefined;

/** B69: a time that has passed, or that nobody lives to see, is no time to wait for. */
export function plausibleReset(resetAtMs: number | undefined, nowMs: number): number | undefined {
  const isPlausible = resetAtMs !== undefined && resetAtMs > nowMs && resetAtMs <= nowMs + resetMsMax;
  return isPlausible ? Math.round(resetAtMs) : undefined;
}

function overLimit(cause: 'memory' | 'processes'): Failure {
  const what = cause === 'memory' ? 'more memory' : 'more processes';
  return { ...classifyFailure({ overLimit: true, text: '' }), detail: `ended because it used ${what} than it may` };
}

/** The exit code is left out: gemini's is an HTTP status that looks like a signal. */
function streamFailure(problem: StreamProblem, exit: ProcessExit, nowMs: number): Failure {
  const { kind, status, text } = problem;
  const words = oneLine(text);
  const resetAtMs = problem.resetAtMs ?? resetIn(problem.full ?? text.slice(0, fullCharsMax), nowMs);
  const said = classifyFailure({ kind, status, resetAtMs, text: words, isError: true });
  const exitCode = exit.stoppedByUs ? undefined : (exit.code ?? undefined);
  return {
    ...said,
    detail: words || said.detail,
    exitCode,
    resetAtMs: plausibleReset(problem.resetAtMs, nowMs) ?? resetFor(said, nowMs),
  };
}

function endedByTimer({ exit, silenceMs, firstByteMs, timeMsMax }: RunFacts): Failure | undefined {
  if (exit.cause === 'first-byte') {
    const detail = `no sign of life within ${inWords(firstByteMs)} of its start`;
    return { ...classifyFailure({ neverSpoke: true, text: '' }), detail };
  }
  if (exit.cause !== 'silence' && !exit.timedOut) return undefined;
  const isSilent = exit.cause === 'silence';
  const detail = isSilent ? `stuck: no output for ${inWords(silenceMs)}` : `not finished within ${inWords(timeMsMax)}`;
  return { ...classifyFailure({ timedOut: true, text: '' }), detail };
}

function endedWithoutLogin(run: RunFacts): Failure | undefined {
  const { exit, errors, strayLines: odd = '', loginMissing = [], loginMissingCode } = run;
  const lines = `${errors}\n${odd}`.split('\n').map(line => line.trim());
  const line = lines.find(each => loginMissing.some(start => each.startsWith(start)));
  if (line === undefined && (exit.code === null || exit.code !== loginMissingCode)) return undefined;
  return classifyFailure({ kind: 'auth', exitCode: exit.code, text: oneLine(line ?? errors) });
}

/** Its stderr says why; where that is empty, what it printed beside its events. */
function endedWithoutResult({ exit, errors, strayLines = '', nowMs }: RunFacts): Failure {
  const text = errors.trim() === '' ? strayLines : errors;
  const { code: exitCode, signal } = exit;
  const failure = classifyFailure({ exitCode, signal, text, resetAtMs: resetIn(text, nowMs) });
  const isOurs = failure.kind === 'stopped' && exit.stoppedByUs;
  const kind = failure.kind === 'unknown' || isOurs ? 'process' : failure.kind;
  return { ...failure, kind, resetAtMs: resetFor(failure, nowMs), detail: `ended without a result; ${failure.detail}` };
}

function oneLine(text: string): string {
  return text
    .slice(0, 4 * detailCharsMax)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, detailCharsMax);
}

function inWords(durationMs: number): string {
  if (durationMs >= 60_000) return `${Math.round(durationMs / 6_000) / 10} min`;
  return `${Math.round(durationMs / 100) / 10} s`;
}

/** What the status alone would name wrongly or not at all, by the codes of OpenAI's interface and its imitations. Ordered. */
const namings: readonly { readonly kind: FailureKind; readonly status: number; readonly code?: string }[] = [
  { status: 429, code: 'insufficient_quota', kind: 'billing' },
  { status: 404, kind: 'model' },
  { status: 400, code: 'context_length_exceeded', kind: 'context-too-long' },
];

/** `kind`: what the agent itself names. */
export function statusProblem(status: unknown, text: string, kind?: FailureKind): StreamProblem {
  const words = wordsOf(text);
  const full = words === text ? undefined : text.slice(0, fullCharsMax);
  if (!isStatus(status)) return { kind, text: words, full };
  const named = namings.find(row => row.status === status && (row.code === undefined || text.includes(row.code)));
  return { kind: kind ?? named?.kind, status, text: words, full };
}

/** Codes of Anthropic's API, and those under which its own agent tells them. */
export const anthropicKinds: ReadonlyMap<unknown, FailureKind> = new Map([
  ['prompt_too_long', 'context-too-long'],
  ['usage_limit_reached', 'rate-limit'],
  ['connection_failed', 'connection'],
  ['authentication_failed', 'auth'],
  ['oauth_org_not_allowed', 'auth'],
  ['billing_error', 'billing'],
  ['rate_limit', 'rate-limit'],
  ['overloaded', 'overloaded'],
  ['model_not_found', 'model'],
  ['authentication_error', 'auth'],
  ['permission_error', 'auth'],
  ['rate_limit_error', 'rate-limit'],
  ['overloaded_error', 'overloaded'],
]);

/** A body that came with the status says its own message. */
function wordsOf(text: string): string {
  const body = /^(\d{3}):? (\{.*\})$/s.exec(text);
  try {
    const { message, error } = fieldsOf(JSON.parse(body?.[2] ?? ''));
    const words = textOf(message) || textOf(fieldsOf(error)['message']);
    return words === '' ? text : `${body?.[1]}: ${words}`;
  } catch {
    return text;
  }
}

/** The status that the libraries of the providers put before a message: `429 Too many`, `401: {…}`. */
export function statusAtStart(text: string): number | undefined {
  const status = Number(/^(\d{3})\b/.exec(text)?.[1]);
  return isStatus(status) ? status : undefined;
}

export function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599;
}

/** When a provider will serve again; each has its own way to say so. Names of headers are in small letters. `sentAtMs` is when they came: waits count from there. */
export function resetOf(headers: Fields, sentAtMs: unknown): number | undefined {
  const windowEndS = Number(textOf(headers['anthropic-ratelimit-unified-reset']));
  if (windowEndS > 0) return windowEndS * 1000;
  const waitMs = Number(textOf(headers['retry-after-ms'])) || Number(textOf(headers['retry-after'])) * 1000;
  if (waitMs > 0) return countOf(sentAtMs) > 0 ? countOf(sentAtMs) + waitMs : undefined;
  const atMs = Date.parse(textOf(headers['retry-after']));
  return atMs > 0 ? atMs : undefined;
}

// When a provider serves again, in the words that people are told: an epoch, a day and a time, a time alone, a while from now.

const dayMs = 86_400_000;
const minuteMs = 60_000;
const unitMs: Readonly<Record<string, number>> = { d: dayMs, t: dayMs, h: 3_600_000, m: minuteMs, s: 1_000, ms: 1 };
const units =
  '(?:days?|d|tagen?|hours?|hrs?|h|stunden?|heures?|horas?|minutes?|mins?|minuten?|minutos?|m|seconds?|secs?|sekunden?|s|milliseconds?|ms)';
const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const weekdays = 'sun mon tue wed thu fri sat'.split(' ');
const zoneHours: Readonly<Record<string, number>> = {
  ...{ utc: 0, gmt: 0, z: 0, pst: -8, pdt: -7, mst: -7, mdt: -6, cst: -6, cdt: -5, est: -5, edt: -4 },
  ...{ bst: 1, cet: 1, cest: 2, ist: 5.5, jst: 9 },
};

const asks =
  /again|reset|available|renew|retry|back|until|refresh|wait|restored?|regain|returns?|opens?|versuch|erneut|nouveau|nuevo/i;
/** `usage limit reached|1795003200`, `"resetsAt": 1795003200` */
const epoch = /(?:\||reset[\w-]*["']?\s*(?:at|time)?["']?\s*[:=]?\s*["']?)(\d{10})(\d{3})?\b/i;
const iso = /\b(\d{4}-\d\d-\d\d)(?:T| at | )(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)?/;
/** A day alone may be that of a version. */
const isoDay = /\b(?:on|until|resets?|reset at|renews) (\d{4}-\d\d-\d\d)\b/i;
/** Headers give plain numbers, or a date. */
const header =
  /(?:retry[-_ ]?after(-ms)?|ratelimit-reset[\w-]*)["']?\s*[:=]?\s*["']?(\d+(?:\.\d+)?)(?![\d.]* ?[a-z\d:-])/i;
const headerDate = /retry-after["']?: ?["']?([A-Z][a-z]{2}, [\w :]{10,30} GMT)/i;
const countdown = /\bin (\d{1,2}):(\d\d):(\d\d)\b/;
const aWhile = new RegExp(
  `(?:(?:again|reset|available|renew|retry|back|until|refresh|wait)[\\w-]*|after|in|delay)["']?[ :=]{0,3}["']?(?:(?:in|after|for|about|another|approximately|~) ?){0,2}((?:(?:\\d+(?:\\.\\d+)?|an?) ?${units}(?![a-z])(?:,? (?:and )?)?)+)`,
  'i',
);
const onDay =
  /(?:\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?\b|\b(\d{1,2})(?:st|nd|rd|th)?\.? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b)(?:,? (\d{4})\b)?/i;
const onWeekday = /\b(sun|mon|tue|wed|thu|fri|sat)(?:s|nes|rs|ur)?(?:day)?\b|\b(tomorrow)\b/i;
const atTime = /\b(\d{1,2})(?:[:.](\d\d))? ?([ap])\.?m\b|\b(\d{1,2}):(\d\d)(?::\d\d)?\b|\b(midnight|noon)\b/i;
const zone =
  /\b(utc|gmt|p[sd]t|m[sd]t|c[sd]t|e[sd]t|bst|cest|cet|ist|jst)\b(?:\s?([+-]\d{1,2})(?::?(\d\d))?)?|\d(z)\b/i;
const zoneName = /\b((?:Africa|America|Asia|Atlantic|Australia|Europe|Pacific)\/[A-Za-z_/]+|Etc\/UTC)\b/;
/** `12/1/2026`, the month first as in all texts of CLIs that we know. */
const slashed = /\b(\d{1,2})\/(\d{1,2})\/(20\d\d)\b/;
/** A day that was not understood: its time alone would be another day's. */
const someDay = /\b\d{1,2}(?:st|nd|rd|th)\b|\b20\d\d\b/;

function durationIn(words: string): number {
  let sum = 0;
  for (const [, amount = '', unit = ''] of words.matchAll(/(\d+(?:\.\d+)?|\ban?\b) ?(milli|ms|d|t|h|m|s)/gi)) {
    const name = unit.toLowerCase() === 'milli' ? 'ms' : unit.toLowerCase();
    sum += (amount.startsWith('a') ? 1 : Number(amount)) * (unitMs[name] ?? 0);
  }
  return Math.round(sum);
}

/** How far the clocks of the text are ahead of UTC; those of this machine where it names no zone, as CLIs print it. */
function zoneMsOf(text: string, nowMs: number): number {
  const name = zoneName.exec(text)?.[1];
  if (name !== undefined) {
    const shown = new Date(nowMs).toLocaleString('sv-SE', { timeZone: name });
    return Math.round((Date.parse(`${shown.replace(' ', 'T')}Z`) - nowMs) / minuteMs) * minuteMs;
  }
  const [, word, hours = '0', minutes = '0', z] = zone.exec(text) ?? [];
  const known = word ?? z;
  if (known === undefined) return -new Date(nowMs).getTimezoneOffset() * minuteMs;
  const more = (Number(hours) * 60 + Math.sign(Number(hours)) * Number(minutes)) * minuteMs;
  return (zoneHours[known.toLowerCase()] ?? 0) * 3_600_000 + more;
}

/** Minutes since midnight; undefined: no time is named. */
function minutesOf(text: string): number | undefined {
  const found = atTime.exec(text);
  if (found === null) return undefined;
  const [, hour, minute, half, plainHour, plainMinute, word] = found;
  if (word !== undefined) return word.toLowerCase() === 'noon' ? 720 : 0;
  if (half === undefined) return Number(plainHour) * 60 + Number(plainMinute);
  return ((Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)) * 60 + Number(minute ?? 0);
}

interface Clock {
  readonly nowMs: number;
  /** The clocks of the text are so far ahead of UTC. */
  readonly aheadMs: number;
}

const midnightOf = ({ aheadMs }: Clock, year: number, month: number, date: number): number =>
  Date.UTC(year, month, date) - aheadMs;

/** A day of a month with a time; without a year the next one. */
function dayIn(text: string, clock: Clock): number | undefined {
  const [isSlashed, monthOf, dateOf, yearOf] = slashed.exec(text) ?? [];
  if (isSlashed !== undefined) return midnightOf(clock, Number(yearOf), Number(monthOf) - 1, Number(dateOf));
  const found = onDay.exec(text);
  if (found === null) return undefined;
  const [whole, nameFirst, dateLast, dateFirst, nameLast, year] = found;
  const minutes = minutesOf(text.replace(whole, ' ')) ?? 0;
  const month = months.indexOf((nameFirst ?? nameLast ?? '').toLowerCase());
  const at = (inYear: number): number =>
    midnightOf(clock, inYear, month, Number(dateLast ?? dateFirst)) + minutes * minuteMs;
  if (year !== undefined) return at(Number(year));
  const thisYear = new Date(clock.nowMs + clock.aheadMs).getUTCFullYear();
  return at(thisYear) < clock.nowMs - dayMs ? at(thisYear + 1) : at(thisYear);
}

/** A weekday, tomorrow, or the next such time. */
function timeIn(text: string, clock: Clock): number | undefined {
  const minutes = minutesOf(text);
  const [isNamed, weekday] = onWeekday.exec(text) ?? [];
  if (isNamed === undefined && (minutes === undefined || someDay.test(text))) return undefined;
  const today = new Date(clock.nowMs + clock.aheadMs);
  const toWeekday = (weekdays.indexOf((weekday ?? '').toLowerCase()) - today.getUTCDay() + 7) % 7;
  const ahead = weekday !== undefined ? toWeekday : Number(isNamed !== undefined);
  const [year, month, date] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + ahead];
  const at = midnightOf(clock, year, month, date) + (minutes ?? 0) * minuteMs;
  return at > clock.nowMs ? at : at + (weekday === undefined ? dayMs : 7 * dayMs);
}

const timeOf = (date: string | undefined): number | undefined => (date && Date.parse(date)) || undefined;

/** Ordered: what is most exact stands first. */
const ways: readonly ((text: string, nowMs: number) => number | undefined)[] = [
  text => timeOf(headerDate.exec(text)?.[1]),
  text => {
    const [, date, time, zoneOf = 'Z'] = iso.exec(text) ?? [];
    return timeOf(date && `${date}T${time}${zoneOf.replace(/UTC|GMT/, 'Z')}`);
  },
  (text, nowMs) => {
    const wait = aWhile.exec(text)?.[1];
    return wait === undefined ? undefined : nowMs + durationIn(wait);
  },
  (text, nowMs) => {
    const [, hours, minutes, seconds] = countdown.exec(text) ?? [];
    return hours === undefined
      ? undefined
      : nowMs + ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
  },
  (text, nowMs) => {
    const [, isMs, amount] = header.exec(text) ?? [];
    return amount === undefined ? undefined : nowMs + Number(amount) * (isMs === undefined ? 1_000 : 1);
  },
  text => timeOf(isoDay.exec(text)?.[1]),
  (text, nowMs) => dayIn(text, { nowMs, aheadMs: zoneMsOf(text, nowMs) }),
  (text, nowMs) => timeIn(text, { nowMs, aheadMs: zoneMsOf(text, nowMs) }),
];

/** When the text says that a provider serves again (epoch ms); undefined when it does not say. */
export function resetIn(text: string, nowMs: number): number | undefined {
  const stamp = epoch.exec(text);
  if (stamp !== null) return Number(stamp[1]) * 1_000;
  if (!asks.test(text)) return undefined;
  for (const way of ways) {
    const at = way(text, nowMs);
    if (at !== undefined) return at;
  }
  return undefined;
}
