// Names what Codex says went wrong. It has only words for it, but they are its own: no model and no file wrote them.
import type { FailureKind } from '../../core/failure.ts';
import type { StreamProblem } from '../agent.ts';
import { fieldsOf, textOf } from '../../text/fields.ts';
import { resetIn } from './reset.ts';

const wordsMax = 4_000;

/** Ordered: the first row whose words occur names it. */
const kinds: readonly (readonly [FailureKind, readonly string[]])[] = [
  ['context-too-long', ['context_length_exceeded', 'context window', 'ran out of room']],
  ['billing', ['insufficient_quota', 'quota exceeded', 'billing_hard_limit', 'usage_not_included']],
  ['rate-limit', ['hit your usage limit', 'usage_limit_reached', 'rate_limit_exceeded', 'rate limit']],
  [
    'model',
    ['model_not_found', 'model is not supported', 'model does not exist', 'does not exist or you do not have access'],
  ],
  ['auth', ['invalid_api_key', 'incorrect api key', 'not logged in', 'token_expired', 'sign in again']],
  ['overloaded', ['high demand', 'at capacity', 'server_is_overloaded', 'overloaded']],
  ['connection', ['connection failed', 'error sending request', 'stream disconnected', 'waiting for network']],
];

export function codexProblem(words: string, nowMs: number): StreamProblem {
  const text = words.slice(0, wordsMax);
  const lower = text.toLowerCase();
  const kind = kinds.find(([, needles]) => needles.some(needle => lower.includes(needle)))?.[0];
  const status = /\bstatus:? (\d{3})\b/.exec(text)?.[1];
  const isLimit = kind === 'rate-limit' || status === '429';
  const resetAtMs = isLimit ? resetIn(text, nowMs) : undefined;
  return {
    kind,
    status: status === undefined ? undefined : Number(status),
    resetAtMs,
    text: readable(text) || 'the turn failed',
  };
}

/** Some errors are the raw body of the answer. */
function readable(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    return textOf(fieldsOf(fieldsOf(JSON.parse(text))['error'])['message']) || text;
  } catch {
    return text;
  }
}
