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

/** `a, b or c` */
export const anyOf = (words: readonly string[]): string => words.join(', ').replace(/, (?=[^,]+$)/, ' or ');

/** `a, b, c, and 4 more` */
export const someOf = (ids: readonly string[], most = 3): string =>
  `${ids.slice(0, most).join(', ')}${ids.length > most ? `, and ${ids.length - most} more` : ''}`;

/** Epoch milliseconds as ISO 8601 in UTC, by arithmetic: the core has no calendar of its own. */
export function isoTime(at: number): string {
  if (at <= 0) return '';
  const days = Math.floor(at / 86_400_000);
  const ms = at - days * 86_400_000;
  // Days since 0000-03-01 split into 400-year eras: the leap day then ends each year.
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = `${two(Math.floor(ms / 3_600_000))}:${two(Math.floor(ms / 60_000) % 60)}:${two(Math.floor(ms / 1_000) % 60)}`;
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${clock}.${String(ms % 1_000).padStart(3, '0')}Z`;
}
