// Amounts, durations and times as words, the same in every message, reason and view.

/** $1.50, $0.0042: cents, or as many digits as a small amount needs. */
export function formatUsd(micros: number): string {
  const cents = micros / 10_000;
  if (micros === 0 || Number.isInteger(cents) || micros >= 1_000_000) return `$${(micros / 1_000_000).toFixed(2)}`;
  return `$${(micros / 1_000_000).toFixed(4)}`;
}

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
];

/** 2h 5m, 41s, 0.3s: the two largest units that matter. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${(Math.max(0, ms) / 1_000).toFixed(1)}s`;
  const parts: string[] = [];
  let rest = Math.round(ms / 1_000) * 1_000;
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count}${unit}`);
    rest -= count * size;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

/** `maxCost` as it is typed: --max-cost. */
export const flagOf = (key: string): string => `--${key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** `a, b or c` */
export const anyOf = (words: readonly string[]): string => words.join(', ').replace(/, (?=[^,]+$)/, ' or ');

/** `a, b, c, and 4 more` */
export const someOf = (ids: readonly string[], most = 3): string =>
  `${ids.slice(0, most).join(', ')}${ids.length > most ? `, and ${ids.length - most} more` : ''}`;

const timeMsMax = 8.64e15; // the last moment that the calendar knows

/** Epoch milliseconds as ISO 8601 in UTC; empty for what is no moment. */
export const isoTime = (at: number): string => (at > 0 && at <= timeMsMax ? new Date(at).toISOString() : '');
