// Proves what each failure is called and means: every class, every exit code (F31), and text only as the last resort.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  backoffMs,
  classifyFailure,
  type FailureKind,
  failurePatterns,
  failureRules,
  type Observed,
} from '../../src/core/failure.ts';
import { failed, only, Story, says, second, spec } from './given.ts';

it.each<[FailureKind, boolean, boolean, boolean]>([
  ['stopped', true, false, false],
  ['timeout', true, true, false],
  ['spawn', true, true, true],
  ['no-start', true, false, true],
  ['resource-limit', true, true, false],
  ['model', false, false, false],
  ['auth', false, false, false],
  ['billing', false, false, false],
  ['rate-limit', true, false, false],
  ['overloaded', true, false, true],
  ['context-too-long', true, true, false],
  ['permission', false, true, false],
  ['connection', true, false, true],
  ['process', true, true, false],
  ['unknown', true, true, false],
])('%s: retryable %s, counts %s, trips the breaker %s, and has a hint', (kind, retryable, counts, trips) => {
  expect(failureRules[kind]).toMatchObject({ retryable, counts, trips });
  expect(failureRules[kind].hint).toMatch(/^[A-Z].*\.$/);
});

describe('exit codes (F31)', () => {
  it.each<[number, FailureKind]>([
    [1, 'process'],
    [2, 'process'],
    [124, 'timeout'],
    [126, 'spawn'],
    [127, 'spawn'],
    [129, 'stopped'],
    [130, 'stopped'],
    [137, 'process'],
    [139, 'process'],
    [143, 'stopped'],
    [255, 'process'],
  ])('given exit code %d, then it is %s, and the code is kept', (exitCode, kind) => {
    expect(classifyFailure({ exitCode, text: '' })).toMatchObject({ kind, detail: `exit code ${exitCode}`, exitCode });
  });

  it('given exit code 0, which an adapter calls no failure, then it is at least not called anything else', () => {
    expect(classifyFailure({ exitCode: 0, text: '' }).kind).toBe('unknown');
  });

  it('given 143 or any other end after our own stop, then it is no error', () => {
    expect(classifyFailure({ exitCode: 143, stoppedByUs: true, text: 'rate limit' }).kind).toBe('stopped');
    expect(classifyFailure({ signal: 'SIGTERM', exitCode: null, stoppedByUs: true, text: '' }).kind).toBe('stopped');
  });

  it('given 124 beside words about a limit, then it is a timeout', () => {
    expect(classifyFailure({ exitCode: 124, text: 'rate limit' }).kind).toBe('timeout');
  });

  it.each([
    ['SIGKILL', 'process'],
    ['SIGSEGV', 'process'],
    ['SIGTERM', 'stopped'],
    ['SIGINT', 'stopped'],
  ])('given %s from elsewhere, then it is %s and the signal is named', (signal, kind) => {
    const detail = `ended by ${signal}`;
    expect(classifyFailure({ signal, exitCode: null, text: '' })).toMatchObject({ kind, detail });
  });

  it('given a kill by the system for want of memory, then it is a limit of resources', () => {
    expect(classifyFailure({ exitCode: 137, text: 'Killed' }).kind).toBe('resource-limit');
  });

  it('given an error without any words, then that is known', () => {
    expect(classifyFailure({ exitCode: 1, text: '' })).toMatchObject({ silent: true });
  });
});

describe('structured fields', () => {
  it.each<[Partial<Observed>, FailureKind]>([
    [{ timedOut: true }, 'timeout'],
    [{ spawnError: 'ENOENT' }, 'spawn'],
    [{ overLimit: true, kind: 'auth' }, 'resource-limit'],
    [{ neverSpoke: true, exitCode: 143 }, 'no-start'],
    [{ kind: 'billing', status: 429 }, 'billing'],
    [{ kind: 'rate-limit', timedOut: true }, 'timeout'],
    [{ status: 401 }, 'auth'],
    [{ status: 403 }, 'auth'],
    [{ status: 402 }, 'billing'],
    [{ status: 429 }, 'rate-limit'],
    [{ status: 529 }, 'overloaded'],
    [{ status: 503 }, 'overloaded'],
    [{ status: 500 }, 'overloaded'],
    [{ status: 502 }, 'overloaded'],
  ])('given %o, then it is %s whatever the text says', (seen, kind) => {
    expect(classifyFailure({ exitCode: 1, text: 'permission denied', ...seen }).kind).toBe(kind);
  });

  it('given a time of reset, then it is kept', () => {
    expect(classifyFailure({ status: 429, resetAtMs: 5, text: '' }).resetAtMs).toBe(5);
  });
});

