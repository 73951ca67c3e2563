// Proves that marking a PRD.json changes the statuses and not one other byte, whatever the file looks like.

import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskMark } from '../../../src/core/task.ts';
import type { ParsedDocument } from '../../../src/documents/document.ts';
import { prd } from '../../../src/documents/formats/prd.ts';
import { scanJson } from '../../../src/documents/json.ts';

const fixtures = new URL('../../fixtures/prd/', import.meta.url);

describe('golden triples (in, marks, out)', () => {
  for (const name of readdirSync(fixtures)) {
    it(name, () => {
      const read = (file: string) => readFileSync(new URL(`${name}/${file}`, fixtures), 'utf8');
      const marks = JSON.parse(read('marks.json')) as TaskMark[];
      expect(prd.mark(read('in.json'), marks)).toBe(read('out.json'));
      expect(prd.parse(read('out.json')).ok).toBe(true);
    });
  }
});

// Texts as odd as people and tools write them: any spacing between tokens, escapes, extra keys, decoys named "passes".

const space = fc.constantFrom('', ' ', '\n', '\r\n  ', '\t', ' \n\t ');
const odd = (parts: readonly string[]) =>
  fc
    .array(space, { minLength: parts.length, maxLength: parts.length })
    .map(gaps => parts.map((part, n) => gaps[n]! + part).join(''));

const key = (name: string) =>
  fc
    .boolean()
    .map(isEscaped => (isEscaped ? `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}"` : `"${name}"`));
const text = fc.constantFrom(
  '"plain"',
  '"\\u00e9 and é"',
  '"say \\"passes\\": false"',
  '"🚀 \\ud83d\\ude80"',
  '"a\\\\"',
);
const extra = fc.constantFrom(
  '{"passes": false, "skipped": true}',
  '[{"passes":true}]',
  '1.50e+01',
  'null',
  '"passes"',
  '{}',
);

function members(pairs: readonly (readonly [fc.Arbitrary<string>, fc.Arbitrary<string>])[]) {
  return fc
    .shuffledSubarray([...pairs], { minLength: pairs.length })
    .chain(order =>
      fc.tuple(...order.map(([name, value]) => fc.tuple(name, value).chain(([k, v]) => odd([k, ':', v])))),
    )
    .chain(all => odd(['{', ...all.flatMap((member, n) => (n === 0 ? [member] : [',', member])), '}']));
}

const stories = fc
  .integer({ min: 1, max: 4 })
  .chain(count =>
    fc.tuple(
      ...Array.from({ length: count }, (_, n) =>
        fc
          .tuple(fc.boolean(), fc.boolean())
          .chain(([hasSkipped, hasExtra]) =>
            members([
              [key('id'), fc.constant(`"US-${n}"`)],
              [key('title'), text],
              [key('description'), text],
              [key('criteria'), text.map(one => `[${one}]`)],
              [key('passes'), fc.constantFrom('true', 'false')],
              ...(hasSkipped ? ([[key('skipped'), fc.constantFrom('true', 'false')]] as const) : []),
              ...(hasExtra ? ([[fc.constant('"extra"'), extra]] as const) : []),
            ]),
          ),
      ),
    ),
  );

const documents = stories
  .chain(all => odd(['[', ...all.flatMap((one, n) => (n === 0 ? [one] : [',', one])), ']']))
  .chain(list =>
    members([
      [key('project'), text],
      [key('userStories'), fc.constant(list)],
      [fc.constant('"passes"'), extra],
      [fc.constant('"archive"'), fc.constant('[{"id": "US-1", "passes": false, "skipped": false}]')],
      [fc.constant('"other"'), fc.constant(`{"userStories": [{"id": "US-0", "passes": false}]}`)],
    ]),
  )
  .chain(body =>
    fc.tuple(fc.constantFrom('', '\uFEFF'), fc.constantFrom('', '\n', '\r\n')).map(([bom, end]) => bom + body + end),
  );

const marksets = fc.array(
  fc.record({
    id: fc.constantFrom('US-0', 'US-1', 'US-2', 'US-3', 'GHOST'),
    done: fc.boolean(),
    skipped: fc.boolean(),
  }),
  { maxLength: 5 },
);

function documentOf(source: string): ParsedDocument {
  const parsed = prd.parse(source);
  if (!parsed.ok) throw new Error(`${parsed.problems[0]!.message}\n${source}`);
  return parsed.document;
}

