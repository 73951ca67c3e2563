// Makes a problem of an HTTP status and the words around it: what only these two together can name is named here.
import type { FailureKind } from '../core/failure.ts';
import type { StreamProblem } from './agent.ts';
import { fieldsOf, textOf } from '../text/fields.ts';

interface Naming {
  readonly kind: FailureKind;
  readonly status: number;
  /** A code that OpenAI's interface and its many imitations use. */
  readonly code?: string;
}

/** What the status alone would name wrongly or not at all. Ordered. */
const namings: readonly Naming[] = [
  { status: 429, code: 'insufficient_quota', kind: 'billing' },
  { status: 404, kind: 'model' },
  { status: 400, code: 'context_length_exceeded', kind: 'context-too-long' },
];

export function statusProblem(status: unknown, text: string): StreamProblem {
  const words = wordsOf(text);
  if (!isStatus(status)) return { text: words };
  const named = namings.find(row => row.status === status && (row.code === undefined || text.includes(row.code)));
  return { kind: named?.kind, status, text: words };
}

/** A body that came with the status says its own message. */
function wordsOf(text: string): string {
  const body = /^(\d{3}):? (\{.*\})$/s.exec(text);
  try {
    const { message, error } = fieldsOf(JSON.parse(body?.[2] ?? ''));
    const words = textOf(message) || textOf(fieldsOf(error)['message']);
    return words === '' ? text : `${body?.[1]}: ${words}`;
  } catch {
    return text;
  }
}

/** The status that the libraries of the providers put before a message: `429 Too many`, `401: {…}`. */
export function statusAtStart(text: string): number | undefined {
  const status = Number(/^(\d{3})\b/.exec(text)?.[1]);
  return isStatus(status) ? status : undefined;
}

function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599;
}
