import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { failureOf } from '../../../src/actions/mcp/call.ts';

const http = (status: number) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'Error POSTing', { status, statusText: 'no' });
const fetchFailed = (code: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });

/** What it is before the call has left, after it, and after it when it may be done twice. */
const rows: readonly (readonly [what: string, error: unknown, before: string, out: string, repeatable: string])[] = [
  ['HTTP 401', http(401), 'auth', 'auth', 'auth'],
  ['HTTP 422', http(422), 'refused', 'refused', 'refused'],
  ['HTTP 429', http(429), 'rate-limit', 'rate-limit', 'rate-limit'],
  ['HTTP 500', http(500), 'overloaded', 'lost-reply', 'overloaded'],
  ['HTTP 503', http(503), 'overloaded', 'lost-reply', 'overloaded'],
  ['a refused connection', fetchFailed('ECONNREFUSED'), 'connection', 'connection', 'connection'],
  ['a reset connection', fetchFailed('ECONNRESET'), 'connection', 'lost-reply', 'connection'],
  ['an unknown method', new ProtocolError(-32_601, 'Method not found'), 'invalid', 'invalid', 'invalid'],
  ['wrong arguments', new ProtocolError(-32_602, 'Invalid arguments for tool x'), 'invalid', 'invalid', 'invalid'],
  ['a wrong result', new ProtocolError(-32_602, 'Invalid tools/call result'), 'refused', 'lost-reply', 'refused'],
  ['an internal error', new ProtocolError(-32_603, 'oops'), 'refused', 'lost-reply', 'refused'],
  [
    'a result of a wrong form',
    new SdkError(SdkErrorCode.InvalidResult, 'Invalid result'),
    'connection',
    'lost-reply',
    'connection',
  ],
  [
    'a request for input',
    new SdkError(SdkErrorCode.UnsupportedResultType, 'input_required'),
    'refused',
    'refused',
    'refused',
  ],
  ['anything else', 'thrown text', 'connection', 'lost-reply', 'connection'],
];
it.each(rows)('%s', (_, error, before, out, repeatable) => {
  const calls = [
    { isSent: false, isRepeatable: false },
    { isSent: true, isRepeatable: false },
    { isSent: true, isRepeatable: true },
  ];
  const failures = calls.map(call => failureOf(error, undefined, call));
  expect(failures.map(each => each.kind)).toEqual([before, out, repeatable]);
  for (const { detail } of failures) expect(detail).not.toBe('');
});

it('a break says why, whatever error the SDK made of it', () => {
  const call = { isSent: true, isRepeatable: true };
  const error = new SdkError(SdkErrorCode.RequestTimeout, 'nonsense');
  expect(failureOf(error, { why: 'stop' }, call).kind).toBe('stopped');
  expect(failureOf(error, { why: 'time', timeMs: 1_500 }, call)).toEqual({
    kind: 'timeout',
    detail: 'no answer in 1.5 s',
  });
  const lost = { why: 'lost', kind: 'process', detail: 'gone', exitCode: 3 } as const;
  expect(failureOf(error, lost, call)).toEqual({ kind: 'process', detail: 'gone', exitCode: 3 });
  expect(failureOf(error, lost, { ...call, isRepeatable: false })).toEqual({
    kind: 'lost-reply',
    detail: 'the call was sent, but no good answer came (gone): it may have happened',
  });
});
