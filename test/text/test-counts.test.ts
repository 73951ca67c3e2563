import { describe, expect, it } from 'vitest';
import { TestCounter } from '../../src/text/test-counts.ts';

function countOf(...pieces: string[]): number | undefined {
  const counter = new TestCounter();
  for (const piece of pieces) counter.add(piece);
  return counter.count();
}

describe('how many tests ran', () => {
  it.each([
    ['vitest', ' Test Files  2 passed (2)\n      Tests  7 passed (7)\n', 7],
    ['vitest with failures and skips', '      Tests  1 failed | 6 passed | 2 skipped (9)\n', 7],
    [
      'vitest in color',
      '\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[32m7 passed\u001b[39m\u001b[22m\u001b[90m (7)\u001b[39m\n',
      7,
    ],
    ['jest', 'Test Suites: 1 passed, 1 total\nTests:       1 skipped, 7 passed, 8 total\n', 7],
    ['pytest', '===== 12 passed, 1 skipped in 0.31s =====\n', 12],
    ['pytest -q', '1 failed, 11 passed in 3.20s\n', 12],
    ['node --test', '# tests 6\n# pass 5\n# fail 0\n# skipped 1\n', 5],
    ['node --test, spec', 'ℹ tests 5\nℹ pass 4\nℹ fail 1\n', 5],
    [
      'cargo, of several crates',
      'test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured\ntest result: ok. 2 passed; 0 failed\n',
      7,
    ],
    ['go test -v', '--- PASS: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\nok  \tshop\t0.1s\n', 2],
    ['go test -json', '{"Action":"pass","Package":"a","Test":"TestA"}\n{"Action":"pass","Package":"a"}\n', 1],
  ])('is read from the lines of %s', (_, output, count) => expect(countOf(output)).toBe(count));

  it.each([
    ['nothing', ''],
    ['a plain go test', 'ok  \tshop\t0.1s\n'],
    ['prose about tests', 'All 12 tests passed!\n3 files passed the review\n'],
  ])('is not counted in %s', (_, output) => expect(countOf(output)).toBeUndefined());

  it('does not depend on how the output comes in pieces, nor on a last line that never ends', () => {
    expect(countOf('      Tes', 'ts  7 pas', 'sed (7)')).toBe(7);
    expect(countOf('x'.repeat(1_000_000), '\n# pass 2\n')).toBe(2);
  });
});
