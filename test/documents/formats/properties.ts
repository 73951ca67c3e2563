// The laws that every format keeps, written once: a format's test brings texts, and what a mark makes of a task.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskMark, TaskSpec } from '../../../src/core/task.ts';
import type { Format, IndexedFormat, ParsedDocument } from '../../../src/documents/document.ts';

/** Few in `npm test`; `PROVE_RUNS=10000 vitest run test/documents/formats` looks longer. */
const numRuns = Number(process.env['PROVE_RUNS'] ?? 60);

export interface FormatLaws {
  readonly format: Format;
  /** Texts that parse, as odd as people and tools write them. */
  readonly texts: fc.Arbitrary<string>;
  /** The text without what marks may change or add: the rest stays byte for byte. */
  readonly bare: (text: string) => string;
  /** The task as a marked document shows it; without it `done` and `skipped` are as the mark says. */
  readonly apply?: (task: TaskSpec, mark: TaskMark) => TaskSpec;
  /** What a mark says beside the id; without it any `done` and `skipped`, never both. */
  readonly says?: fc.Arbitrary<Omit<TaskMark, 'id'>>;
}

const anyMark: fc.Arbitrary<Omit<TaskMark, 'id'>> = fc.constantFrom(
  { done: true, skipped: false },
  { done: false, skipped: false },
  { done: false, skipped: true },
);

function documentOf(format: Format, text: string): ParsedDocument {
  const parsed = format.parse(text);
  if (!parsed.ok) throw new Error(`${parsed.problems.map(problem => problem.message).join('\n')}\n${text}`);
  return parsed.document;
}

const isIndexed = (format: Format): format is IndexedFormat => 'markWithIndex' in format;

function indexOf(format: IndexedFormat, text: string) {
  const read = format.read(text);
  if (!read.ok) throw new Error(text);
  return read.index;
}

const asMarked = (task: TaskSpec, mark: TaskMark): TaskSpec => ({ ...task, done: mark.done, skipped: mark.skipped });

/** The last mark of an id counts; marks for ids that no task has count for nothing. */
function applied(laws: FormatLaws, document: ParsedDocument, marks: readonly TaskMark[]): readonly TaskSpec[] {
  const last = new Map(marks.map(mark => [mark.id, mark]));
  return document.tasks.map(task => {
    const mark = last.get(task.id);
    return mark === undefined ? task : (laws.apply ?? asMarked)(task, mark);
  });
}

/** `parse(mark(text, m)) = apply(parse(text), m)`, twice = once, and no other byte changes: for this format. */
export function describeLaws(name: string, laws: FormatLaws): void {
  const { format, bare } = laws;
  const cases = fc.tuple(
    laws.texts,
    fc.array(fc.tuple(fc.nat(5), laws.says ?? anyMark), { minLength: 1, maxLength: 5 }),
  );
  const property = (check: (text: string, marks: readonly TaskMark[]) => void): void => {
    fc.assert(
      fc.property(cases, ([text, chosen]) => {
        const { tasks } = documentOf(format, text);
        check(
          text,
          chosen.map(([row, says]) => ({ id: tasks[row % (tasks.length + 1)]?.id ?? 'GHOST', ...says })),
        );
      }),
      { numRuns, seed: 5 },
    );
  };

  describe(`for any ${name} and any marks`, () => {
    it('reading what was marked gives what was marked', () => {
      property((text, marks) => {
        const before = documentOf(format, text);
        const after = documentOf(format, format.mark(text, marks));
        expect(after.tasks).toEqual(applied(laws, before, marks));
        expect({ ...after, tasks: [], notices: [] }).toEqual({ ...before, tasks: [], notices: [] });
      });
    });

    it('marking twice is marking once', () => {
      property((text, marks) => {
        const once = format.mark(text, marks);
        expect(format.mark(once, marks)).toBe(once);
      });
    });

    it('marking what was read reads nothing again, and says the same', () => {
      if (!isIndexed(format)) return;
      property((text, marks) => {
        let known = { text, index: indexOf(format, text) };
        for (const mark of marks) {
          const plain = documentOf(format, format.mark(known.text, [mark]));
          known = format.markWithIndex(known.text, known.index, [mark]);
          expect(documentOf(format, known.text)).toEqual(plain);
          if (known.index.document !== undefined) expect(known.index.document).toEqual(plain);
        }
      });
    });

    it('no other byte changes, and none at all when the marks say what stands there', () => {
      property((text, marks) => {
        expect(bare(format.mark(text, marks))).toBe(bare(text));
        const asIs = documentOf(format, text).tasks.map(({ id, done, skipped }) => ({ id, done, skipped }));
        if (laws.says === undefined) expect(format.mark(text, asIs)).toBe(text);
      });
    });
  });
}

/** The same texts with either line end, with and without a byte order mark and a last line end. */
export function dressed(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(texts, fc.constantFrom('', '\uFEFF'), fc.constantFrom('\n', '\r\n'), fc.boolean())
    .map(([text, mark, lineEnd, isEnded]) => {
      const lines = text.replace(/\n+$/, '').replaceAll('\n', lineEnd);
      return mark + lines + (isEnded ? lineEnd : '');
    });
}
