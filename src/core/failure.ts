// Failures of an iteration: which kind it was and what that means for the loop, as one ordered table.

import { type Trouble, troubleAtEnd, troubleIn } from '../messages/provider-words.ts';
import type { Settings } from './settings.ts';

export type FailureKind =
  | 'stopped'
  | 'timeout'
  | 'spawn'
  | 'no-start'
  | 'resource-limit'
  | 'model'
  | 'auth'
  | 'billing'
  | 'rate-limit'
  | 'overloaded'
  | 'context-too-long'
  | 'permission'
  | 'connection'
  | 'process'
  /** A tool or a file said no: the action's own result is a failure. */
  | 'refused'
  /** The order itself is wrong: trying again changes nothing. */
  | 'invalid'
  /** It may have happened: the reply was lost. */
  | 'lost-reply'
  | 'unknown';

/** A failure is a value. `detail` is for people; decisions read only `kind` and `resetAtMs`. */
export interface Failure {
  readonly kind: FailureKind;
  readonly detail: string;
  readonly exitCode?: number;
  /** When the provider said that it will serve again (epoch ms). */
  readonly resetAtMs?: number;
  /** We did not stop it: Ralph itself was gone. */
  readonly crashed?: true;
  /** It ended with an error and printed nothing. */
  readonly silent?: true;
  /** Somebody else asked it to end. */
  readonly byOthers?: true;
  /** It did nothing but fail in words that nobody knows: it rests and is tried again before it counts. */
  readonly rests?: true;
}

export interface FailureRule {
  /** Worth another iteration without a human. */
  readonly retryable: boolean;
  /** Counts towards the consecutive errors of the loop. */
  readonly counts: boolean;
  /** Is the performer's fault (not the task's): moves its breaker. */
  readonly trips: boolean;
  readonly hint: string;
}

const rule = (hint: string, ...is: readonly ('retryable' | 'counts' | 'trips')[]): FailureRule => ({
  retryable: is.includes('retryable'),
  counts: is.includes('counts'),
  trips: is.includes('trips'),
  hint,
});

export const failureRules: Readonly<Record<FailureKind, FailureRule>> = {
  stopped: rule('We stopped it; running again goes on.', 'retryable'),
  timeout: rule('Raise the iteration time limit or make the task smaller.', 'retryable', 'counts'),
  spawn: rule('Check that the agent is installed, executable and on PATH.', 'retryable', 'counts', 'trips'),
  'no-start': rule(
    'Start the agent by hand in this folder and see what it waits for; ralph doctor looks at it too.',
    'retryable',
    'trips',
  ),
  'resource-limit': rule(
    'Memory, processes, files or disk ran out: make the task smaller, free some or raise the limit.',
    'retryable',
    'counts',
  ),
  model: rule('Check the name given to --model.'),
  auth: rule('Log in to the agent again.'),
  billing: rule('Check the credit or plan of the agent’s account.'),
  'rate-limit': rule('Waits for the provider’s reset.', 'retryable'),
  overloaded: rule('The provider is overloaded; Ralph backs off.', 'retryable', 'trips'),
  'context-too-long': rule('A fresh context takes over.', 'retryable', 'counts'),
  permission: rule('Give the agent the permission that it asked for.', 'counts'),
  connection: rule('Check the network.', 'retryable', 'trips'),
  process: rule('Read the agent’s output: ralph logs.', 'retryable', 'counts'),
  refused: rule('Read what the tool said: ralph logs.', 'retryable', 'counts'),
  invalid: rule('Mend the step in the plan.', 'counts'),
  'lost-reply': rule('Look whether it happened, then answer.', 'counts'),
  unknown: rule('Read the agent’s output: ralph logs.', 'retryable', 'counts'),
};

