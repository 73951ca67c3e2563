// Proves that a tasks.json is read as seed 002 writes it, with defaults for what is left out and a place for what is wrong.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ParsedDocument, Problem } from '../../../src/documents/document.ts';
import { projectTasks } from '../../../src/documents/formats/tasks.ts';

const task = (id: unknown = 'T1', changes: object = {}) => ({ id, title: 'Title', ...changes });
const list = (tasks: readonly unknown[], changes: object = {}) =>
  JSON.stringify({ project_name: 'shop', version: 1, tasks, ...changes }, null, 2);

function problemsOf(text: string): readonly Problem[] {
  const parsed = projectTasks.parse(text);
  return parsed.ok ? [] : parsed.problems;
}
const messages = (text: string) => problemsOf(text).map(problem => problem.message);

function documentOf(text: string): ParsedDocument {
  const parsed = projectTasks.parse(text);
  if (!parsed.ok) throw new Error(parsed.problems.map(problem => problem.message).join('\n'));
  return parsed.document;
}
const first = (changes: object) => documentOf(list([task('T1', changes)])).tasks[0]!;
const noticesOf = (changes: object) => documentOf(list([task('T1', changes)])).notices;

const bareTask = {
  id: 'T1',
  title: 'Title',
  description: '',
  criteria: [],
  dependsOn: [],
  done: false,
  skipped: false,
};

describe('given the example of seed 002', () => {
  const text = `{
  "project_name": "example-project",
  "version": 1,
  "tasks": [
    {
      "id": "T1",
      "title": "Create CLI skeleton",
      "description": "Implement base CLI using argparse",
      "status": "pending",
      "dependencies": [],
      "attempts": 0,
      "max_attempts": 3,
      "blocked": false
    }
  ]
}
`;

  it('then it is recognised and read', () => {
    expect(projectTasks.recognises('tasks.json', text)).toBe(true);
    expect(documentOf(text)).toEqual({
      project: 'example-project',
      goal: 'example-project',
      notices: [],
      tasks: [
        {
          id: 'T1',
          title: 'Create CLI skeleton',
          description: 'Implement base CLI using argparse',
          criteria: [],
          dependsOn: [],
          done: false,
          skipped: false,
          attemptsMax: 3,
        },
      ],
    });
  });

  it('then a mark writes its status and attempts, and nothing else', () => {
    const marked = projectTasks.mark(text, [{ id: 'T1', done: false, skipped: false, status: 'active', attempts: 1 }]);
    expect(marked).toBe(
      text.replace('"status": "pending"', '"status": "in_progress"').replace('"attempts": 0', '"attempts": 1'),
    );
  });
});

describe('given documents of other kinds', () => {
  it('then those of editors and of other modes are not taken for one', () => {
    expect(projectTasks.recognises('tasks.json', '{"version": "2.0.0", "tasks": [{"label": "build"}]}')).toBe(false);
    expect(projectTasks.recognises('PRD.json', '{"project": "x", "userStories": []}')).toBe(false);
    expect(projectTasks.recognises('package.json', '{"dependencies": {}, "tasks": "x"}')).toBe(false);
    expect(projectTasks.recognises('tasks.yaml', list([task()]))).toBe(false);
  });

  it('then a broken one is still recognised, so that its faults are told', () => {
    expect(projectTasks.recognises('a.JSON', '{"project_name": "x", "tasks" : [ {"id"')).toBe(true);
  });
});

describe('given a task that leaves things out', () => {
  it('then the rest has defaults', () => {
    expect(first({})).toEqual(bareTask);
    expect(documentOf('{"project_name": "x", "tasks": [{"id": "a", "title": "b"}]}').notices).toEqual([]);
  });

  it('then what it may have beyond the seed is read', () => {
    expect(first({ criteria: ['it works'], mayChangeTests: true })).toEqual({
      ...bareTask,
      criteria: ['it works'],
      mayChangeTests: true,
    });
  });

  it('then another version is a notice', () => {
    expect(documentOf(list([task()], { version: '2' })).notices).toEqual(['version is "2"; it is read as version 1.']);
  });
});

describe('given a status', () => {
  it.each([
    ['pending', {}],
    ['in_progress', {}],
    ['completed', { done: true }],
    ['blocked', { blocked: true }],
  ])('then %s is read without a word', (status, expected) => {
    expect(first({ status })).toEqual({ ...bareTask, ...expected });
    expect(noticesOf({ status })).toEqual([]);
  });

  it.each([
    ['active', 'in_progress', {}],
    ['done', 'completed', { done: true }],
    ['skipped', 'blocked', { blocked: true }],
  ])('then our own word %s is read as %s, and said', (status, meant, expected) => {
    expect(first({ status })).toEqual({ ...bareTask, ...expected });
    expect(noticesOf({ status })).toEqual([`tasks[0].status "${status}" is read as "${meant}".`]);
  });

  it('then blocked: true blocks an open task, and skipped: true says that a person left it out', () => {
    expect(first({ status: 'pending', blocked: true })).toEqual({ ...bareTask, blocked: true });
    expect(first({ status: 'blocked', blocked: true, skipped: true })).toEqual({ ...bareTask, skipped: true });
  });

  it('then completed goes before blocked, and the contradiction is said', () => {
    expect(first({ status: 'completed', blocked: true })).toEqual({ ...bareTask, done: true });
    expect(noticesOf({ status: 'completed', blocked: true })).toEqual([
      'tasks[0] is completed and also blocked: it is read as completed.',
    ]);
  });
});

