// Proves why a run was no success: what the stream says, what we did, how it ended, in that order; and what a status means.
import { describe, expect, it } from 'vitest';
import type { StreamProblem } from '../../src/agents/agent.ts';
import {
  failureOf,
  plausibleReset,
  type RunFacts,
  resetIn,
  statusAtStart,
  statusProblem,
} from '../../src/agents/failures.ts';
import type { ProcessExit } from '../../src/processes/spawn.ts';

const now = Date.parse('2026-11-15T12:00:00Z');
const exited = (more: Partial<ProcessExit> = {}): ProcessExit => ({
  type: 'exited',
  code: 0,
  signal: null,
  timedOut: false,
  stoppedByUs: false,
  reaped: 0,
  ...more,
});
const factsOf = (exit: Partial<ProcessExit>, more: Partial<RunFacts> = {}): RunFacts => ({
  exit: exited(exit),
  result: { message: () => '', finished: false },
  isPlain: false,
  stopped: false,
  errors: '',
  silenceMs: 600_000,
  firstByteMs: 120_000,
  timeMsMax: 7_200_000,
  nowMs: now,
  ...more,
});
const finished = (problem?: StreamProblem): Partial<RunFacts> => ({
  result: { message: () => '', finished: true, problem },
});

describe('a run', () => {
  it.each([
    ['exit code 1', { code: 1 }],
    ['a signal', { code: 137, signal: 'SIGKILL' }],
    ['our timer after its last word', { code: 143, signal: 'SIGTERM', cause: 'result' }],
    ['the end of its time', { timedOut: true, cause: 'time' }],
    ['the memory limit', { code: 137, signal: 'SIGKILL', cause: 'memory' }],
  ] as const)('with a good last word has succeeded in spite of %s', (_what, exit) => {
    expect(failureOf(factsOf(exit, finished()))).toBeUndefined();
  });

  it.each([
    ['first-byte', { cause: 'first-byte' }, 'no-start', 'no sign of life within 2 min of its start'],
    ['silence', { cause: 'silence', timedOut: true }, 'timeout', 'stuck: no output for 10 min'],
    ['time', { cause: 'time', timedOut: true }, 'timeout', 'not finished within 120 min'],
    ['memory', { cause: 'memory' }, 'resource-limit', 'ended because it used more memory than it may'],
    ['processes', { cause: 'processes' }, 'resource-limit', 'ended because it used more processes than it may'],
    ['nothing, exit 0', {}, 'process', 'ended without a result; exit code 0'],
    ['nothing, exit 127', { code: 127 }, 'spawn', 'ended without a result; exit code 127'],
    ['a spawn error', { code: null, spawnError: 'no such directory: x' }, 'spawn', 'no such directory: x'],
  ] as const)('ended by %s says so', (_what, exit, kind, detail) => {
    expect(failureOf(factsOf(exit))).toMatchObject({ kind, detail });
  });

  it('without a result is classified by the last line of its errors', () => {
    const failure = failureOf(factsOf({ code: 1 }, { errors: 'warming up\nRate limit reached\n' }));
    expect(failure).toMatchObject({ kind: 'rate-limit', exitCode: 1 });
  });

  it('with a problem is not classified by its exit code, even one that looks like a signal', () => {
    const exit = { code: 173, signal: 'SIGSTKFLT' } as unknown as Partial<ProcessExit>;
    expect(failureOf(factsOf(exit, finished({ status: 401, text: 'no key' })))).toMatchObject({ kind: 'auth' });
    expect(failureOf(factsOf({ code: 127 }, finished({ text: 'so so' })))).toMatchObject({ kind: 'unknown' });
  });

  it('with a problem that has a name and a status goes by its name', () => {
    const problem: StreamProblem = { kind: 'billing', status: 429, text: 'a\n  long   story', resetAtMs: now + 5 };
    expect(failureOf(factsOf({ code: 1 }, finished(problem)))).toEqual({
      kind: 'billing',
      detail: 'a long story',
      exitCode: 1,
      resetAtMs: now + 5,
    });
  });

  it('that we stopped is stopped, whatever it said after that', () => {
    const problem: StreamProblem = { kind: 'rate-limit', text: 'limit' };
    expect(failureOf(factsOf({}, { ...finished(problem), stopped: true }))?.kind).toBe('stopped');
    expect(failureOf(factsOf({}, { ...finished(), stopped: true }))?.kind).toBe('stopped');
  });

  it('that we stopped on its way out has succeeded, unless it took its last word back', () => {
    const stopped = { stopped: true, hadSucceeded: true };
    expect(failureOf(factsOf({ code: 143, stoppedByUs: true }, { ...finished(), ...stopped }))).toBeUndefined();
    expect(failureOf(factsOf({ stoppedByUs: true }, stopped))?.kind).toBe('stopped');
  });
});

