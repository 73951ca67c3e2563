// Proves that values of unknown shape are read without a throw.
import { describe, expect, it } from 'vitest';
import { countOf, detailOf, fieldsOf, listOf, textOf } from '../../src/text/fields.ts';

describe('a field of an event', () => {
  it.each([undefined, null, 'text', 7, [], true])('that is %j has no fields', value => {
    expect(fieldsOf(value)).toEqual({});
  });

  it.each([undefined, null, Number.NaN, -1, '5', Number.POSITIVE_INFINITY, 1e300, {}])(
    'that is %j counts for 0',
    value => {
      expect(countOf(value)).toBe(0);
    },
  );

  it('is taken for what it is when it is that', () => {
    expect(fieldsOf({ a: 1 })).toEqual({ a: 1 });
    expect(listOf([1])).toEqual([1]);
    expect(listOf({ length: 1 })).toEqual([]);
    expect(textOf('text')).toBe('text');
    expect(textOf(7)).toBe('');
    expect(countOf(7.9)).toBe(7);
  });

  it('tells what a tool does by what tells most, and not at length', () => {
    expect(detailOf({ description: 'lists', command: 'ls' })).toBe('ls');
    expect(detailOf({ command: '', url: 'http://127.0.0.1' })).toBe('http://127.0.0.1');
    expect(detailOf({ command: 'x'.repeat(1_000) })).toHaveLength(500);
    expect(detailOf(null)).toBe('');
  });
});