describe('given numbers of attempts that cannot be meant (B49)', () => {
  it.each([
    [{ max_attempts: 0 }, {}, "tasks[0].max_attempts is 0: the loop's own limit of attempts holds instead."],
    [{ max_attempts: -3 }, {}, "tasks[0].max_attempts is -3: the loop's own limit of attempts holds instead."],
    [{ attempts: -1 }, {}, 'tasks[0].attempts is -1: it is read as 0.'],
    [
      { attempts: 7, max_attempts: 3 },
      { attemptsBefore: 3, attemptsMax: 3 },
      'tasks[0].attempts is 7, more than max_attempts: it is read as 3, so that no attempt is left.',
    ],
  ])('then %j is brought into order with a warning', (changes, expected, notice) => {
    expect(first(changes)).toEqual({ ...bareTask, ...expected });
    expect(noticesOf(changes)).toEqual([notice]);
  });

  it('then good ones are taken as they are', () => {
    expect(first({ attempts: 2, max_attempts: 3 })).toEqual({ ...bareTask, attemptsBefore: 2, attemptsMax: 3 });
    expect(noticesOf({ attempts: 3, max_attempts: 3 })).toEqual([]);
  });
});

describe('given a value of the wrong kind', () => {
  const wrong: readonly [string, string, RegExp | string][] = [
    [
      'a status nobody knows',
      list([task('a', { status: 'wip' })]),
      /tasks\[0\]\.status must be "pending", .*, not "wip"\./,
    ],
    ['status null', list([task('a', { status: null })]), /status must be .*, not null/],
    [
      'blocked as text (B38)',
      list([task('a', { blocked: 'false' })]),
      'tasks[0].blocked must be true or false, not "false".',
    ],
    ['skipped as 0 (B38)', list([task('a', { skipped: 0 })]), 'tasks[0].skipped must be true or false, not 0.'],
    [
      'attempts as text',
      list([task('a', { attempts: '1' })]),
      /attempts must be a whole number up to 1000000, not "1"/,
    ],
    ['half an attempt', list([task('a', { attempts: 0.5 })]), /attempts must be a whole number/],
    ['1e300 attempts', list([task('a', { max_attempts: 1e300 })]), /max_attempts must be a whole number/],
    [
      'dependencies as text',
      list([task('a', { dependencies: 'b' })]),
      'tasks[0].dependencies must be a list, not "b".',
    ],
    ['dependencies null', list([task('a', { dependencies: null })]), 'tasks[0].dependencies must be a list, not null.'],
    ['a number to depend on', list([task('a', { dependencies: [7] })]), /dependencies\[0\] must be an id, not 7/],
    ['an id as number', list([task(1)]), 'tasks[0].id must be text in double quotes, not 1.'],
    ['no id', list([{ title: 'x' }]), 'tasks[0].id is missing.'],
    ['no title', list([{ id: 'a' }]), 'tasks[0].title is missing.'],
    ['a blank title', list([task('a', { title: ' ' })]), 'tasks[0].title is empty.'],
    ['a list as description', list([task('a', { description: [] })]), /description must be text .*, not an empty list/],
    ['an empty criterion', list([task('a', { criteria: [''] })]), /criteria\[0\] must be text/],
    ['a task as text', list(['x']), 'tasks[0] must be an object, not "x".'],
    ['no tasks', list([]), 'tasks is empty.'],
    ['tasks as an object', list([], { tasks: {} }), 'tasks must be a list, not an object.'],
    ['tasks missing', '{"project_name": "x"}', 'tasks is missing.'],
    ['no project', '{"tasks": [{"id": "a", "title": "b"}]}', 'project_name is missing.'],
    ['a list as document', '[]', 'The document must be an object, not an empty list.'],
  ];
  it.each(wrong)('then %s is refused with its path, a place and a remedy', (_name, text, message) => {
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]!.message).toMatch(message);
    expect(problems[0]!.fix).toMatch(/\S\.$/);
    expect(problems[0]!.line).toBeGreaterThan(0);
  });

  it('then the place is that of the value, and all problems come at once', () => {
    const text = list([task('a'), task('b', { status: 'x', blocked: 'no' })]);
    expect(problemsOf(text)).toMatchObject([
      { line: 12, column: 17 },
      { line: 13, column: 18 },
    ]);
  });
});

