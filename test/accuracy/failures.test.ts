// A fixed fifth of our own rows of failures, and all prose: each is read as a person would read it.
import { describe, expect, it } from 'vitest';
import { endOf, type FailureRow, failures, reactionTo } from './failures.ts';
import { isReached, readRows } from './figure.ts';

describe('failures', () => {
  const rows = readRows('own')<FailureRow>('failures.jsonl').filter((_row, at) => at % 5 === 0);
  it.each(rows.map(row => [row.id, row] as const))('%s is what it is', (_id, row) => {
    const failure = endOf(row);
    expect([failure?.kind, reactionTo(failure, row.changedTree)]).toEqual([row.kind, row.reaction]);
  });

  it('as a whole they are as exact as docs/accuracy.md wants', async () => {
    for (const figure of await failures.measure(readRows('own'))) expect(isReached(figure), figure.measure).toBe(true);
  });
});
