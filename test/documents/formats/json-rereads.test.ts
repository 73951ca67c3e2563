// Proves that a JSON task list that changed is read as if it were read whole, and that only the changed rows are read.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prd } from '../../../src/documents/formats/prd.ts';
import { projectTasks } from '../../../src/documents/formats/tasks.ts';

const story = (id: number, more: object = {}) => ({
  id: `US-${id}`,
  title: `Story ${id}`,
  criteria: ['it is there'],
  passes: false,
  ...more,
});
const textOf = (userStories: readonly object[]) => `${JSON.stringify({ project: 'p', userStories }, null, 2)}\n`;

function readOf(text: string, before?: Parameters<typeof prd.read>[2]) {
  const read = prd.read(text, {}, before);
  if (!read.ok) throw new Error(read.problems[0]!.message);
  return { text, index: read.index, document: read.document };
}

const plain = textOf([story(1), story(2, { depends_on: ['US-1'] }), story(3), story(4)]);
const ranked = textOf([story(1, { priority: 3 }), story(2, { priority: 1 }), story(3)]);

/** What an editor, an agent or an accident may write anywhere. */
const pieces = [
  ...['', ' ', '\n', 'true', 'false', '"', ',', '[', ']', '{', '}', ':', '0', '\u{1F680}', '\\'],
  ...['US-1', 'us-2', 'US-9', '"passes": true', '"priority": 2,', '"passess": 1,', '"depends_on": ["US-4"],'],
  ...[JSON.stringify(story(5)), `${JSON.stringify(story(6))},`, `, ${JSON.stringify(story(3))}`],
  ...['], "userStories": [', '], "more": [', '"__proto__": 1,', '\u202e'],
];
const edits = fc.array(fc.tuple(fc.nat(), fc.nat(40), fc.constantFrom(...pieces)), { minLength: 1, maxLength: 3 });

/** Of four edits one falls on the beginning of a line, where most of them leave the text readable. */
function edited(text: string, all: readonly (readonly [number, number, string])[]): string {
  return all.reduce((now, [place, length, piece]) => {
    const lines = [...now.matchAll(/^ */gm)].map(({ index, 0: indent }) => index + indent.length);
    const at = place % 4 === 0 ? lines[place % lines.length]! : place % (now.length + 1);
    return now.slice(0, at) + piece + now.slice(place % 3 === 0 ? at : at + length);
  }, text);
}

describe('for any text and any edits', () => {
  it.each([
    ['plain', plain],
    ['ordered by priority', ranked],
  ])('what is read after a text %s is what reading the whole gives', (_what, text) => {
    const before = readOf(text);
    fc.assert(
      fc.property(edits, all => {
        const now = edited(text, all);
        const whole = prd.read(now);
        expect(prd.read(now, {}, before)).toEqual(whole);
        expect(prd.parse(now)).toEqual(whole.ok ? { ok: true, document: whole.document } : whole);
      }),
      { numRuns: 500 },
    );
  });

  it('also edit after edit, with marks between them', () => {
    const ids = fc.constantFrom('US-1', 'US-2', 'US-3', 'GHOST');
    const marks = fc.array(fc.record({ id: ids, done: fc.boolean(), skipped: fc.boolean() }), { maxLength: 3 });
    fc.assert(
      fc.property(fc.array(fc.tuple(edits, marks), { maxLength: 6 }), steps => {
        let known = readOf(plain);
        for (const [all, set] of steps) {
          const now = edited(known.text, all);
          const read = prd.read(now, {}, known);
          if (read.ok) {
            const { text, index } = prd.markWithIndex(now, read.index, set);
            // A row that something was said about is not read again for its mark.
            if (index.document !== undefined)
              expect(prd.read(text)).toEqual({ ok: true, document: index.document, index });
            known = readOf(text, { text, index });
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('what is read', () => {
  const many = textOf(Array.from({ length: 200 }, (_, at) => story(at)));
  const before = readOf(many);
  /** How many tasks are other objects than before. */
  const freshOf = (text: string) =>
    readOf(text, before).document.tasks.filter(task => !before.document.tasks.includes(task)).length;

  it('is the story that an agent ticked, and no other', () => {
    expect(freshOf(many.replace('"passes": false', '"passes": true'))).toBe(1);
  });

  it('is the story that was added, and the one before it', () => {
    const at = many.lastIndexOf('}', many.lastIndexOf(']')) + 1;
    expect(freshOf(`${many.slice(0, at)},\n${JSON.stringify(story(1000))}${many.slice(at)}`)).toBe(2);
  });

  it('is nothing when only space was added behind the end', () => {
    expect(freshOf(`${many} \n`)).toBe(0);
  });

  it('is the story that we marked', () => {
    const { index } = prd.markWithIndex(many, before.index, [{ id: 'US-150', done: true, skipped: false }]);
    const fresh = index.document!.tasks.filter(task => !before.document.tasks.includes(task));
    expect(fresh).toEqual([expect.objectContaining({ id: 'US-150', done: true })]);
  });

  it('is everything when something stands beside the stories', () => {
    expect(freshOf(many.replace('"p"', '"q"'))).toBe(200);
  });
});

it('two dependencies that become one of the same letters are looked up anew', () => {
  const before = textOf([story(1), story(2), story(3, { depends_on: ['US-1', 'US-2'] })]);
  const now = before.replace(/"US-1",\s*"US-2"/, '"US-1 US-2"');
  expect(prd.read(now, {}, readOf(before))).toEqual(prd.read(now));
  expect(prd.read(now)).toMatchObject({ ok: false });
});

it('a tasks.json with odd numbers is read whole: what is said of its rows names them', () => {
  const row = (id: string, attempts: number) => ({ id, title: id, status: 'pending', attempts });
  const text = JSON.stringify({ project_name: 'p', tasks: [row('a', 0), row('b', -1)] });
  const read = projectTasks.read(text);
  const now = text.replace('"attempts":0', '"attempts":-2');
  const after = projectTasks.read(now, {}, read.ok ? { text, index: read.index } : undefined);
  expect(after).toEqual(projectTasks.read(now));
  expect(after).toMatchObject({ ok: true, document: { notices: [expect.any(String), expect.any(String)] } });
});
