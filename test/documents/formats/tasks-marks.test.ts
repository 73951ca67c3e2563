// Proves that marking a tasks.json changes statuses and attempts and not one other byte, whatever the file looks like.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskMark, TaskSpec } from '../../../src/core/task.ts';

import { projectTasks } from '../../../src/documents/formats/tasks.ts';
import { describeLaws } from './properties.ts';

// Texts as odd as people and tools write them: any spacing between tokens, any order, escapes, decoys, missing keys.

const space = fc.constantFrom('', ' ', '\n', '\r\n  ', '\t', ' \n\t ');
const odd = (parts: readonly string[]) =>
  fc
    .array(space, { minLength: parts.length, maxLength: parts.length })
    .map(gaps => parts.map((part, n) => gaps[n]! + part).join(''));
const listed = (parts: readonly string[]) => parts.flatMap((part, n) => (n === 0 ? [part] : [',', part]));
const key = (name: string) => fc.constantFrom(`"${name}"`, `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}"`);
const text = fc.constantFrom('"plain"', '"\\u00e9 and é"', '"say \\"status\\": \\"pending\\""', '"🚀"', '"a\\\\"');
const statuses = ['"pending"', '"in_progress"', '"completed"', '"blocked"', '"active"', '"done"', '"\\u0073kipped"'];

type Member = readonly [fc.Arbitrary<string>, fc.Arbitrary<string>];

function members(needed: readonly Member[], others: readonly Member[]): fc.Arbitrary<string> {
  return fc
    .subarray([...others])
    .chain(some => fc.shuffledSubarray([...needed, ...some], { minLength: needed.length + some.length }))
    .chain(all => fc.tuple(...all.map(([name, value]) => fc.tuple(name, value).chain(([k, v]) => odd([k, ':', v])))))
    .chain(all => odd(['{', ...listed(all), '}']));
}

const task = (n: number) =>
  members(
    [
      [key('id'), fc.constant(`"T${n}"`)],
      [key('title'), text],
    ],
    [
      [key('description'), text],
      [key('status'), fc.constantFrom(...statuses)],
      [key('attempts'), fc.constantFrom('0', '2', '2.0', '9')],
      [key('max_attempts'), fc.constantFrom('0', '3', '1e1')],
      [key('blocked'), fc.constantFrom('true', 'false')],
      [key('skipped'), fc.constantFrom('true', 'false')],
      [key('dependencies'), fc.constant('[]')],
      [fc.constant('"extra"'), fc.constantFrom('{"status": "pending", "attempts": 1}', '[{"blocked":true}]', 'null')],
    ],
  );

const documents = fc
  .integer({ min: 1, max: 4 })
  .chain(count => fc.tuple(...Array.from({ length: count }, (_, n) => task(n))))
  .chain(tasks => odd(['[', ...listed(tasks), ']']))
  .chain(tasks =>
    members(
      [
        [key('project_name'), text],
        [key('tasks'), fc.constant(tasks)],
      ],
      [
        [fc.constant('"status"'), fc.constant('"pending"')],
        [fc.constant('"archive"'), fc.constant('{"tasks": [{"id": "T1", "status": "pending"}]}')],
      ],
    ),
  )
  .chain(body =>
    fc.tuple(fc.constantFrom('', '\uFEFF'), fc.constantFrom('', '\n', '\r\n')).map(([mark, end]) => mark + body + end),
  );

const says = fc
  .record(
    {
      done: fc.constant(false),
      skipped: fc.constant(false),
      status: fc.constantFrom('pending', 'active', 'done', 'blocked', 'skipped'),
    },
    { requiredKeys: ['done', 'skipped', 'status'] },
  )
  .chain(mark =>
    fc.constantFrom<Omit<TaskMark, 'id'>>(
      mark,
      { ...mark, attempts: 0 },
      { ...mark, attempts: 2 },
      { ...mark, attempts: 12 },
    ),
  );

function apply({ blocked: _blocked, attemptsBefore, ...rest }: TaskSpec, mark: TaskMark): TaskSpec {
  const attempts = Math.min(mark.attempts ?? attemptsBefore ?? 0, rest.attemptsMax ?? Number.POSITIVE_INFINITY);
  return {
    ...rest,
    done: mark.status === 'done',
    skipped: mark.status === 'skipped',
    ...(mark.status === 'blocked' ? { blocked: true } : {}),
    ...(attempts > 0 ? { attemptsBefore: attempts } : {}),
  };
}

