// Times as people read them where they are, each with its zone.

/** `Z`, `+02` or `+05:30`: no time is told without it. */
function zoneOf(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  if (minutes === 0) return 'Z';
  const two = (part: number): string => String(part).padStart(2, '0');
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : '+'}${two(hours)}${rest === 0 ? '' : `:${two(rest)}`}`;
}

/** The time of day where the reader is: `14:05Z`, with `seconds` `14:05:09Z`. */
export function clockTime(at: number, unit: 'minutes' | 'seconds' = 'minutes'): string {
  const date = new Date(at);
  return `${date.toTimeString().slice(0, unit === 'seconds' ? 8 : 5)}${zoneOf(date)}`;
}

/** The day before it: `2026-11-18 14:05Z`. */
export function dayAndTime(at: number, unit?: 'minutes' | 'seconds'): string {
  const date = new Date(at);
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(part => String(part).padStart(2, '0'));
  return `${day.join('-')} ${clockTime(at, unit)}`;
}