/** What happened, for people. */
export const failureWords: Readonly<Record<FailureKind, string>> = {
  stopped: 'it was stopped',
  timeout: 'it took too long',
  spawn: 'the agent could not be started',
  'no-start': 'the agent was started but never answered',
  'resource-limit': 'memory, processes, files or disk ran out',
  model: 'the agent does not have this model',
  auth: 'the agent is not logged in',
  billing: "the agent's account has no credit",
  'rate-limit': "the provider's limit is reached",
  overloaded: 'the provider is overloaded',
  'context-too-long': 'the conversation grew too long for the model',
  permission: 'the agent lacked a permission',
  connection: 'the network connection failed',
  process: 'the program ended with an error',
  refused: 'it was refused',
  invalid: 'the step itself is wrong',
  'lost-reply': 'it may have happened, but the reply was lost',
  unknown: 'the agent ended with an error',
};

/** An agent is not blamed for its provider; of an action every try is one of the few that it has (seed 004). */
export const countsAsAttempt = (failure: Failure, isAction: boolean): boolean =>
  countsAsError(failure) || (isAction && failure.kind !== 'stopped');

/** Towards the errors in a row of the loop. */
export const countsAsError = ({ kind, rests }: Failure): boolean => failureRules[kind].counts && rests !== true;

/** It goes on by itself when what was the matter is over. */
export const isNoFaultOfTask = (failure: Failure): boolean =>
  failureRules[failure.kind].retryable && !countsAsError(failure);

const restsMax = 3;

/** `isIdle`: it said nothing and used no tool. Such an end is no fault of the task until it happens again and again. */
export const restsAtFirst = (failure: Failure, isIdle: boolean, failuresInRow: number): boolean =>
  failure.kind === 'unknown' && isIdle && failuresInRow < restsMax;

export const isCrashAttempt = ({ policy }: Settings, failure: Failure | undefined): boolean =>
  failure?.crashed === true && policy.crashIsAttempt;

/** The performer broke off by itself: what it left may be half of something. */
export const isCrash = (failure: Failure | undefined): boolean =>
  failure?.kind === 'process' || failure?.kind === 'unknown';

/** The agent as such does not run: no task has anything to do with it. */
export const failsToStart = (kind: FailureKind): boolean => kind === 'spawn' || kind === 'no-start';

/** What an adapter observed about a process that ended. Structured fields first, text last. */
export interface Observed {
  readonly stoppedByUs?: boolean;
  readonly timedOut?: boolean;
  /** It was started and gave no sign of life in time (F25). */
  readonly neverSpoke?: boolean;
  /** We ended it because of its memory or its processes (F30). */
  readonly overLimit?: boolean;
  /** The class, when the agent's own stream names it. */
  readonly kind?: FailureKind;
  readonly spawnError?: string;
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  /** HTTP-like status the agent reported in a structured field. */
  readonly status?: number;
  readonly resetAtMs?: number;
  /** The end of stderr, or of stdout when stderr is empty. */
  readonly text: string;
  /** The text is an error's own: the agent sent it as such, so it is never prose. */
  readonly isError?: true;
}

type Told = Trouble | undefined;

interface FailurePattern {
  readonly kind: FailureKind;
  /** `told`: what the words mean. */
  readonly when: (seen: Observed, told: Told) => boolean;
}

const asks = new Set(['SIGTERM', 'SIGINT', 'SIGHUP']);
const askedCodes = new Set([129, 130, 143]);
const isKilled = ({ signal, exitCode, text }: Observed): boolean =>
  (signal === 'SIGKILL' || exitCode === 137) && /\bkilled\b|out of memory|oom/i.test(text);
/** What a provider names more exactly than its status does. */
const nearer: ReadonlySet<Told> = new Set<Told>(['billing', 'context-too-long', 'model', 'rate-limit']);

/** What the words name, where nothing better is known. */
const byWords = (
  [
    'context-too-long',
    'billing',
    'rate-limit',
    'auth',
    'model',
    'overloaded',
    'connection',
    'permission',
    'resource-limit',
    'spawn',
  ] as const
).map((kind): FailurePattern => ({ kind, when: (_seen, told) => told === kind }));
const byStatus = (kind: FailureKind, ...statuses: readonly number[]): FailurePattern => ({
  kind,
  when: ({ status }) => status !== undefined && statuses.includes(status),
});

