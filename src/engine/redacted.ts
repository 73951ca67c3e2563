// The funnel: no input reaches the core, and so the ledger, a view or a prompt, with a secret that we can recognise.
import type { Input } from '../core/input.ts';
import { type Redact, redactDeep } from '../core/redact.ts';

/** Names and places must stay what they are: a loop whose folder was rewritten could neither work nor be found again. */
export function redacted(input: Input, redact: Redact): Input {
  const clean = redactDeep(input, redact);
  if (input.type !== 'start' || clean.type !== 'start') return clean;
  const { loop, name, document, directory } = input;
  return { ...clean, loop, name, document, directory };
}
