// The catalogue of faults (docs/faults.md) and the ids in src and test agree: no id is unknown, doubled or without a test.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'faults.md'), 'utf8');
const [covered = '', notCovered = ''] = page.split('\n## Not covered yet\n');

/** The ids of the rows of the tables, in their order. */
const idsOf = (text: string): readonly string[] => [...text.matchAll(/^\| ([FB]\d{2,3}) \|/gm)].map(match => match[1]!);

const id = '[FB]\\d{2,3}';
const list = `${id}(?:(?:, | and |-| )${id})*\\b`;
/** `(F12, F13)`, `(F12: why)`, `(EMFILE, F12)`, and at the start of a comment or a text `F12:`, `F12 F13:`, `// F12`. */
const reference = new RegExp(`\\((?:\\w+, )??(${list})|(?:['"\`]|^\\s*/?\\*+ |// )(${list})(?=:)|// (${list})`, 'gm');

/** Every id that a text refers to. A range stands for what the catalogue has of it, and for both of its ends. */
function referencesIn(text: string, known: readonly string[]): readonly string[] {
  return [...text.matchAll(reference)].flatMap(match => {
    const found = match.slice(1).find(one => one !== undefined)!;
    const ranges = [...found.matchAll(new RegExp(`(${id})-(${id})`, 'g'))].flatMap(([, first, last]) =>
      known.filter(one => one[0] === first![0] && number(one) > number(first!) && number(one) < number(last!)),
    );
    return [...found.match(new RegExp(id, 'g'))!, ...ranges];
  });
}

const number = (one: string): number => Number(one.slice(1));

/** What refers to an id that the catalogue does not have: `file: id`. */
const unknownIn = (file: string, text: string, known: readonly string[]): readonly string[] =>
  referencesIn(text, known)
    .filter(one => !known.includes(one))
    .map(one => `${file}: ${one}`);

/** This file is left out: its examples refer to ids that do not exist. */
function filesOf(folder: string): readonly (readonly [file: string, text: string])[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.ts$|\.scenario\.json$/.test(name) && !name.endsWith('catalogue.test.ts'))
    .map(name => [join(folder, name), readFileSync(join(root, folder, name), 'utf8')]);
}

const ids = idsOf(page);
const sources = filesOf('src');
const tests = filesOf('test');

describe('the catalogue of faults', () => {
  it('has one row for each id, with three cells that say something', () => {
    expect(ids.length).toBeGreaterThan(150);
    expect(ids.filter((one, at) => ids.indexOf(one) !== at)).toEqual([]);
    const rows = page.split('\n').filter(line => /^\| *[FB]\d/.test(line));
    expect(rows.filter(row => !/^\| [FB]\d{2,3} \| \S.*\S \| [A-Z].*\. \|$/.test(row))).toEqual([]);
  });

  it('has every id that src and test refer to', () => {
    const files = [...sources, ...tests];
    expect(files.flatMap(([file, text]) => unknownIn(file, text, ids))).toEqual([]);
    expect(new Set(files.flatMap(([, text]) => referencesIn(text, ids))).size).toBeGreaterThan(100);
  });

  it('claims nothing that no test names', () => {
    const named = new Set(tests.flatMap(([, text]) => referencesIn(text, ids)));
    expect(idsOf(notCovered).length).toBeGreaterThan(0);
    expect(idsOf(covered).filter(one => !named.has(one))).toEqual([]);
  });
});

describe('a reference', () => {
  const known = ['F01', 'F02', 'F03', 'F05', 'B02', 'B100'];

  it.each([
    ['/** Reads every page (F01). */', ['F01']],
    ["it('ends well (F01, B02)', () => {", ['F01', 'B02']],
    ["it('ends well (F01: at most five calls)', () => {", ['F01']],
    ["it('is reported (EMFILE, F01)', () => {", ['F01']],
    ["it('F01 F02: goes on', () => {", ['F01', 'F02']],
    ['  `B02: the value is refused`', ['B02']],
    ['"says": "B100: a promise is refused"', ['B100']],
    ['/** F01: the older process goes on. */', ['F01']],
    [' * F01: the older process goes on.', ['F01']],
    ['// B02, B100: where data lie.', ['B02', 'B100']],
    ['const delayMsMax = 50; // F01', ['F01']],
    ['// Reads one file (F01-F05).', ['F01', 'F05', 'F02', 'F03']],
  ])('is found in %j', (text, found) => {
    expect(referencesIn(text, known)).toEqual(found);
  });

  it.each([
    "const color = '#F00B42';",
    "press('F10');",
    'const keys = { F12: "tools" };',
    "const bytes = 'aGVsbG8gF34B52==';",
    '/** The key F10 is not bound. */',
    "expect(id).toBe('B1234:');",
    '// FB01 and 0xF12 (0xB34)',
  ])('is not found in %j', text => {
    expect(referencesIn(text, known)).toEqual([]);
  });

  it('would be caught when the catalogue does not have it', () => {
    expect(unknownIn('src/x.ts', '// Reads (F01, F77).\n// Waits (B99).', known)).toEqual([
      'src/x.ts: F77',
      'src/x.ts: B99',
    ]);
    expect(unknownIn('src/x.ts', '// Reads (F01-F07).', known)).toEqual(['src/x.ts: F07']);
  });
});
