// Proves that another tool's loop file is read as it is: its prompt, its defaults, and `active` as the only thing we change.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ralphLoop } from '../../../src/documents/formats/ralph-loop.ts';
import { describeLaws, dressed } from './properties.ts';

// Seed 001, part 1.2.
const seedExample = `---
active: true
iteration: 1
max_iterations: 50
completion_promise: "DONE"
started_at: "2026-01-15T12:00:00Z"
---

Your task prompt goes here
`;
const done = { id: 'prompt', done: true, skipped: false };

function documentOf(text: string) {
  const parsed = ralphLoop.parse(text);
  if (!parsed.ok) throw new Error(parsed.problems.map(problem => problem.message).join('\n'));
  return parsed.document;
}

it("given the seed's example, then it is one open task with a promise and a limit", () => {
  expect(documentOf(seedExample)).toEqual({
    project: 'Your task prompt goes here',
    goal: 'Your task prompt goes here',
    notices: [],
    defaults: { promise: 'DONE', iterationsMax: 50 },
    tasks: [
      {
        id: 'prompt',
        title: 'Your task prompt goes here',
        description: 'Your task prompt goes here',
        criteria: [],
        dependsOn: [],
        done: false,
        skipped: false,
      },
    ],
  });
  expect(ralphLoop.mark(seedExample, [done])).toBe(seedExample.replace('active: true', 'active: false'));
});

it('given rules in the prompt, then they belong to it', () => {
  const { tasks } = documentOf('---\nactive: false\n---\n# Do it\n---\nand\n\n---\n');
  expect(tasks).toMatchObject([{ title: 'Do it', description: '# Do it\n---\nand\n\n---', done: true }]);
});

it.each([
  ['max_iterations: 0\ncompletion_promise: null', { iterationsMax: null }],
  ['max_iterations: 7', { iterationsMax: 7 }],
  ['completion_promise:  ALL TESTS PASS  ', { promise: 'ALL TESTS PASS' }],
  ['session_id: x', undefined],
])('given %j, then the defaults are %j', (matter, defaults) => {
  expect(documentOf(`---\n${matter}\n---\nDo it`).defaults).toEqual(defaults);
});

it('given no `active`, then it is open, and marking adds the key', () => {
  expect(ralphLoop.mark('---\r\niteration: 1\r\n---\r\nDo', [done])).toBe(
    '---\r\niteration: 1\r\nactive: false\r\n---\r\nDo',
  );
  expect(ralphLoop.mark('---\niteration: 1\n---\nDo', [{ ...done, done: false }])).toBe('---\niteration: 1\n---\nDo');
});

it.each([
  ['no front matter', 'Do it', [1, 'The document has no front matter.']],
  ['a front matter without end', '---\nactive: true\n', [1, 'The front matter is never closed.']],
  ['active as text (B38)', '---\nactive: "true"\n---\nDo', [2, 'active must be true or false, not "true".']],
  ['active as 0 (B38)', '---\nactive: 0\n---\nDo', [2, 'active must be true or false, not 0.']],
  ['iteration as text', '---\niteration: one\n---\nDo', [2, 'iteration must be a whole number, not "one".']],
  [
    'a negative limit',
    '---\na: 1\nmax_iterations: -1\n---\nDo',
    [3, 'max_iterations must be a whole number up to 1,000,000, not -1.'],
  ],
  [
    'a promise that is a number',
    '---\ncompletion_promise: 42\n---\nDo',
    [2, 'completion_promise must be text, not 42.'],
  ],
  ['no prompt', '---\nactive: true\n---\n \n', [4, 'There is no prompt below the front matter.']],
  [
    'a failed merge (B42)',
    '---\nactive: true\n---\n<<<<<<< a\n=======\n>>>>>>> b\n',
    [4, 'The document holds the markers of an unfinished merge.'],
  ],
] as const)('given %s, then it is refused with its line', (_name, text, [line, message]) => {
  expect(ralphLoop.parse(text)).toMatchObject({ ok: false, problems: [{ line, message }] });
  expect(ralphLoop.parse(text)).toHaveProperty('problems.length', 1);
});

it('given the file by name, or its keys, then it is recognised', () => {
  expect(ralphLoop.recognises('.claude/ralph-loop.local.md', '')).toBe(true);
  expect(ralphLoop.recognises('x.md', seedExample)).toBe(true);
  expect(ralphLoop.recognises('x.md', '---\ntitle: x\n---\n')).toBe(false);
  expect(ralphLoop.recognises('x.txt', seedExample)).toBe(false);
});

const line = fc.constantFrom<string>(
  'iteration:   3',
  'max_iterations: 0',
  'completion_promise: "x # y"',
  "started_at: '2026-01-15T12:00:00Z'",
  '# active: false',
  '',
);
const active = fc.constantFrom<string>('', 'active: true', 'active:    false  # stop', 'active: true # on');

describeLaws('loop file', {
  format: ralphLoop,
  texts: dressed(
    fc
      .tuple(
        fc.uniqueArray(line, { minLength: 1 }),
        active,
        fc.nat(5),
        fc.constantFrom('Do', '# Do\n---\nactive: true'),
      )
      .map(([lines, flag, at, body]) => `---\n${lines.toSpliced(at, 0, flag).join('\n')}\n---\n\n${body}`),
  ),
  apply: (task, mark) => ({ ...task, done: mark.done }),
  bare: text => {
    const end = text.indexOf('---', 5);
    return text.slice(0, end).replace(/^active:(?: (?:false|true)\r?\n|( *)(?:true|false))/m, '$1') + text.slice(end);
  },
});
