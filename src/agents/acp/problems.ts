// Problems of an ACP session: named by the class that the agent states, by a status, and by its words last.

import type { FailureKind } from '../../core/failure.ts';
import { countOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import type { StreamProblem } from '../agent.ts';
import { isStatus } from '../failures.ts';

/** `data.errorKind` of claude-agent-acp and `data.codexErrorInfo` of codex-acp. */
const kinds: Readonly<Record<string, FailureKind>> = {
  rate_limit: 'rate-limit',
  usage_limit_reached: 'rate-limit',
  rateLimitExceeded: 'rate-limit',
  usageLimitExceeded: 'rate-limit',
  overloaded: 'overloaded',
  serverOverloaded: 'overloaded',
  authentication_failed: 'auth',
  oauth_org_not_allowed: 'auth',
  verification_required: 'auth',
  cloud_credential_error: 'auth',
  unauthorized: 'auth',
  billing_error: 'billing',
  account_on_hold: 'billing',
  model_not_found: 'model',
  max_output_tokens: 'context-too-long',
  prompt_too_long: 'context-too-long',
  contextWindowExceeded: 'context-too-long',
  server_error: 'connection',
  transport_lost: 'connection',
  internalServerError: 'connection',
};

/** `end_turn` is the only good one. A turn out of tokens needs a fresh context, and that is what this kind brings. */
const stops: Readonly<Record<string, StreamProblem>> = {
  max_tokens: { kind: 'context-too-long', text: 'it ran out of tokens in its turn' },
  max_turn_requests: { kind: 'unknown', text: 'it reached its own limit of requests in one turn' },
  refusal: { kind: 'unknown', text: 'the model refused to go on' },
  cancelled: { kind: 'unknown', text: 'it cancelled its turn by itself' },
};

export function problemOfStop(stopReason: unknown): StreamProblem | undefined {
  if (stopReason === 'end_turn') return undefined;
  const reason = textOf(stopReason) || 'no reason';
  return Object.hasOwn(stops, reason) ? stops[reason] : { text: `its turn stopped for ${reason}` };
}

const authRequired = -32_000;
const requestCancelled = -32_800;
const textCharsMax = 2_000;

/** Some answer a cancelled prompt with an error instead of a stop reason, and not all with the one that is meant for it. */
export function isCancelled(error: unknown, weCancelled: boolean): boolean {
  const { code } = fieldsOf(error);
  return code === requestCancelled || (weCancelled && typeof code === 'number');
}

/** `error` is what a request was rejected with. Without a code it did not come from the agent: undefined. */
export function problemOfError(error: unknown): StreamProblem | undefined {
  const { code, message, data } = fieldsOf(error);
  if (typeof code !== 'number') return undefined;
  const more = fieldsOf(data);
  const kind = code === authRequired ? 'auth' : kindIn(more);
  const status = [code, more['status'], more['statusCode'], more['httpStatusCode'], nestedStatus(more)].find(isStatus);
  return { text: wordsOf(message, data, more), kind, status, resetAtMs: resetIn(more) };
}

function kindIn({ errorKind, codexErrorInfo }: Fields): FailureKind | undefined {
  const name = textOf(errorKind) || textOf(codexErrorInfo);
  return Object.hasOwn(kinds, name) ? kinds[name] : undefined;
}

function nestedStatus({ codexErrorInfo }: Fields): unknown {
  return fieldsOf(Object.values(fieldsOf(codexErrorInfo))[0])['httpStatusCode'];
}

/** Seconds since 1970 are told from milliseconds by their size. */
function resetIn({ resetsAt, resetAt }: Fields): number | undefined {
  const at = countOf(resetsAt) || countOf(resetAt);
  if (at === 0) return undefined;
  return at < 100_000_000_000 ? at * 1_000 : at;
}

/** One line: only the last one of a text is read for its meaning. */
function wordsOf(message: unknown, data: unknown, { message: inner, details }: Fields): string {
  const first = textOf(message) || 'an error without words';
  const second = textOf(data) || textOf(inner) || textOf(details);
  const all = first.includes(second) ? first : `${first}: ${second}`;
  return all.replace(/\s+/g, ' ').slice(0, textCharsMax);
}
