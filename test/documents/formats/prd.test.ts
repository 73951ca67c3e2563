// Proves that a PRD.json is read strictly: each broken rule is a sentence with a place and a remedy.
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/documents/document.ts';
import { prd } from '../../../src/documents/formats/prd.ts';

const story = (id: unknown = 'US-001', changes: object = {}) => ({
  id,
  title: 'Title',
  description: 'Description',
  criteria: ['It works'],
  passes: false,
  ...changes,
});
const backlog = (stories: readonly unknown[], changes: object = {}) =>
  JSON.stringify({ project: 'shop', description: 'A shop', userStories: stories, ...changes }, null, 2);

function problemsOf(text: string): readonly Problem[] {
  const parsed = prd.parse(text);
  return parsed.ok ? [] : parsed.problems;
}
const messages = (text: string) => problemsOf(text).map(problem => problem.message);

function documentOf(text: string) {
  const parsed = prd.parse(text);
  if (!parsed.ok) throw new Error(parsed.problems.map(problem => problem.message).join('\n'));
  return parsed.document;
}

describe('given a good backlog', () => {
  it('then stories become tasks, with what the document says about them', () => {
    const text = backlog([story('a', { passes: true }), story('b', { skipped: true, depends_on: ['a', 'a'] })]);
    const document = documentOf(text);
    expect(document).toMatchObject({ project: 'shop', goal: 'A shop', notices: [] });
    expect(document.tasks).toEqual([
      {
        id: 'a',
        title: 'Title',
        description: 'Description',
        criteria: ['It works'],
        dependsOn: [],
        done: true,
        skipped: false,
      },
      {
        id: 'b',
        title: 'Title',
        description: 'Description',
        criteria: ['It works'],
        dependsOn: ['a'],
        done: false,
        skipped: true,
      },
    ]);
  });

  it('then a story may say that its work changes tests, and no other has that right', () => {
    const stories = [story('a', { mayChangeTests: true }), story('b', { mayChangeTests: false }), story('c')];
    expect(documentOf(backlog(stories)).tasks.map(task => task.mayChangeTests)).toEqual([true, undefined, undefined]);
    expect(messages(backlog([story('a', { mayChangeTests: 'yes' })]))).toEqual([
      'userStories[0].mayChangeTests must be true or false, not "yes".',
    ]);
  });

  it('then the project is the goal where no description says more', () => {
    expect(documentOf(backlog([story()], { description: undefined })).goal).toBe('shop');
    expect(documentOf(backlog([story()], { description: ' ' })).goal).toBe('shop');
  });

  it('then a BOM, CRLF and keys of other tools are no problem', () => {
    const text = backlog([story('a', { owner: { name: 'Ann', passes: 'perhaps' } })], { $schema: 'x', version: 3 });
    expect(problemsOf(`\uFEFF${text.replaceAll('\n', '\r\n')}`)).toEqual([]);
  });

  it('then it is recognised by name and content, also when it is cut off', () => {
    expect(prd.recognises('PRD.json', backlog([story()]))).toBe(true);
    expect(prd.recognises('backlog.JSON', '{"userStories" : [ {"id"')).toBe(true);
    expect(prd.recognises('PRD.md', backlog([story()]))).toBe(false);
    expect(prd.recognises('package.json', '{"name": "userStories"}')).toBe(false);
  });
});

describe('given a text that is no JSON', () => {
  it('then the fault has a line and a column', () => {
    expect(problemsOf('{\r\n  "project": "x",\r\n  "userStories": [1 2]\r\n}')).toMatchObject([
      { line: 3, column: 21 },
    ]);
  });

  it('then a truncated file is told by its end', () => {
    const text = '{\n  "project": "shop",\n  "userSto';
    expect(problemsOf(text)).toMatchObject([
      { line: 3, column: 11, message: 'The text ends before its JSON is complete.' },
    ]);
  });

  it('then the markers of a failed merge are named (B42)', () => {
    const text = backlog([story()]).replace('      "passes"', '<<<<<<< HEAD\n      "passes"');
    expect(problemsOf(text)).toMatchObject([
      { message: expect.stringMatching(/unfinished merge/), column: 1, line: 12 },
    ]);
  });

  it('then markers inside a text are just text', () => {
    expect(problemsOf(backlog([story('a', { title: '<<<<<<< HEAD', description: '\n=======\n' })]))).toEqual([]);
  });

  it('then an empty file, a million brackets and 64 MB of space are refused', () => {
    expect(messages('')).toEqual(['The document is empty.']);
    expect(messages('['.repeat(1_000_000))).toEqual(['The JSON is nested deeper than 100 levels.']);
    expect(messages(' '.repeat(64 * 1024 * 1024 + 1))).toEqual(['The document is larger than 64 MB.']);
  });
});

