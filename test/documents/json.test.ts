// Proves that the JSON walk accepts exactly what JSON.parse accepts and knows the place of every fault and value.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { depthMax, scanJson } from '../../src/documents/json.ts';
import { conflictOffset, positionsIn } from '../../src/documents/problems.ts';

function accepts(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const jsonTexts = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2, '\t'))
  .map(([value, space]) => JSON.stringify(value, null, space));

describe('for any text', () => {
  it('that is JSON, the walk finds no fault and tells each value as it stands there', () => {
    fc.assert(
      fc.property(jsonTexts, text => {
        const whole: string[] = [];
        const fault = scanJson(text, {
          value(_path, depth, start, end) {
            expect(accepts(text.slice(start, end))).toBe(true);
            if (depth === 0) whole.push(text.slice(start, end));
          },
        });
        expect(fault).toBeUndefined();
        expect(whole).toEqual([text.trim()]);
      }),
    );
  });

  it('that was damaged in one place, the walk agrees with JSON.parse', () => {
    const damage = fc.tuple(
      jsonTexts,
      fc.nat(),
      fc.constantFrom('', ',', '"', '}', ']', '\\', '1', 'x', '\n', ':', '\u0001', '\u001f'),
    );
    fc.assert(
      fc.property(damage, ([text, at, piece]) => {
        const place = at % (text.length + 1);
        const damaged = text.slice(0, place) + piece + text.slice(place + (piece === '' ? 1 : 0));
        expect(scanJson(damaged) === undefined).toBe(accepts(damaged));
      }),
      { numRuns: 300 },
    );
  });

  it('that was cut off, the fault is at its very end', () => {
    const whole = '{"a": [1, -2.5e+3, "t\\u00e9\\n", true, null, {"b": {}}], "c": false}';
    for (let length = 1; length < whole.length; length++) {
      expect(scanJson(whole.slice(0, length)), whole.slice(0, length)).toMatchObject({ offset: length });
    }
  });
});

describe('a fault is named', () => {
  const faults: readonly [string, number, RegExp][] = [
    ['{"a": 1,}', 7, /comma stands before }/],
    ['[1, // no', 4, /value must be/],
    ["{'a': 1}", 1, /key in double quotes/],
    ['{"a": True}', 6, /True is not a JSON value/],
    ['{"a": 01}', 6, /01 is not/],
    ['{"a" 1}', 5, /colon/],
    ['{"a": "x\ny"}', 8, /line break/],
    ['{"a": "\\q"}', 7, /backslash/],
    ['{} {}', 3, /after the end/],
    ['{"a": \u202e}', 6, /U\+202E/],
    ['  ', 2, /empty/],
  ];
  for (const [text, offset, message] of faults) {
    it(`in ${JSON.stringify(text)}`, () => {
      const fault = scanJson(text);
      expect(fault?.offset).toBe(offset);
      expect(fault?.message).toMatch(message);
    });
  }

  it('and nesting is refused one level beyond the bound, even a million levels deep', () => {
    expect(scanJson('['.repeat(depthMax) + ']'.repeat(depthMax))).toBeUndefined();
    expect(scanJson('['.repeat(depthMax + 1) + ']'.repeat(depthMax + 1))?.message).toMatch(/nested deeper than 100/);
    expect(scanJson('{"a":'.repeat(1_000_000))?.offset).toBe(500);
  });
});

it('keys are told with their escapes resolved', () => {
  const keys: string[] = [];
  scanJson('{"p\\u0061sses": {"\\"": 1}}', { key: (path, depth) => keys.push(path.slice(0, depth).join('/')) });
  expect(keys).toEqual(['passes', 'passes/"']);
});

describe('a position', () => {
  it('counts lines and columns from 1, with any line end and without the BOM', () => {
    expect(positionsIn('ab')(0)).toEqual({ line: 1, column: 1 });
    expect(positionsIn('a\r\nbc')(4)).toEqual({ line: 2, column: 2 });
    expect(positionsIn('\uFEFFab')(2)).toEqual({ line: 1, column: 2 });
    expect(positionsIn('a\n')(2)).toEqual({ line: 2, column: 1 });
  });
});

describe('a merge-conflict marker', () => {
  it('counts only at the start of a line', () => {
    expect(conflictOffset('a <<<<<<< b')).toBeUndefined();
    expect(conflictOffset('a\n=======\n')).toBe(2);
    expect(conflictOffset('\uFEFF<<<<<<< HEAD')).toBe(1);
    expect(conflictOffset('a\n>>>>>>> x\n<<<<<<< y')).toBe(2);
  });
});