it.each([
  ['in an hour', now + 3_600_000, now + 3_600_000],
  ['with a fraction', now + 1_000.4, now + 1_000],
  ['in 1970', 0, undefined],
  ['just now', now, undefined],
  ['in the year 275760', 8.64e15, undefined],
  ['nonsense', Number.NaN, undefined],
  ['missing', undefined, undefined],
])('a reset that is %s is %s (B69)', (_when, at, kept) => {
  expect(plausibleReset(at, now)).toBe(kept);
});

describe('a run of an agent whose output is plain text', () => {
  const plain = (message: string, exit: Partial<ProcessExit> = {}, more: Partial<RunFacts> = {}) =>
    failureOf(factsOf(exit, { isPlain: true, result: { message: () => message, finished: false }, ...more }));

  it('is good when it said something and exited with 0', () => {
    expect(plain('All done.')).toBeUndefined();
  });

  it.each([
    ['said nothing', plain(' '), 'process'],
    ['exited with 1', plain('All done.', { code: 1 }), 'process'],
    ['was ended by us for its silence', plain('All done.', { cause: 'silence', timedOut: true }), 'timeout'],
  ])('is not when it %s', (_how, failure, kind) => {
    expect(failure?.kind).toBe(kind);
  });
});

describe('a run without a login', () => {
  const loginMissing = ['Error: No authentication'];

  it.each([
    ['among its errors', { errors: 'Error: No authentication information found.\n\nYou can use:\n  - a token\n' }],
    ['instead of its stream', { errors: 'a warning\n', strayLines: '  Error: No authentication information found.\n' }],
  ])('is told by the words of the agent, %s (F56)', (_where, words) => {
    expect(failureOf(factsOf({ code: 1 }, { ...words, loginMissing }))).toEqual({
      kind: 'auth',
      detail: 'exit code 1: Error: No authentication information found.',
      exitCode: 1,
    });
  });

  it('is not told by a line that only holds such words', () => {
    const errors = 'it printed "Error: No authentication" and went on\n';
    expect(failureOf(factsOf({ code: 1 }, { errors, loginMissing }))?.kind).toBe('process');
  });

  it('is not told by anything when it came to a good end', () => {
    const errors = 'Error: No authentication for that server\n';
    expect(failureOf(factsOf({}, { ...finished(), errors, loginMissing }))).toBeUndefined();
  });
});

