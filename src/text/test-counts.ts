// The count of tests that ran, read from the summary lines that a test runner itself prints while a check runs.
import { stripControls } from './text.ts';

/** A line that tells, and how its numbers add up; `each`: the line stands for one test. */
const summaries: readonly (readonly [runner: string, line: RegExp, number: RegExp | 'each'])[] = [
  ['vitest', /^\s*Tests\s+\d.*\(\d+\)\s*$/, /(\d+) (?:passed|failed)/g],
  ['jest', /^Tests:\s+.*\d+ total\s*$/, /(\d+) (?:passed|failed)/g],
  ['pytest', /^=*\s*\d+ \w+.* in \d[\d.]*s\b/, /(\d+) (?:passed|failed|xpassed)\b/g],
  ['node:test', /^(?:#|ℹ) (?:pass|fail) \d+\s*$/, /(\d+)/g],
  ['cargo', /^test result: \w+\. /, /(\d+) (?:passed|failed)/g],
  ['go -v', /^\s*--- (?:PASS|FAIL): /, 'each'],
  ['go -json', /^\{.*"Action":"(?:pass|fail)".*"Test":/, 'each'],
];

const lineCharsMax = 2_000;

/** Takes the output piece by piece. */
export class TestCounter {
  #rest = '';
  #count: number | undefined;

  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(-lineCharsMax);
    for (const line of lines) this.#read(line);
  }

  #read(raw: string): void {
    if (raw.length > lineCharsMax || !/pass|fail/i.test(raw)) return;
    const line = stripControls(raw).trimEnd();
    const [, , number] = summaries.find(([, pattern]) => pattern.test(line)) ?? [];
    if (number === undefined) return;
    const ran = number === 'each' ? 1 : [...line.matchAll(number)].reduce((sum, [, digits]) => sum + Number(digits), 0);
    this.#count = (this.#count ?? 0) + ran;
  }

  /** Absent: no runner said so. */
  count(): number | undefined {
    if (this.#rest !== '') this.#read(this.#rest);
    this.#rest = '';
    return this.#count;
  }
}
