// The funnel: no input reaches the core, and so the ledger, a view or a prompt, with a secret that we can recognise.
import type { Event } from '../core/event.ts';
import type { Input } from '../core/input.ts';
import { type Redact, redactDeep } from '../secrets/redactor.ts';

/** Names, places and hashes must stay what they are: what was rewritten could not be found again. */
export function redacted(input: Input, redact: Redact): Input {
  const clean = redactDeep(input, redact);
  if (input.type === 'checkpointed') {
    const { skipped, files } = input;
    return {
      ...input,
      skipped: redactDeep(skipped, redact),
      files: redactDeep(files, redact),
    };
  }
  if (input.type !== 'start' || clean.type !== 'start') return clean;
  const { loop, name, document, directory } = input;
  return { ...clean, loop, name, document, directory };
}

/** A report is JSON: what was escaped in the message is decoded by the core (B66). */
export function redactedReport(event: Event, redact: Redact): Event {
  if (event.type === 'review.answered') return { ...event, answer: redactDeep(event.answer, redact) };
  if (event.type !== 'iteration.ended' || event.report === undefined) return event;
  return { ...event, report: redactDeep(event.report, redact) };
}
