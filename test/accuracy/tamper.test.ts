// The tamper screen on a fifth of its own set: the whole of it is `npm run accuracy`.
import { expect, it } from 'vitest';
import { isReached, readRows } from './figure.ts';
import { type TamperRow, tamperFigures } from './tamper.ts';

const rows = readRows('own')<TamperRow>('tamper.jsonl').filter((_row, at) => at % 5 === 0);

it.each(tamperFigures(rows))('of a fifth of the rows, $measure: $count of $of', figure => {
  expect(figure.of).toBeGreaterThan(20);
  expect(isReached(figure), figure.misses.join(', ')).toBe(true);
});
