// What reading a setting gives: its value, or one sentence that a person can act on.
import { looksSecret } from '../secrets/redactor.ts';

/** The same shape as the ports' Problem; config may not import ports. */
export interface Problem {
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  readonly fix?: string;
}

export type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

export function good<Value>(value: Value): Reading<Value> {
  return { ok: true, value };
}

export function refuse(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}

const shownCharactersMax = 40;

/** A value as it may stand in a message: short, without control characters, and never a secret. */
export function shown(text: string): string {
  if (looksSecret(text)) return '(hidden: it looks like a secret)';
  const start = [...text.slice(0, 4 * shownCharactersMax)];
  const kept = start
    .slice(0, shownCharactersMax)
    .join('')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u00b7');
  const isWhole = start.length <= shownCharactersMax && text.length <= 4 * shownCharactersMax;
  return `"${kept}${isWhole ? '' : '…'}"`;
}