function applied(document: ParsedDocument, marks: readonly TaskMark[]): ParsedDocument {
  const last = new Map(marks.map(mark => [mark.id, mark]));
  const tasks = document.tasks.map(task => {
    const mark = last.get(task.id);
    return mark ? { ...task, done: mark.done, skipped: mark.skipped } : task;
  });
  return { ...document, tasks };
}

const indexOf = (text: string) => prd.markWithIndex(text, undefined, []).index;

describe('for any document and any marks', () => {
  const property = (check: (source: string, marks: readonly TaskMark[]) => void) =>
    fc.assert(fc.property(documents, marksets, check), { numRuns: 150 });

  it('reading what was marked gives what was marked', () => {
    property((source, marks) => {
      expect(documentOf(prd.mark(source, marks))).toEqual(applied(documentOf(source), marks));
    });
  });

  it('marking twice is marking once', () => {
    property((source, marks) => {
      const once = prd.mark(source, marks);
      expect(prd.mark(once, marks)).toBe(once);
    });
  });

  it('no byte outside the status literals changes, and everything else keeps its value', () => {
    property((source, marks) => {
      const marked = prd.mark(source, marks);
      // Without the literals, and without a "skipped" that was added, both texts are the same.
      const bare = (from: string) => withoutStatuses(from, documentOf(source), documentOf(marked));
      expect(bare(marked)).toBe(bare(source));
    });
  });

  it('the index that marking returns is the index of the text that it returns', () => {
    property((source, marks) => {
      const result = prd.markWithIndex(source, indexOf(source), marks);
      expect(result.index).toEqual(indexOf(result.text));
    });
  });

  it('marks one by one over the index of each step give the same text as all at once', () => {
    property((source, marks) => {
      let step = { text: source, index: indexOf(source) };
      for (const mark of marks) step = prd.markWithIndex(step.text, step.index, [mark]);
      const last = new Map(marks.map(mark => [mark.id, mark]));
      const wasSkipped = marks.some(mark => mark.skipped && !last.get(mark.id)!.skipped);
      if (!wasSkipped) expect(step.text).toBe(prd.mark(source, marks));
      expect(documentOf(step.text)).toEqual(documentOf(prd.mark(source, marks)));
    });
  });
});

type Literal = [start: number, end: number];

/** Where the status literals of each story stand. */
function literalsOf(from: string): readonly { id: string; passes: Literal; skipped?: Literal }[] {
  const stories: Record<string, Literal>[] = [];
  scanJson(from, {
    value(path, depth, start, end) {
      if (depth !== 3 || path[0] !== 'userStories') return;
      const row = Number(path[1]);
      stories[row] = { ...stories[row], [String(path[2])]: [start, end] };
    },
  });
  return stories.map(({ id, passes, skipped }) => ({ id: JSON.parse(from.slice(...id!)), passes: passes!, skipped }));
}

/** Cuts the status literals out by position, and the added members with what separates them. */
function withoutStatuses(from: string, before: ParsedDocument, after: ParsedDocument): string {
  const cuts: [number, number][] = [];
  for (const { id, passes, skipped } of literalsOf(from)) {
    const [, passesEnd] = passes;
    cuts.push(passes);
    if (skipped === undefined) continue;
    const [skippedStart, skippedEnd] = skipped;
    const rowBefore = before.tasks.findIndex(task => task.id === id);
    const wasAdded =
      after.tasks[rowBefore]!.skipped && !before.tasks[rowBefore]!.skipped && addedKey(from, passesEnd, skippedStart);
    cuts.push(wasAdded ? [passesEnd, skippedEnd] : skipped);
  }
  cuts.sort((one, other) => one[0] - other[0]);
  let rest = '';
  let at = 0;
  for (const [start, end] of cuts) {
    rest += from.slice(at, start);
    at = end;
  }
  return rest + from.slice(at);
}

/** An added key always stands right behind the status; one that happens to stand there already is cut on both sides. */
function addedKey(from: string, passesEnd: number, skipped: number): boolean {
  return skipped > passesEnd && /^[\s,]*"(?:s|\\u0073)kipped"\s*:\s*$/.test(from.slice(passesEnd, skipped));
}

it('given a text that is no PRD, then it stays as it is', () => {
  const marks = [{ id: 'a', done: true, skipped: false }];
  expect(prd.mark('{"userStories": [{"id": "a", "passes": false}', marks)).toBe(
    '{"userStories": [{"id": "a", "passes": false}',
  );
});
