// One value, one text.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonical } from '../../src/text/canonical.ts';
import { Bug } from '../../src/text/errors.ts';

describe('canonical JSON', () => {
  it.each([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    [{ z: { d: 1, c: 2 }, a: {} }, '{"a":{},"z":{"c":2,"d":1}}'],
    [{ kept: 1, dropped: undefined }, '{"kept":1}'],
    [-0, '0'],
    [1e21, '1e+21'],
    ['é "quoted" \u0001 \ud800', '"é \\"quoted\\" \\u0001 \\ud800"'],
    [Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    [[], '[]'],
  ])('writes %j with sorted keys and without spaces', (value, text) => {
    expect(canonical(value)).toBe(text);
  });

  it.each([
    ['not a number', { a: Number.NaN }],
    ['infinity', [Number.POSITIVE_INFINITY]],
    ['a function', { a: () => 1 }],
    ['a bigint', 1n],
    ['a hole in a list', [undefined]],
    ['a date, which would become an empty object', { at: new Date(0) }],
    ['a map', new Map()],
    ['nothing at all', undefined],
  ])('refuses %s rather than change it silently', (_what, value) => {
    expect(() => canonical(value)).toThrow(Bug);
  });

  it('gives the same text whatever the order of the members, and parses back to the same value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), value => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(canonical(reversed)).toBe(canonical(value));
        expect(JSON.parse(canonical(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('keeps two different values apart', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const isSame = canonical(one) === canonical(other);
        if (isSame) expect(JSON.parse(JSON.stringify(one))).toEqual(JSON.parse(JSON.stringify(other)));
        else expect(JSON.stringify(one)).not.toBe(JSON.stringify(other));
      }),
    );
  });
});
