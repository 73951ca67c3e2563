// Finds when Codex may be used again in what it tells a person: a day and a time, a time alone, or a while from now.

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const unitMs: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
};
const dayMs = 86_400_000;

const atDay =
  /try again at ([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (\d{4}),? (?:at )?(\d{1,2}):(\d{2}) ?([ap]m)?/i;
const atTime = /try again at (\d{1,2}):(\d{2}) ?([ap]m)?/i;
const aWhile = /try again in ((?:[\d.]+ ?(?:d|h|m|s)[a-z]*[ ,]*(?:and )?)+)/i;

/** Times are local, as it shows them. */
export function resetIn(text: string, nowMs: number): number | undefined {
  const day = atDay.exec(text);
  if (day) {
    const [, monthName = '', date, year, hour, minute, half] = day;
    const month = months.indexOf(monthName.toLowerCase());
    if (month < 0) return undefined;
    return new Date(Number(year), month, Number(date), hourOf(hour, half), Number(minute)).getTime();
  }
  const time = atTime.exec(text);
  if (time) {
    const today = new Date(nowMs);
    const at = today.setHours(hourOf(time[1], time[3]), Number(time[2]), 0, 0);
    return at > nowMs ? at : at + dayMs;
  }
  const wait = aWhile.exec(text)?.[1];
  return wait === undefined ? undefined : nowMs + durationMs(wait);
}

function hourOf(hour: string | undefined, half: string | undefined): number {
  if (half === undefined) return Number(hour);
  return (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
}

function durationMs(words: string): number {
  let sum = 0;
  for (const [, amount, unit = ''] of words.matchAll(/([\d.]+) ?(ms|d|h|m|s)/gi)) {
    sum += Number(amount) * (unit.toLowerCase() === 'ms' ? 1 : (unitMs[unit.toLowerCase()] ?? 0));
  }
  return Math.round(sum);
}
