// The fast scan against a slow one that tries every rule at every place.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { assignmentWords } from '../../src/secrets/assignments.ts';
import { redactRules } from '../../src/secrets/rules.ts';
import { makeScanner, type Span, spanAt, tableFor } from '../../src/secrets/scan.ts';

const forms = ['known-value-1', 'Wért über alles 12', '漢字の値が長い12', 'aaaaaaaaaa'];

/** No filter: each literal is compared at each place. */
function scanSlowly(text: string, enough = Number.POSITIVE_INFINITY): Span[] {
  const places = tableFor(forms).lists.flat();
  const spans: Span[] = [];
  let coveredTo = 0;
  for (let at = 0; at < text.length; at += 1) {
    for (const { trigger, back } of places) {
      const span = spanAt(trigger, text, at - back, coveredTo);
      if (span === undefined || spans.length >= enough) continue;
      spans.push(span);
      coveredTo = Math.max(coveredTo, span.end);
    }
  }
  return spans;
}

const starts = [
  ...redactRules.flatMap(rule => rule.literals),
  ...assignmentWords,
  ...forms,
  '-----BEGIN ',
  '-----END ',
];
const otherCase = (text: string): string =>
  text.replace(/[a-z]/gi, one => (one < 'a' ? one.toLowerCase() : one.toUpperCase()));
/** Of letters and digits, of hexadecimal, of capitals: what the shapes of keys are made of. */
const alphabets = ['aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0fR', '3fa94c0be7d12856', 'QK7XW2MZ5RTB4NYC'];
const value = fc
  .tuple(fc.constantFrom(...alphabets), fc.integer({ min: 4, max: 130 }))
  .map(([letters, length]) => letters.repeat(40).slice(0, length));
const between = fc.constantFrom(
  '',
  ' ',
  '=',
  ': ',
  '="',
  '": "',
  '\n',
  'x',
  '7',
  '\\n',
  '%3D',
  '://u:',
  '@',
  '_',
  'ü',
  '漢',
);
const start = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...starts) },
  { weight: 1, arbitrary: fc.constantFrom(...starts).map(otherCase) },
);
const piece = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(between, start, between, value).map(parts => parts.join('')) },
  { weight: 1, arbitrary: start },
  { weight: 1, arbitrary: between },
  { weight: 1, arbitrary: fc.string({ maxLength: 12, unit: 'binary' }) },
);
const mixed = fc.array(piece, { minLength: 1, maxLength: 16 }).map(pieces => pieces.join(''));

it('the scan finds exactly what trying every rule at every place finds', () => {
  const scan = makeScanner(forms, true);
  let found = 0;
  fc.assert(
    fc.property(mixed, text => {
      const spans = scan(text);
      found += spans.length;
      expect(spans).toEqual(scanSlowly(text));
      expect(scan(text, 1)).toEqual(spans.slice(0, 1));
    }),
    { numRuns: 400 },
  );
  expect(found).toBeGreaterThan(100);
});

it('the scan finds each literal at each place of a long text, across the ends of its blocks', () => {
  const scan = makeScanner(forms, true);
  const filler = 'x. '.repeat(6_000);
  fc.assert(
    fc.property(
      fc.constantFrom(...starts),
      value,
      fc.integer({ min: 16_340, max: 16_390 }),
      (literal, rest, before) => {
        const text = `${filler.slice(-before)}${literal}${rest} end`;
        const near = before - 300;
        const moved = (span: Span): Span => ({ ...span, start: span.start + near, end: span.end + near });
        expect(scan(text)).toEqual(scanSlowly(text.slice(near)).map(moved));
      },
    ),
    { numRuns: 400 },
  );
});

it('a part of a longer word is no assignment', () => {
  const scan = makeScanner([], true);
  for (const text of ['tokens=aB3dE6gH9jK2mN5p', 'patterns: aB3dE6gH9jK2mN5p', 'the keys=aB3dE6gH9jK2mN5p'])
    expect(scan(text)).toEqual([]);
  for (const text of ['token=aB3dE6gH9jK2mN5p', 'passWord=aB3dE6gH9jK2mN5p', 'PASSWORD=aB3dE6gH9jK2mN5p'])
    expect(new Set(scan(text).map(span => text.slice(span.start, span.end)))).toEqual(new Set(['aB3dE6gH9jK2mN5p']));
});
