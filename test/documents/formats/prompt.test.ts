// Proves that a prompt is one task, that only a box of its own says it is complete, and that marking touches nothing else.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prompt } from '../../../src/documents/formats/prompt.ts';
import { describeLaws, dressed } from './properties.ts';

const open = { id: 'prompt', done: false, skipped: false };
const done = { id: 'prompt', done: true, skipped: false };

function documentOf(text: string) {
  const parsed = prompt.parse(text);
  if (!parsed.ok) throw new Error(parsed.problems.map(problem => problem.message).join('\n'));
  return parsed.document;
}
const messages = (text: string) => {
  const parsed = prompt.parse(text);
  return parsed.ok ? [] : parsed.problems.map(({ message, line }) => `${line}: ${message}`);
};

describe('given a PROMPT.md', () => {
  it('then all of it is one task, without front matter and box', () => {
    const text = '---\nowner: Ann\n---\nSome words.\n\n# Build a shop #\n\n---\nWith `care`.\n- [ ] TASK_COMPLETE\n';
    expect(documentOf(text)).toEqual({
      project: 'Build a shop',
      goal: 'Build a shop',
      notices: [],
      tasks: [
        {
          id: 'prompt',
          title: 'Build a shop',
          description: 'Some words.\n\n# Build a shop #\n\n---\nWith `care`.',
          criteria: [],
          dependsOn: [],
          done: false,
          skipped: false,
        },
      ],
    });
  });

  it.each([
    ['Build it\r\nnow', 'Build it'],
    ['\n\n  Build it  ', 'Build it'],
    ['```\ncode\n```\nBuild it', 'Build it'],
    ['```\n# code\n```', '```'],
    [`# ${'x'.repeat(500)}`, `${'x'.repeat(119)}…`],
    [`# ${'long words '.repeat(20)}`, `${'long words '.repeat(10)}long…`],
  ])('then the title of %j is %j', (text, title) => expect(documentOf(text).tasks[0]!.title).toBe(title));

  it('then its front matter may bring a promise and a number of iterations', () => {
    expect(documentOf('---\ncompletion_promise: ALL DONE\nmax_iterations: 0\n---\nx').defaults).toEqual({
      promise: 'ALL DONE',
      iterationsMax: null,
    });
    expect(messages('---\nmax_iterations: many\ncompletion_promise: [x]\n---\nx')).toEqual([
      '3: completion_promise must be text, not a list.',
      '2: max_iterations must be a whole number up to 1,000,000, not "many".',
    ]);
  });

  it('then a text between two rules is no front matter', () => {
    const document = documentOf('---\nBuild it\n---\nnow');
    expect(document.tasks[0]!.description).toBe('---\nBuild it\n---\nnow');
    expect(document.notices[0]).toMatch(/^What begins like front matter is read as part of the text: /);
  });

  it('then it is recognised by its name in any case, or by its box', () => {
    expect(prompt.recognises('docs/prompt.MD', 'x')).toBe(true);
    expect(prompt.recognises('task.md', 'x\n* [ ] TASK_COMPLETE')).toBe(true);
    expect(prompt.recognises('task.md', '```\n- [ ] TASK_COMPLETE\n```')).toBe(false);
    expect(prompt.recognises('task.txt', '- [ ] TASK_COMPLETE')).toBe(false);
    expect(prompt.recognises('task.md', '- [ ] one')).toBe(false);
  });
});

