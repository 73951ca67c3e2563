// Names what Claude Code says went wrong: its codes first, the HTTP status next, words never.
import type { FailureKind } from '../../core/failure.ts';
import type { Heard, StreamProblem } from '../agent.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';

/** What was heard of a failure before the result. */
export interface Trouble {
  /** The message that claude wrote in the model's place. */
  readonly failed?: Fields;
  /** Its last attempt to try again by itself. */
  readonly retried?: Fields;
  /** What the provider said about a limit that is used up. */
  readonly rejected?: Fields;
}

/** By `terminal_reason`, `api_error`, the message's `error` and `api_error_type`, in that order. */
const kinds: ReadonlyMap<unknown, FailureKind> = new Map([
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

export function claudeProblem(result: Fields | undefined, trouble: Trouble): StreamProblem | undefined {
  if (result === undefined) {
    const last = trouble.failed ?? trouble.retried;
    return last === undefined ? undefined : problemOf(last, {}, trouble);
  }
  const isError = result['is_error'] === true || textOf(result['subtype']).startsWith('error');
  return isError ? problemOf(result, trouble.failed ?? {}, trouble) : undefined;
}

function problemOf(main: Fields, failed: Fields, { rejected, retried }: Trouble): StreamProblem {
  const codes = [
    main['terminal_reason'],
    main['api_error'],
    failed['api_error'],
    failed['error'],
    main['error'],
    main['api_error_type'],
  ];
  const status = [main, failed, { api_error_status: retried?.['error_status'] }]
    .map(each => each['api_error_status'])
    .find(value => typeof value === 'number');
  const named = codes.map(code => kinds.get(code)).find(kind => kind !== undefined);
  const kind = named ?? (status === undefined ? unnamed(codes, main) : undefined);
  const resetAtMs = kind === 'rate-limit' ? resetOf(rejected) : undefined;
  return {
    kind,
    status,
    resetAtMs,
    text: wordsOf(main, failed),
  };
}

/** Neither a code that we know nor a status: no answer came, or it was claude itself that gave up. */
function unnamed(codes: readonly unknown[], main: Fields): FailureKind | undefined {
  if (codes.includes('server_error')) return 'connection';
  return textOf(main['subtype']).startsWith('error') ? 'process' : undefined;
}

function wordsOf(main: Fields, failed: Fields): string {
  const content = listOf(fieldsOf(failed['message'] ?? main['message'])['content']);
  const written = content.map(block => textOf(fieldsOf(block)['text'])).join(' ');
  const errors = listOf(main['errors']).filter(each => typeof each === 'string');
  const code = textOf(main['error']) || textOf(main['subtype']) || 'no reason given';
  return textOf(main['result']) || errors.join('; ') || written || `ended with an error: ${code}`;
}

/** Seconds since 1970. */
function resetOf(info: Fields | undefined): number | undefined {
  const seconds = info?.['resetsAt'];
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * 1_000 : undefined;
}

/** Only a limit that is reached: the reset of a window that still allows work says nothing about a later refusal. */
export function claudeLimit(info: Fields): readonly Heard[] {
  const resetAtMs = resetOf(info);
  const { rateLimitType, status } = info;
  if (resetAtMs === undefined || status !== 'rejected') return [];
  return [{ type: 'limit', resetAtMs, detail: `${textOf(rateLimitType) || 'limit'}: used up` }];
}