describe('given keys that could mislead', () => {
  it('then the same key twice in the document or in a story is refused', () => {
    const text = backlog([story()]).replace('"passes": false', '"passes": false, "p\\u0061sses": true');
    expect(problemsOf(text)).toMatchObject([{ message: 'The key "passes" stands twice.', line: 12, column: 24 }]);
    expect(messages(backlog([story()]).replace('"project"', '"userStories": [], "project"'))).toContain(
      'The key "userStories" stands twice.',
    );
  });

  it('then two stories may of course have the same keys, and so may what lies deeper', () => {
    const deeper = backlog([story('a'), story('b')]).replace('"passes"', '"x": {"y": 1, "y": 2}, "passes"');
    expect(problemsOf(deeper)).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'prototype'])('then %s is refused at any depth', key => {
    const text = backlog([story()]).replace('"passes"', `"x": [{"${key}": {}}], "passes"`);
    expect(messages(text)).toEqual([`The key "${key}" is not allowed.`]);
  });
});

describe('given a value of the wrong kind', () => {
  const wrong: readonly [string, string, RegExp | string][] = [
    [
      'passes as text (B38)',
      backlog([story('a', { passes: 'false' })]),
      'userStories[0].passes must be true or false, not "false".',
    ],
    ['passes as 0', backlog([story('a', { passes: 0 })]), 'userStories[0].passes must be true or false, not 0.'],
    [
      'passes as null',
      backlog([story('a', { passes: null })]),
      'userStories[0].passes must be true or false, not null.',
    ],
    [
      'skipped as text',
      backlog([story('a', { skipped: 'no' })]),
      'userStories[0].skipped must be true or false, not "no".',
    ],
    ['no passes', backlog([story('a', { passes: undefined })]), 'userStories[0].passes is missing.'],
    ['no title', backlog([story('a', { title: undefined })]), 'userStories[0].title is missing.'],
    ['blank title', backlog([story('a', { title: ' ' })]), 'userStories[0].title is empty.'],
    [
      'a list as description',
      backlog([story('a', { description: ['x'] })]),
      /description must be text in double quotes, not a list/,
    ],
    [
      'criteria as text',
      backlog([story('a', { criteria: 'works' })]),
      'userStories[0].criteria must be a list, not "works".',
    ],
    [
      'a criterion as object',
      backlog([story('a', { criteria: ['x', {}] })]),
      /criteria\[1\] must be text in double quotes, not an object/,
    ],
    ['a blank criterion', backlog([story('a', { criteria: [''] })]), 'userStories[0].criteria[0] is empty.'],
    ['no criteria (B39)', backlog([story('a', { criteria: [] })]), /is empty: how will we know it is done\?/],
    [
      'depends_on as text',
      backlog([story('a', { depends_on: 'b' })]),
      'userStories[0].depends_on must be a list, not "b".',
    ],
    ['a number to depend on', backlog([story('a', { depends_on: [7] })]), /depends_on\[0\] must be an id, not 7/],
    ['a story as text', backlog(['x']), 'userStories[0] must be an object, not "x".'],
    ['no stories', backlog([]), 'userStories is empty.'],
    ['stories as an object', backlog([], { userStories: {} }), 'userStories must be a list, not an object.'],
    ['stories missing', '{"project": "x"}', 'userStories is missing.'],
    ['an empty project', backlog([story()], { project: '' }), 'project is empty.'],
    ['a project as number', backlog([story()], { project: 1 }), 'project must be text in double quotes, not 1.'],
    ['a list as document', '[]', 'The document must be an object, not an empty list.'],
  ];
  it.each(wrong)('then %s is refused with its path', (_name, text, message) => {
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]!.message).toMatch(message);
    expect(problems[0]!.fix).toMatch(/\S\.$/);
    expect(problems[0]!.line).toBeGreaterThan(0);
  });

  it('then the place is that of the value', () => {
    expect(problemsOf(backlog([story('a'), story('b', { passes: 'x' })]))).toMatchObject([{ line: 21, column: 17 }]);
  });

  it('then a story may lack criteria only when asked for', () => {
    const text = backlog([story('a', { criteria: [] }), story('b', { criteria: undefined })]);
    expect(problemsOf(text)).toHaveLength(2);
    expect(prd.parse(text, { allowEmptyCriteria: true }).ok).toBe(true);
  });

  it('then all problems come at once, and beyond twenty they are counted', () => {
    const bad = story('a b', { title: 1, passes: 'x' });
    expect(problemsOf(backlog([bad, bad]))).toHaveLength(6);
    const many = problemsOf(backlog(Array.from({ length: 50 }, () => bad)));
    expect(many).toHaveLength(20);
    expect(many.at(-1)!.message).toBe('131 more problems are not listed.');
  });
});