describe('given a text that is no JSON, or that could mislead', () => {
  it('then a fault has a line and a column, and the markers of a merge are named (B42)', () => {
    expect(problemsOf('{\r\n  "tasks": [1 2]\r\n}')).toMatchObject([{ line: 2, column: 15 }]);
    const text = list([task()]).replace('      "title"', '<<<<<<< HEAD\n      "title"');
    expect(problemsOf(text)).toMatchObject([
      { message: expect.stringMatching(/unfinished merge/), line: 7, column: 1 },
    ]);
  });

  it('then a key that stands twice and prototype keys are refused', () => {
    const twice = list([task()]).replace('"title"', '"status": "pending", "st\\u0061tus": "completed", "title"');
    expect(messages(twice)).toEqual(['The key "status" stands twice.']);
    expect(messages(list([task()]).replace('"title"', '"x": {"__proto__": {}}, "title"'))).toEqual([
      'The key "__proto__" is not allowed.',
    ]);
  });

  it('then an empty file, deep nesting and too much text are refused', () => {
    expect(messages('')).toEqual(['The document is empty.']);
    expect(messages('['.repeat(200))).toEqual(['The JSON is nested deeper than 100 levels.']);
    expect(messages(' '.repeat(64 * 1024 * 1024 + 1))).toEqual(['The document is larger than 64 MB.']);
  });

  it('then hidden characters in its texts are a notice (B50)', () => {
    expect(noticesOf({ description: 'a\u202eb' })).toEqual([expect.stringMatching(/description holds .*U\+202E/)]);
  });
});

describe('given ids and dependencies', () => {
  it.each(['T1\n', '\u001b[31mred', '<script>', '../x', 'x'.repeat(65), 'a..b', '-a', 'T-é'])(
    'then the id %j is refused by pattern and never shown raw (B37)',
    id => {
      const [problem, ...others] = problemsOf(list([task(id)]));
      expect(others).toEqual([]);
      expect(problem!.message).toMatch(/^tasks\[0\]\.id /);
      expect(problem!.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      expect(problem!.message.length).toBeLessThan(120);
    },
  );

  it('then no two ids may be the same, not even by case (B34)', () => {
    expect(messages(list([task('T1'), task('T1'), task('t1')]))).toEqual([
      'tasks[1].id "T1" is also the id of tasks[0].',
      'tasks[2].id "t1" differs only by case from "T1", the id of tasks[0].',
    ]);
  });

  it('then what does not exist, the task itself and circles are refused (B35)', () => {
    expect(messages(list([task('a', { dependencies: ['ghost', 'a'] })]))).toEqual([
      'tasks[0].dependencies names "ghost", which no task has as its id.',
      'tasks[0].dependencies names "a", the task itself.',
    ]);
    const ring = Array.from({ length: 1000 }, (_, n) => task(`t${n}`, { dependencies: [`t${(n + 1) % 1000}`] }));
    expect(messages(list(ring))).toEqual([
      'These 1000 tasks wait for each other: t0 -> t1 -> t2 -> t3 -> … 994 more … -> t998 -> t999 -> t0.',
    ]);
  });

  it('then 100,000 tasks in a chain 10,000 deep are read (B36)', () => {
    const tasks = Array.from({ length: 100_000 }, (_, n) =>
      task(`t${n}`, n % 10_000 === 0 ? {} : { dependencies: [`t${n - 1}`] }),
    );
    expect(documentOf(JSON.stringify({ project_name: 'big', tasks })).tasks).toHaveLength(100_000);
  });
});

describe('given the page docs/formats/tasks.md', () => {
  const page = readFileSync(new URL('../../../docs/formats/tasks.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map(([, kind, code]) => ({ kind, code: code! }));

  it('then its examples parse', () => {
    const examples = blocks.filter(block => block.kind === 'json').map(block => documentOf(block.code));
    expect(examples.map(example => example.tasks.map(one => one.id))).toEqual([
      ['T1', 'T2'],
      ['T1', 'T2', 'T3'],
    ]);
  });

  it('then the second is what marks make of the first', () => {
    const [before, after] = blocks.filter(block => block.kind === 'json');
    const withT3 = documentOf(after!.code).tasks.find(one => one.id === 'T3');
    expect(withT3).toMatchObject({ skipped: true });
    const marks = [
      { id: 'T1', done: true, skipped: false, status: 'done', attempts: 1 },
      { id: 'T2', done: false, skipped: false, status: 'blocked', attempts: 3 },
    ] as const;
    const marked = JSON.parse(projectTasks.mark(before!.code, marks)) as { tasks: unknown[] };
    expect(marked.tasks).toEqual((JSON.parse(after!.code) as { tasks: unknown[] }).tasks.slice(0, 2));
  });

  it('then its problems are those that are told', () => {
    const told = problemsOf(
      '{"project_name": "shop", "tasks": [\n  {"id": "T1", "title": "", "status": "wip", "blocked": "no", "dependencies": ["T9"]}\n]}',
    );
    const lines = told.map(({ line, column, message, fix }) => `tasks.json:${line}:${column}: ${message} ${fix}`);
    expect(
      blocks
        .find(block => block.kind === '')!
        .code.trim()
        .split('\n')
        .map(line => line.trim()),
    ).toEqual(lines.map((line, row) => (row === 0 ? `ralph: ${line}` : line)));
  });
});
