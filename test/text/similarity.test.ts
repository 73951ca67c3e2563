import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { similarity } from '../../src/text/similarity.ts';

function plainRatio(a: string, b: string): number {
  if (a.length + b.length === 0) return 1;
  let row: number[] = Array(b.length + 1).fill(0);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [0];
    for (let j = 1; j <= b.length; j += 1) {
      next[j] = a[i - 1] === b[j - 1] ? (row[j - 1] ?? 0) + 1 : Math.max(row[j] ?? 0, next[j - 1] ?? 0);
    }
    row = next;
  }
  return (2 * (row[b.length] ?? 0)) / (a.length + b.length);
}

const few = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' '), maxLength: 150 });
const any = fc.string({ unit: 'binary', maxLength: 90 });
const text = fc.oneof(few, any);

describe('similarity', () => {
  it('equals the plain table of the longest common subsequence', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(similarity(a, b)).toBe(plainRatio(a, b));
      }),
      { numRuns: 300 },
    );
  });

  it('with a cutoff says the exact ratio from the cutoff on, and 0 below it', () => {
    fc.assert(
      fc.property(few, few, fc.double({ min: 0, max: 1, noNaN: true }), (a, b, cutoff) => {
        const exact = plainRatio(a, b);
        expect(similarity(a, b, cutoff)).toBe(exact < cutoff ? 0 : exact);
      }),
      { numRuns: 300 },
    );
  });

  it('holds exactly at the cutoff', () => {
    expect(similarity('aaaaaaaaab', 'aaaaaaaaac', 0.9)).toBe(0.9);
    expect(similarity('aaaaaaaabb', 'aaaaaaaacc', 0.9)).toBe(0);
  });

  it.each([
    ['', '', 1],
    ['', 'a', 0],
    ['abc', 'abc', 1],
    ['abc', 'xyz', 0],
    ['this is a test', 'this is a test!', 28 / 29],
    ['x'.repeat(30), 'x'.repeat(60), 60 / 90],
    ['ab'.repeat(200), 'ba'.repeat(200), 399 / 400],
  ])('of %j and %j is known', (a, b, ratio) => {
    expect(similarity(a, b)).toBeCloseTo(ratio, 12);
  });

  it('does not depend on the order', () => {
    fc.assert(fc.property(text, text, (a, b) => similarity(a, b) === similarity(b, a)));
  });
});
