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
  /** How long it was allowed to be silent when it ended. */
  readonly silenceMs: number;
  readonly firstByteMs: number;
  readonly timeMsMax: number;
  readonly nowMs: number;
}

const detailCharsMax = 500;

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
  return endedByTimer(run) ?? endedWithoutLogin(run) ?? endedWithoutResult(exit, run.errors);
}

/** Kiro exits with 0 when it has no login: only an answer and the exit code together are a good end. */
function isGoodPlainEnd({ isPlain, exit, result }: RunFacts): boolean {
  return isPlain && exit.code === 0 && exit.cause === undefined && result.message().trim() !== '';
}

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
  const resetAtMs = plausibleReset(problem.resetAtMs, nowMs);
  const failure = classifyFailure({ kind, status, resetAtMs, text: oneLine(text) });
  const exitCode = exit.stoppedByUs ? undefined : (exit.code ?? undefined);
  return { ...failure, detail: oneLine(text) || failure.detail, exitCode };
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

function endedWithoutLogin({ exit, errors, strayLines: odd = '', loginMissing = [] }: RunFacts): Failure | undefined {
  const lines = `${errors}\n${odd}`.split('\n').map(line => line.trim());
  const line = lines.find(each => loginMissing.some(start => each.startsWith(start)));
  return line === undefined ? undefined : classifyFailure({ kind: 'auth', exitCode: exit.code, text: oneLine(line) });
}

function endedWithoutResult(exit: ProcessExit, errors: string): Failure {
  const failure = classifyFailure({ exitCode: exit.code, signal: exit.signal, text: errors });
  const isNamed = failure.kind !== 'unknown';
  return { ...failure, kind: isNamed ? failure.kind : 'process', detail: `ended without a result; ${failure.detail}` };
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
  if (!isStatus(status)) return { kind, text: words };
  const named = namings.find(row => row.status === status && (row.code === undefined || text.includes(row.code)));
  return { kind: kind ?? named?.kind, status, text: words };
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

/** Ordered: the first row of which a word, in small letters, occurs in a text names its kind. */
export type WordsOfKind = readonly (readonly [kind: FailureKind, words: readonly string[]])[];

export function kindByWords(rows: WordsOfKind, text: string): FailureKind | undefined {
  const lower = text.toLowerCase();
  return rows.find(([, words]) => words.some(word => lower.includes(word)))?.[0];
}

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