describe('a Node program that crashes', () => {
  const crash = (error: string): string => `/app/cli.js:7
    throw new ${error.split(':')[0]}('x')
    ^

${error}
    at run (/app/cli.js:7:11)
    at node:internal/main/run_main_module:33:47

Node.js v20.20.2
`;
  it('is known by its error, and another error is another failure', () => {
    const details = ['Error: no config', 'TypeError: x is not a function'].map(
      error => classifyFailure({ exitCode: 1, text: crash(error) }).detail,
    );
    expect(details).toEqual(['exit code 1: Error: no config', 'exit code 1: TypeError: x is not a function']);
  });

  it('that names no error is known by its last line', () => {
    expect(classifyFailure({ exitCode: 1, text: 'Node.js v20.20.2' }).detail).toBe('exit code 1: Node.js v20.20.2');
  });
});

it('missing credentials of a cloud are a login that is missing', () => {
  for (const text of ['API Error: Could not load AWS credentials', 'Could not load the default credentials.'])
    expect(classifyFailure({ exitCode: 1, text }).kind).toBe('auth');
});

describe('the last line', () => {
  it.each<[string, FailureKind]>([
    ['Invalid API key', 'auth'],
    ['Authentication failed', 'auth'],
    ['You are not logged in', 'auth'],
    ['Please log in first', 'auth'],
    ['HTTP 401 Unauthorized', 'auth'],
    ['Your credit balance is too low', 'billing'],
    ['error: insufficient_quota', 'billing'],
    ['402 Payment Required', 'billing'],
    ['Rate limit reached', 'rate-limit'],
    ['{"type":"rate_limit"}', 'rate-limit'],
    ['Too many requests', 'rate-limit'],
    ['5-hour usage limit reached', 'rate-limit'],
    ['error: model_not_found', 'model'],
    ['Overloaded', 'overloaded'],
    ['Service Unavailable', 'overloaded'],
    ['prompt is too long', 'context-too-long'],
    ['maximum context length is 200000', 'context-too-long'],
    ['context_length_exceeded', 'context-too-long'],
    ['Permission denied (publickey)', 'process'],
    ['find: /root: Permission denied', 'process'],
    ['FAIL src/middleware/rate limit.test.ts', 'process'],
    ['expected 200, got 429 Too Many Requests', 'process'],
    ['error TS2394: this function is overloaded', 'process'],
    ['api.spec.js: 401 Unauthorized', 'process'],
    ['AssertionError: not logged in', 'process'],
    ['The model is overloaded. See https://status.example.com', 'overloaded'],
    ['connect ECONNREFUSED', 'connection'],
    ['read ECONNRESET', 'connection'],
    ['connect ETIMEDOUT', 'connection'],
    ['getaddrinfo ENOTFOUND', 'connection'],
    ['Connection refused', 'connection'],
    ['TypeError: x is not a function', 'process'],
  ])('given "%s" and exit code 1, then it is %s', (line, kind) => {
    const failure = classifyFailure({ exitCode: 1, text: `working\n${line}\n\n` });
    expect(failure).toEqual({ kind, detail: `exit code 1: ${line}`, exitCode: 1 });
  });

  it('given such words only in an earlier line, then they do not count: an agent may write about anything', () => {
    expect(classifyFailure({ exitCode: 1, text: 'I added the rate limit\nSegmentation fault' }).kind).toBe('process');
  });

  it('given nothing at all, then it is unknown and still has a sentence', () => {
    expect(classifyFailure({ text: '' })).toEqual({ kind: 'unknown', detail: 'ended' });
  });

  it('every class has a row that can name it, but unknown, and what only an agent or an action itself can name', () => {
    const named = new Set(failurePatterns.map(row => row.kind));
    expect([...named, 'refused', 'invalid', 'lost-reply', 'unknown'].sort()).toEqual(Object.keys(failureRules).sort());
  });
});