describe('given ids', () => {
  const hostile = [
    'US-001\n',
    '\u001b[31mred',
    '<script>',
    '../x',
    'a/b',
    'x'.repeat(10_000),
    'a..b',
    '',
    '-a',
    'US 1',
    'US-é',
    'US-e\u0301',
  ];
  it.each(hostile)('then %j is refused by pattern and never shown raw (B37)', id => {
    const [problem, ...others] = problemsOf(backlog([story(id)]));
    expect(others).toEqual([]);
    expect(problem!.message).toMatch(/^userStories\[0\]\.id /);
    expect(problem!.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(problem!.message.length).toBeLessThan(120);
  });

  it.each(['US-001', 'a', '1.2.3', 'x_y-z', 'x'.repeat(64)])('then %s is fine', id => {
    expect(problemsOf(backlog([story(id)]))).toEqual([]);
  });

  it('then no two may be the same, not even by case (B34)', () => {
    expect(messages(backlog([story('US-1'), story('US-1'), story('us-1')]))).toEqual([
      'userStories[1].id "US-1" is also the id of userStories[0].',
      'userStories[2].id "us-1" differs only by case from "US-1", the id of userStories[0].',
    ]);
  });
});

describe('given dependencies (B35)', () => {
  it('then a missing story and the story itself are refused', () => {
    expect(messages(backlog([story('a', { depends_on: ['ghost\u001b', 'a'] })]))).toEqual([
      'userStories[0].depends_on names "ghost\\u001b", which no story has as its id.',
      'userStories[0].depends_on names "a", the story itself.',
    ]);
  });

  it('then each cycle is printed', () => {
    const pair = (one: string, other: string) => [
      story(one, { depends_on: [other] }),
      story(other, { depends_on: [one] }),
    ];
    expect(messages(backlog([...pair('a', 'b'), ...pair('c', 'd')]))).toEqual([
      'These 2 stories wait for each other: a -> b -> a.',
      'These 2 stories wait for each other: c -> d -> c.',
    ]);
  });

  it('then a cycle of a thousand is printed in short', () => {
    const ring = Array.from({ length: 1000 }, (_, n) => story(`t${n}`, { depends_on: [`t${(n + 1) % 1000}`] }));
    expect(messages(backlog(ring))).toEqual([
      'These 1000 stories wait for each other: t0 -> t1 -> t2 -> t3 -> … 994 more … -> t998 -> t999 -> t0.',
    ]);
  });

  it('then a chain of 10,000 is fine', () => {
    const chain = Array.from({ length: 10_000 }, (_, n) =>
      story(`t${n}`, n === 0 ? {} : { depends_on: [`t${n - 1}`] }),
    );
    expect(documentOf(backlog(chain)).tasks).toHaveLength(10_000);
  });
});

describe('given texts that hide something (B50)', () => {
  it.each([
    ['a direction change', 'abc\u202edef', /userStories\[0\]\.title holds .* \(U\+202E\)/],
    ['a zero-width space', 'a\u200bb', /U\+200B/],
    ['tag characters', 'hi\u{e0041}', /U\+E0041/],
    ['an escape sequence', '\u001b[2J', /control character \(U\+001B\)/],
    ['a joiner between letters', 'pass\u200dword', /U\+200D/],
    ['text in the wrong encoding', 'the â€” dash', /another encoding/],
  ])('then %s is a notice, not an error', (_name, title, notice) => {
    expect(documentOf(backlog([story('a', { title })])).notices).toEqual([expect.stringMatching(notice)]);
  });

  it.each(['👩‍👩‍👧 family', 'می‌خواهم', 'naïve café — “quoted”', 'two\nlines\tand a tab'])(
    'then %j is plain text',
    title => {
      expect(documentOf(backlog([story('a', { title })])).notices).toEqual([]);
    },
  );
});

// A key that is nearly one of ours is told, never obeyed; a key of the writer's own is left alone.

function noticesOf(story: object, document: object = {}): readonly string[] {
  const full = { id: 'a', title: 'T', description: 'D', criteria: ['C'], passes: false, ...story };
  const parsed = prd.parse(
    JSON.stringify({ project: 'shop', description: 'A shop', userStories: [full], ...document }),
  );
  if (!parsed.ok) throw new Error(parsed.problems.map(problem => problem.message).join('\n'));
  return parsed.document.notices;
}

it.each([
  ['dependsOn', 'depends_on'],
  ['depends-on', 'depends_on'],
  ['depend_on', 'depends_on'],
  ['Skipped', 'skipped'],
  ['skiped', 'skipped'],
  ['may_change_tests', 'mayChangeTests'],
  ['passed', 'passes'],
  ['crtieria', 'criteria'],
])('given a story with %j, then %j is named', (key, meant) => {
  expect(noticesOf({ [key]: true })).toEqual([
    `userStories[0] has a key "${key}", which is ignored: write "${meant}".`,
  ]);
});

it('given a document with a slip of its own, then it is named too', () => {
  expect(noticesOf({}, { Descriptions: 'x' })).toEqual([
    'The document has a key "Descriptions", which is ignored: write "description".',
  ]);
});

it.each(['priority', 'notes', 'estimate', 'ids', 'depends', '', '__proto__x', 'x'.repeat(10_000)])(
  'given a story with %j, then nothing is said',
  key => expect(noticesOf({ [key]: 1 })).toEqual([]),
);