describe('given a box', () => {
  it.each([
    '- [x] TASK_COMPLETE',
    '* [X] TASK_COMPLETE',
    '[x] TASK_COMPLETE',
    '  + [x]  TASK_COMPLETE  ',
    '1. [x] TASK_COMPLETE',
  ])('then %j says that it is complete', line => expect(documentOf(`Do it\n${line}\n`).tasks[0]!.done).toBe(true));

  it.each([
    '- [ ] TASK_COMPLETE',
    '- [x] TASK_COMPLETE when all is done',
    'write - [x] TASK_COMPLETE',
    '- [x] task_complete',
    '```\n- [x] TASK_COMPLETE\n```',
    '<!--\n- [x] TASK_COMPLETE\n-->',
    '> - [x] TASK_COMPLETE',
  ])('then %j does not', line => expect(documentOf(`Do it\n${line}`).tasks[0]!.done).toBe(false));

  it('then marking ticks and unticks it, or adds one in the style of the file', () => {
    expect(prompt.mark('Do\r\n* [ ] TASK_COMPLETE\r\nend', [done])).toBe('Do\r\n* [x] TASK_COMPLETE\r\nend');
    expect(prompt.mark('Do\n[X] TASK_COMPLETE', [open])).toBe('Do\n[ ] TASK_COMPLETE');
    expect(prompt.mark('Do\n[X] TASK_COMPLETE', [done])).toBe('Do\n[X] TASK_COMPLETE');
    expect(prompt.mark('Do\r\nit\r\n', [done])).toBe('Do\r\nit\r\n- [x] TASK_COMPLETE\r\n');
    expect(prompt.mark('Do it', [done])).toBe('Do it\n- [x] TASK_COMPLETE');
    expect(prompt.mark('Do it', [open])).toBe('Do it');
    expect(prompt.mark('Do it', [{ ...done, id: 'other' }])).toBe('Do it');
  });

  it('then of several the first is ticked, and all are unticked', () => {
    const text = 'Do\n- [ ] TASK_COMPLETE\n- [ ] TASK_COMPLETE\n';
    const ticked = 'Do\n- [x] TASK_COMPLETE\n- [ ] TASK_COMPLETE\n';
    expect(prompt.mark(text, [done])).toBe(ticked);
    expect(prompt.mark(ticked.replaceAll('[ ]', '[X]'), [open])).toBe(text);
  });

  it('then one in code or in a comment is never touched', () => {
    const text = 'Do\n```\n- [ ] TASK_COMPLETE\n```\n<!-- x\n- [ ] TASK_COMPLETE\n-->\n';
    expect(prompt.mark(text, [done])).toBe(`${text}- [x] TASK_COMPLETE\n`);
  });
});

it.each([
  ['an empty document', '', ['1: The document says nothing.']],
  ['a blank one (B43)', ' \n\t\n', ['1: The document says nothing.']],
  ['nothing but front matter and box', '---\na: 1\n---\n- [ ] TASK_COMPLETE\n', ['4: The document says nothing.']],
  [
    'a failed merge (B42)',
    'a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n',
    ['2: The document holds the markers of an unfinished merge.'],
  ],
  ['more than a megabyte (B43)', 'x'.repeat(1024 * 1024 + 1), ['1: The document is larger than 1 MB.']],
])('given %s, then it is refused', (_name, text, expected) => expect(messages(text)).toEqual(expected));

it('given an underlined heading, or a merge in an example, then there was no merge (B42)', () => {
  expect(messages('Title\n=======\ntext')).toEqual([]);
  expect(messages('see\n```\n<<<<<<< a\n=======\n>>>>>>> b\n```')).toEqual([]);
});

it('given hidden text, then the reader is told (B50, B51)', () => {
  expect(documentOf('---\na: 1\n---\nDo\u200b it\n<!-- and this -->').notices).toEqual([
    'Line 4 holds an invisible or direction-changing character (U+200B); read it with care.',
    'Line 5 holds an HTML comment: a page does not show it, but agents read it.',
  ]);
});

const piece = fc.constantFrom(
  '',
  'words',
  '# Heading',
  '```',
  '~~~ x',
  '~~~',
  '<!--',
  '-->',
  '---',
  '   - [x] TASK_COMPLETE',
  '- [ ] TASK_COMPLETE',
  '[X] TASK_COMPLETE ',
  '* [-] TASK_COMPLETE',
  '- [x] another box',
);
const frontMatter = fc.constantFrom('', '---\nname: x # TASK_COMPLETE\nmax_iterations:   5\n---\n');
const boxLine = /^\s*(?:(?:[-*]|\d+\.)\s+)?\[[ xX-]\]\s*TASK_COMPLETE\s*$/;

describeLaws('prompt', {
  format: prompt,
  texts: dressed(
    fc
      .tuple(frontMatter, fc.array(piece, { maxLength: 9 }))
      .map(([matter, pieces]) => `${matter}Do it\n${pieces.join('\n')}`),
  ),
  bare: text =>
    text
      .split('\n')
      .filter(line => !boxLine.test(line))
      .join('\n')
      .replace(/[\r\n]+$/, ''),
});
