// Reading: the value of a setting, or one sentence that a person can act on.
import { looksSecret } from '../secrets/redactor.ts';
import { shown as shownText } from '../text/text.ts';

interface Refused {
  readonly ok: false;
  readonly problem: string;
}

export type Reading<Value> = { readonly ok: true; readonly value: Value } | Refused;

/** What a person wrote, and what a problem calls the place. */
export interface Given {
  readonly label: string;
  readonly text: string;
}

export const good = <Value>(value: Value): Reading<Value> => ({ ok: true, value });

export const refuse = (problem: string): Refused => ({ ok: false, problem });

/** `what` goes on where the text was shown: "is not a number; …". */
export const wrong = ({ label, text }: Given, what: string): Refused => refuse(`${label}: ${shown(text)} ${what}`);

/** All values in order, lists in one; or the first problem. */
export function goodAll<Value>(readings: readonly Reading<Value | readonly Value[]>[]): Reading<readonly Value[]> {
  const values: Value[] = [];
  for (const reading of readings) {
    if (!reading.ok) return reading;
    values.push(...([reading.value].flat() as Value[]));
  }
  return good(values);
}

/** A value as it may stand in a message: short, without control characters, and never a secret. */
export const shown = (text: string): string =>
  looksSecret(text) ? '(hidden: it looks like a secret)' : shownText(text);
