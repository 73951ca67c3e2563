// Reads from a provider's headers when it will serve again; each provider has its own way to say so.
import { countOf, type Fields, textOf } from '../text/fields.ts';

/** Names of headers are in small letters. `sentAtMs` is when they came: waits count from there. */
export function resetOf(headers: Fields, sentAtMs: unknown): number | undefined {
  const windowEndS = Number(textOf(headers['anthropic-ratelimit-unified-reset']));
  if (windowEndS > 0) return windowEndS * 1000;
  const waitMs = Number(textOf(headers['retry-after-ms'])) || Number(textOf(headers['retry-after'])) * 1000;
  if (waitMs > 0) return countOf(sentAtMs) > 0 ? countOf(sentAtMs) + waitMs : undefined;
  const atMs = Date.parse(textOf(headers['retry-after']));
  return atMs > 0 ? atMs : undefined;
}
