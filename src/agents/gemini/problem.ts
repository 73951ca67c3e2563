// Names what Gemini CLI says went wrong: the code in the provider's answer where it is there, else the CLI's own words.
import type { FailureKind } from '../../core/failure.ts';
import type { StreamProblem } from '../../ports/agent.ts';
import { type Fields, fieldsOf, textOf } from '../../process/fields.ts';

const wordsMax = 4_000;

/** Ordered: the first row whose words occur names it. Too long and a bad key are both a plain 400. */
const kinds: readonly (readonly [FailureKind, readonly string[]])[] = [
  ['context-too-long', ['exceeds the maximum number of tokens', 'context window', 'token count']],
  ['auth', ['api key not valid', 'unauthenticated', 'api_key_invalid', 'fatalauthentication']],
  ['billing', ['billing_disabled', 'billing account', 'billing to be enabled']],
  ['rate-limit', ['quota', 'resource_exhausted', 'rate limit', 'too many requests']],
  ['overloaded', ['overloaded', 'unavailable']],
  ['connection', ['fetch failed', 'econnrefused', 'econnreset', 'enotfound', 'etimedout', 'socket hang up']],
];

export function geminiProblem(error: Fields, nowMs: number): StreamProblem {
  const text = textOf(error['message']).slice(0, wordsMax);
  const answer = answerIn(text);
  const code = answer['code'] ?? error['code'];
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : undefined;
  const lower = `${textOf(error['type'])} ${text}`.toLowerCase();
  const worded = kinds.find(([, needles]) => needles.some(needle => lower.includes(needle)))?.[0];
  const kind = status === 404 ? 'model' : worded;
  const waitS = /retry (?:in|after) ([\d.]+) ?s/i.exec(text)?.[1];
  const resetAtMs = kind === 'rate-limit' && waitS !== undefined ? nowMs + Number(waitS) * 1_000 : undefined;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(status === undefined ? {} : { status }),
    ...(resetAtMs === undefined ? {} : { resetAtMs }),
    text: textOf(answer['message']) || text || 'ended with an error',
  };
}

/** `[API Error: {"error":{"code":401,…}}]` */
function answerIn(text: string): Fields {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from < 0 || to < from) return {};
  try {
    return fieldsOf(fieldsOf(JSON.parse(text.slice(from, to + 1)))['error']);
  } catch {
    return {};
  }
}