const ourMember =
  /[\s,]*"(?:(?:s|\\u0073)tatus|(?:a|\\u0061)ttempts|(?:b|\\u0062)locked|(?:s|\\u0073)kipped)"\s*:\s*(?:"[\\\w]*"|[\d.]+|true|false)/g;

describeLaws('tasks.json', {
  format: projectTasks,
  texts: documents,
  says,
  apply,
  bare: source => source.replaceAll(ourMember, ''),
});

/** What is not ours in a task, also deep inside it. */
function foreign(source: string): unknown {
  const document = JSON.parse(source.replace(/^\uFEFF/, '')) as { tasks: Record<string, unknown>[] };
  return {
    ...document,
    tasks: document.tasks.map(({ status: _s, attempts: _a, blocked: _b, skipped: _k, ...rest }) => rest),
  };
}

const indexOf = (text: string) => projectTasks.markWithIndex(text, undefined, []).index;

describe('for any tasks.json and any marks, beyond the laws of all formats', () => {
  const cases = fc.tuple(documents, fc.array(fc.tuple(fc.nat(5), says), { maxLength: 5 }));
  const property = (check: (source: string, marks: readonly TaskMark[]) => void) =>
    fc.assert(
      fc.property(cases, ([source, chosen]) =>
        check(
          source,
          chosen.map(([n, mark]) => ({ id: `T${n}`, ...mark })),
        ),
      ),
      { numRuns: 60, seed: 5 },
    );

  it('all other values are the same, also those that bear our names deeper down', () => {
    property((source, marks) => {
      expect(foreign(projectTasks.mark(source, marks))).toEqual(foreign(source));
    });
  });

  it('the index that marking returns is the index of the text that it returns', () => {
    property((source, marks) => {
      const result = projectTasks.markWithIndex(source, indexOf(source), marks);
      expect(result.index).toEqual(indexOf(result.text));
    });
  });

  it('marks one by one over the index of each step are read as all at once', () => {
    property((source, marks) => {
      let step = { text: source, index: indexOf(source) };
      for (const mark of marks) step = projectTasks.markWithIndex(step.text, step.index, [mark]);
      const all = projectTasks.parse(projectTasks.mark(source, marks));
      const one = projectTasks.parse(step.text);
      // An attempt that an earlier mark counted stays when a later one does not speak of attempts.
      if (!marks.some(mark => mark.attempts === undefined)) expect(one).toEqual(all);
      expect(one.ok).toBe(all.ok);
    });
  });
});

describe('given a task without some of our keys', () => {
  const marked = (source: string, mark: Partial<TaskMark>) =>
    projectTasks.mark(source, [{ id: 'a', done: false, skipped: false, ...mark }]);
  const wide = '{"project_name": "x", "tasks": [\n  {\n    "id" : "a",\n    "title" : "b"\n  }\n]}\n';

  it('then they are added in its own style, behind the status or else the id', () => {
    expect(marked(wide, { status: 'blocked', attempts: 2 })).toBe(
      wide.replace('"id" : "a",', '"id" : "a",\n    "status" : "blocked",\n    "attempts" : 2,\n    "blocked" : true,'),
    );
    const dense = '{"project_name":"x","tasks":[{"title":"b","id":"a","status":"pending"}]}';
    expect(marked(dense, { status: 'skipped' })).toBe(
      dense.replace('"status":"pending"', '"status":"blocked","blocked":true,"skipped":true'),
    );
  });

  it('then nothing is added that a missing key says already', () => {
    expect(marked(wide, { status: 'pending', attempts: 0 })).toBe(wide);
    expect(marked(wide, {})).toBe(wide);
  });

  it('then a mark without a status goes by done and skipped', () => {
    expect(marked(wide, { done: true })).toContain('"status" : "completed"');
    expect(marked(wide, { skipped: true })).toContain('"skipped" : true');
  });
});

it('given a text that is no JSON, or an id that nobody has, then it stays as it is', () => {
  const marks = [{ id: 'a', done: true, skipped: false }];
  expect(projectTasks.mark('{"tasks": [{"id": "a"', marks)).toBe('{"tasks": [{"id": "a"');
  expect(projectTasks.mark('{"tasks": [{"id": "b"}]}', marks)).toBe('{"tasks": [{"id": "b"}]}');
});
