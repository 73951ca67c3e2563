// The short form of `npm run accuracy` for secrets: every fifth row of our own set.
import { expect, it } from 'vitest';
import { isReached, readRows } from './figure.ts';
import { generate, type InnocentText, measureSecrets, type SecretFamily } from './secrets.ts';

const rows = readRows('own');
const fifth = <Row>(all: readonly Row[]): readonly Row[] => all.filter((_, at) => at % 5 === 0);
const families = rows<SecretFamily>('secrets.jsonl');

it('hides values of known families, and leaves innocent text as it is', () => {
  const figures = measureSecrets(fifth(families), fifth(rows<InnocentText>('innocent.jsonl')));
  for (const figure of figures) expect(figure.of, figure.measure).toBeGreaterThan(30);
  expect(figures.filter(figure => !isReached(figure))).toEqual([]);
});

it('makes the same values of a family each time, as its template says', () => {
  const family = families.find(one => one.family === 'slack-bot')!;
  expect(generate(family)).toEqual(generate(family));
  for (const { value, prefix } of generate(family)) {
    expect(value).toMatch(/^xoxb-\d{12}-\d{13}-[A-Za-z0-9]{24}$/);
    expect(prefix).toBe('xoxb-');
  }
});