it.each([
  [0, 1],
  [1, 2],
  [2, 4],
  [3, 8],
  [4, 16],
  [5, 32],
  [6, 60],
  [7, 60],
  [1_000, 60],
])('after %d failures in a row, then the ceiling is %d seconds', (failures, seconds) => {
  expect(backoffMs(failures, 1, 1_000, 60_000)).toBe(seconds * 1_000);
  expect(backoffMs(failures, 0, 1_000, 60_000)).toBe(0);
  expect(backoffMs(failures, 0.5, 1_000, 60_000)).toBe(seconds * 500);
});

it('given any number and any chance, then the wait is a whole number within [0, 60 s]', () => {
  fc.assert(
    fc.property(fc.integer({ min: -5, max: 1e9 }), fc.double({ min: -2, max: 2, noNaN: true }), (failures, chance) => {
      const wait = backoffMs(failures, chance, 1_000, 60_000);
      expect(Number.isInteger(wait) && wait >= 0 && wait <= 60_000).toBe(true);
    }),
  );
});

it('given failures in a row, then each waits longer, and after a success the first wait is short again', () => {
  const story = new Story({ sameErrorsToEscalate: null, limits: { consecutiveErrorsMax: 9 } }, [spec('A')]);
  const waits: number[] = [];
  const fail = (detail: string): void => {
    const ended = only(story.iteration('A', failed('process', detail)), 'iteration.ended');
    expect(ended.waitFor).toBe('backoff');
    waits.push(ended.waitUntil! - story.now);
    story.after(60 * second);
  };
  fail('one');
  fail('two');
  expect(only(story.iteration('A', says('looked around')), 'iteration.ended').waitUntil).toBeUndefined();
  fail('three');
  expect(waits).toEqual([1_000, 2_000, 1_000]);
});

it('given an overloaded provider that says when to come back, then nobody asks before; a time in the past is no reason to hurry', () => {
  const story = new Story({}, [spec('A')]);
  const until = (resetAtMs: number): number => {
    const failure = { kind: 'overloaded', detail: 'HTTP 503', resetAtMs } as const;
    return only(story.iteration('A', { ...says(''), failure }), 'iteration.ended').waitUntil!;
  };
  const later = story.now + 120 * second;
  expect(until(later)).toBe(later);
  story.after(180 * second);
  const now = story.now;
  expect(until(later)).toBeGreaterThanOrEqual(now);
});

describe('the form of a line of output', () => {
  it.each([
    ['Ran into this error: Authentication failed. Status: 401 Unauthorized.', 'auth'],
    ['litellm.BudgetExceededError: Budget has been exceeded! Current cost: 10.02', 'billing'],
    ['429 Allocated quota exceeded, please increase your quota limit.', 'rate-limit'],
    ['rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing"', 'connection'],
    ['curl: (52) Empty reply from server', 'connection'],
    ['HTTP/2 503\nserver: envoy\n\nupstream', 'overloaded'],
    ['open /home/u/.agent/state.json: permission denied', 'permission'],
    ['Error: ENOSPC: no space left on device, write', 'resource-limit'],
    ['test_unauthorized FAILED\n== 1 failed in 1.1s ==', 'process'],
    ['The password reset mail says that the token has expired.', 'process'],
    ["ModuleNotFoundError: No module named 'anthropic'", 'process'],
    ['expected status 503 Service Unavailable but received 500', 'process'],
    ['Error: 429 Too Many Requests\none\ntwo\nthree\nAssertionError: 1 is not 2\nfour\nfive\nsix\nseven', 'process'],
  ])('given %j, then it is %s', (text, kind) => {
    expect(classifyFailure({ exitCode: 1, text }).kind).toBe(kind);
  });
});