describe('a problem with a status', () => {
  it.each([
    [404, 'The model does not exist', 'model'],
    [429, '429: {"message":"No more.","code":"insufficient_quota"}', 'billing'],
    [429, '429: {"message":"Slow down."}', undefined],
    [400, '400 {"error":{"message":"Too much.","code":"context_length_exceeded"}}', 'context-too-long'],
    [400, 'the file says context', undefined],
    [401, 'No.', undefined],
  ])('%i and the words %s are of the kind %s', (status, text, kind) => {
    expect(statusProblem(status, text)).toMatchObject({ status });
    expect(statusProblem(status, text).kind).toBe(kind);
  });

  it.each([
    ['429: {"message":"Slow down.","code":null}', '429: Slow down.'],
    ['400 {"type":"error","error":{"message":"Too much."}}', '400: Too much.'],
    ['429: {"message":', '429: {"message":'],
    ['500: {"nothing":"here"}', '500: {"nothing":"here"}'],
    ['Connection error.', 'Connection error.'],
  ])('%s is told as %s', (text, words) => {
    expect(statusProblem(undefined, text)).toEqual({ text: words, full: words === text ? undefined : text });
  });

  it.each([200, 999, 429.5, '429', Number.NaN, null])('%s is no status', status => {
    expect(statusProblem(status, 'words')).toEqual({ text: 'words' });
  });

  it.each([
    ['429 Too many', 429],
    ['401: {}', 401],
    ['4290 things', undefined],
    ['200 OK', undefined],
    ['error 429', undefined],
  ])('%s begins with the status %s', (text, status) => {
    expect(statusAtStart(text)).toBe(status);
  });
});

describe('when a provider serves again', () => {
  const at = (text: string) => new Date(resetIn(text, Date.parse('2026-11-18T12:00:00Z')) ?? 0).toISOString();
  it.each([
    ['retry-after: 30', '2026-11-18T12:00:30.000Z'],
    ['retry-after-ms: 2500', '2026-11-18T12:00:02.500Z'],
    ['"retryDelay": "41s"', '2026-11-18T12:00:41.000Z'],
    ['x-ratelimit-reset-tokens: 6m0s', '2026-11-18T12:06:00.000Z'],
    ['Please try again in 7m12.5s', '2026-11-18T12:07:12.500Z'],
    ['resets in 02:15:00', '2026-11-18T14:15:00.000Z'],
    ['try again in an hour', '2026-11-18T13:00:00.000Z'],
    ['usage limit reached|1795010400', '2026-11-18T14:00:00.000Z'],
    ['reset at 2026-11-18 15:00:00 UTC', '2026-11-18T15:00:00.000Z'],
    ['resets 3pm (America/Los_Angeles)', '2026-11-18T23:00:00.000Z'],
    ['resets 5:30 PM PST', '2026-11-19T01:30:00.000Z'],
    ['resets at midnight UTC', '2026-11-19T00:00:00.000Z'],
    ['resets Thursday at 9am (UTC)', '2026-11-19T09:00:00.000Z'],
    ['resets Nov 20 at 9am (UTC)', '2026-11-20T09:00:00.000Z'],
    ['HTTP/2 429\nretry-after: 600\nserver: envoy', '2026-11-18T12:10:00.000Z'],
    ['date: Wed, 18 Nov 2026 12:00:00 GMT\nretry-after: Wed, 18 Nov 2026 12:04:30 GMT', '2026-11-18T12:04:30.000Z'],
    ['x-ratelimit-reset-requests-day: 33011', '2026-11-18T21:10:11.000Z'],
    ['"X-RateLimit-Reset":"1795010400000"', '2026-11-18T14:00:00.000Z'],
    ['You will regain access on 2026-12-01 at 00:00 UTC', '2026-12-01T00:00:00.000Z'],
    ['Your allowance resets on 2026-12-01', '2026-12-01T00:00:00.000Z'],
    ['Usage will reset when your cycle ends on 12/1/2026', '2026-12-01T00:00:00.000Z'],
    ['Nächster Versuch in 45 Minuten', '2026-11-18T12:45:00.000Z'],
    ['API version 2024-10-21 limits you. Please retry after 26 seconds', '2026-11-18T12:00:26.000Z'],
    ['try again later', '1970-01-01T00:00:00.000Z'],
    ['There is no room on line 30:15', '1970-01-01T00:00:00.000Z'],
  ])('%s', (text, when) => expect(at(text)).toBe(when));
});