/** Ordered: the first row that holds names the failure. */
export const failurePatterns: readonly FailurePattern[] = [
  { kind: 'stopped', when: seen => seen.stoppedByUs === true },
  { kind: 'resource-limit', when: seen => seen.overLimit === true },
  { kind: 'no-start', when: seen => seen.neverSpoke === true },
  { kind: 'timeout', when: seen => seen.timedOut === true || seen.exitCode === 124 },
  {
    kind: 'spawn',
    when: seen => seen.spawnError !== undefined || seen.exitCode === 126 || seen.exitCode === 127,
  },
  byStatus('auth', 401),
  byStatus('billing', 402),
  byStatus('overloaded', 529),
  ...byWords
    .filter(({ kind }) => nearer.has(kind as Told))
    .map(({ kind, when }) => ({
      kind,
      when: (seen: Observed, told: Told) => seen.status !== undefined && when(seen, told),
    })),
  byStatus('auth', 403),
  byStatus('rate-limit', 429),
  byStatus('model', 404),
  { kind: 'overloaded', when: seen => seen.status !== undefined && seen.status >= 500 },
  { kind: 'resource-limit', when: isKilled },
  // Somebody asked it to end, and it was not us: no error of the agent or of its task.
  { kind: 'stopped', when: seen => asks.has(seen.signal ?? '') || askedCodes.has(seen.exitCode ?? 0) },
  ...byWords,
  { kind: 'process', when: seen => seen.signal !== null && seen.signal !== undefined },
  { kind: 'process', when: seen => typeof seen.exitCode === 'number' && seen.exitCode !== 0 && seen.isError !== true },
];

const nodeVersionLine = /^Node\.js v\d/;
const errorLine = /^(?:Uncaught )?[\w$.]*(?:Error|Exception)\b/;

/** A Node program that crashes names its version last, behind the stack: its error stands above. */
function lastLine(text: string): string {
  const trimmed = text.trimEnd();
  const last = trimmed.slice(trimmed.lastIndexOf('\n') + 1).trim();
  if (!nodeVersionLine.test(last)) return last;
  const lines = trimmed.split('\n').map(line => line.trim());
  return lines.findLast(line => errorLine.test(line)) ?? last;
}

/** What the text tells, and the line that tells it. Our own doing needs no words. */
function told(seen: Observed): { readonly trouble: Told; readonly line: string } {
  const line = lastLine(seen.text);
  if (seen.isError === true) return { trouble: troubleIn(seen.text), line };
  return troubleAtEnd(seen.text) ?? { trouble: undefined, line };
}

/** A quota that will be full again is a limit, whatever else is said about bills. */
function kindOf(seen: Observed, trouble: Told): FailureKind {
  const isOurs = seen.stoppedByUs || seen.overLimit || seen.neverSpoke || seen.timedOut;
  if (!isOurs && seen.kind !== undefined) return seen.kind;
  const kind = failurePatterns.find(row => row.when(seen, trouble))?.kind ?? 'unknown';
  return kind === 'billing' && seen.resetAtMs !== undefined ? 'rate-limit' : kind;
}

export function classifyFailure(seen: Observed): Failure {
  const { trouble, line } = told(seen);
  const kind = kindOf(seen, trouble);
  const how =
    seen.spawnError ??
    (seen.signal
      ? `ended by ${seen.signal}`
      : typeof seen.exitCode === 'number'
        ? `exit code ${seen.exitCode}`
        : 'ended');
  return {
    kind,
    detail: line === '' ? how : `${how}: ${line}`,
    exitCode: typeof seen.exitCode === 'number' ? seen.exitCode : undefined,
    resetAtMs: seen.resetAtMs,
    silent: (kind === 'process' && line === '') || undefined,
    byOthers: (kind === 'stopped' && seen.stoppedByUs !== true) || undefined,
  };
}

// How long to wait before trying again: exponential, capped, with full jitter from a given chance.

/** Seed 001: min(2^n, 60) s; `chance` in [0, 1) spreads it over the whole interval. */
export function backoffMs(failuresInRow: number, chance: number, baseMs: number, msMax: number): number {
  const ceiling = Math.min(baseMs * 2 ** Math.min(Math.max(failuresInRow, 0), 30), msMax);
  return Math.floor(ceiling * Math.min(Math.max(chance, 0), 1));
}
