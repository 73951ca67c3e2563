// Names what Gemini CLI says went wrong: the code in the provider's answer where it is there, else the CLI's own words.
import type { FailureKind } from '../../core/failure.ts';
import type { StreamProblem } from '../agent.ts';
import { type Fields, fieldsOf, textOf } from '../../text/fields.ts';

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
  const isLimit = kind === 'rate-limit' || status === 429;
  const waitMs = isLimit ? waitIn(text) : undefined;
  const resetAtMs = waitMs === undefined ? undefined : nowMs + waitMs;
  return {
    kind,
    status,
    resetAtMs,
    text: textOf(answer['message']) || text || 'ended with an error',
  };
}

/** `Please retry in 41.5s`, `Your quota will reset after 8h44m7s` */
function waitIn(text: string): number | undefined {
  const found = /(?:retry|reset) (?:in|after) (?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+) ?s)?/i.exec(text);
  if (found === null || found.slice(1).every(part => part === undefined)) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = found.slice(1).map(part => Number(part ?? 0));
  return ((hours * 60 + minutes) * 60 + seconds) * 1_000;
}

const attemptsMax = 3; // with its own waits in between that is about a quarter of a minute
const waitMsMax = 60_000; // a longer wait is ours, not a silent agent's

/** `Attempt 3 failed with status 503. Retrying with backoff…`, `Attempt 3 failed. Retrying … fetch failed` */
export function vainAttempt(line: string, nowMs: number): StreamProblem | undefined {
  const found = /^Attempt (\d{1,3}) failed(?: with status (\d{3}))?/.exec(line);
  if (found === null) return undefined;
  const status = found[2] === undefined ? undefined : Number(found[2]);
  const said = geminiProblem({ message: line.slice(0, wordsMax), type: '' }, nowMs);
  const isLong = said.resetAtMs !== undefined && said.resetAtMs > nowMs + waitMsMax;
  if (Number(found[1]) < attemptsMax && !isLong) return undefined;
  const kind = status === undefined ? (said.kind ?? 'connection') : said.kind;
  return {
    ...said,
    kind,
    status: status ?? said.status,
    text: `gave up after attempt ${found[1]}: ${said.text.slice(0, 300)}`,
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
