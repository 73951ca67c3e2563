// Proves that plans with sections are read as ralphex writes them: all boxes of a section together say that it is done.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sectionedPlan } from '../../../src/documents/formats/sectioned-plan.ts';
import { describeLaws, dressed } from './properties.ts';

const text = `# Plan: Login

## Overview
Words.
- [ ] not in a section

### Task 1: Hash passwords
Use the library.
- [x] Create auth/hash.go
- [x] Add tests

### Iteration 2.5 : Handler

- [x] Create the handler
  - [ ] with limits
#### Details
- [ ] Add tests

### Notes
- [ ] neither

### US-003: A story
1. [ ] It works
`;

function documentOf(source: string) {
  const parsed = sectionedPlan.parse(source, { acceptTicked: true });
  if (!parsed.ok) throw new Error(parsed.problems.map(problem => problem.message).join('\n'));
  return parsed.document;
}
const mark = (id: string, done: boolean, skipped = false) => sectionedPlan.mark(text, [{ id, done, skipped }]);

describe('given a plan with sections', () => {
  it('then each section is a task, done when all of its boxes are ticked', () => {
    const document = documentOf(text);
    expect(document.project).toBe('Plan: Login');
    expect(document.tasks.map(task => [task.id, task.title, task.done, task.description, task.criteria])).toEqual([
      ['task-1', 'Hash passwords', true, 'Use the library.', ['Create auth/hash.go', 'Add tests']],
      ['task-2.5', 'Handler', false, '#### Details', ['Create the handler', 'with limits', 'Add tests']],
      ['US-003', 'A story', false, '', ['It works']],
    ]);
    expect(document.notices).toEqual(['2 boxes stand in no task section and are no tasks.']);
  });

  it('then marking ticks or unticks all of its boxes and no others', () => {
    expect(mark('task-2.5', true)).toBe(
      text
        .replace('[ ] with limits', '[x] with limits')

        .replace('s\n- [ ] Add', 's\n- [x] Add'),
    );
    expect(mark('task-1', false)).toBe(
      text.replace('[x] Create auth', '[ ] Create auth').replace('[x] Add', '[ ] Add'),
    );
    expect(mark('task-2.5', false)).toBe(text);
    expect(mark('task-2.5', false, true)).toBe(
      text.replace('[ ] with limits', '[-] with limits').replace('s\n- [ ] Add', 's\n- [-] Add'),
    );
    expect(mark('US-003', false, true)).toBe(text.replace('1. [ ]', '1. [-]'));
  });

  it('then it is recognised by a section with a box', () => {
    expect(sectionedPlan.recognises('plan.md', text)).toBe(true);
    expect(sectionedPlan.recognises('plan.md', '### Task 1: x\nno box')).toBe(false);
    expect(sectionedPlan.recognises('plan.md', '```\n### Task 1: x\n- [ ] a\n```')).toBe(false);
    expect(sectionedPlan.recognises('plan.md', '## Tasks\n- [ ] a')).toBe(false);
    expect(sectionedPlan.recognises('plan.txt', text)).toBe(false);
  });
});

it.each([
  [
    'a section without a box',
    '# P\n### Task 1: x\nwords',
    2,
    'The section "task-1" has no box: nothing could show that it is done.',
  ],
  [
    'two sections of one number (B34)',
    '### Task 1: x\n- [ ] a\n### Task 1: y\n- [ ] b',
    3,
    /"task-1" is also the id of/,
  ],
  ['an odd number (B37)', '### Task ../x: y\n- [ ] a', 1, 'The section\'s number makes no valid id: "task-../x".'],
  ['no section', '# P\n- [ ] a', 1, 'The document has no task section.'],
  ['a failed merge (B42)', '### Task 1: x\n<<<<<<< a\n- [ ] x\n=======\n>>>>>>> b', 2, /unfinished merge/],
])('given %s, then it is refused with its line', (_name, source, line, message) => {
  const parsed = sectionedPlan.parse(source);
  expect(parsed).toMatchObject({ ok: false, problems: [{ line, message: expect.stringMatching(message) }] });
});

it('given a heading longer than any title, then it is no section', () => {
  expect(sectionedPlan.recognises('plan.md', `### Task ${' '.repeat(100_000)}1: x\n- [ ] a`)).toBe(false);
});

const boxes = fc.array(
  fc
    .tuple(
      fc.constantFrom('- ', '  * ', '1)  '),
      fc.constantFrom(' ', 'x', 'X', '-', '!'),
      fc.constantFrom('a', 'use [ ] here'),
    )
    .map(([bullet, state, words]) => `${bullet}[${state}] ${words}`),
  { minLength: 1, maxLength: 4 },
);
const between = fc.constantFrom(
  '',
  'words',
  '```\n- [ ] decoy\n### Task 9: decoy\n```',
  '<!--\n- [x] decoy\n-->',
  '#### Sub',
);
const sections = fc.array(fc.tuple(fc.constantFrom('##', '###'), fc.constantFrom(' ', '  '), boxes, between), {
  minLength: 1,
  maxLength: 4,
});

describeLaws('sectioned plan', {
  format: sectionedPlan,
  texts: dressed(
    sections.map(all =>
      ['# Plan', '- [ ] decoy']
        .concat(all.flatMap(([marks, gap, lines, more], row) => [`${marks} Task${gap}${row}: t`, more, ...lines, more]))
        .concat(['## Notes', '- [x] decoy'])
        .join('\n'),
    ),
  ),
  apply: (task, { done, skipped }) => {
    const { blocked, ...rest } = task;
    return { ...rest, ...(blocked && !done && !skipped ? { blocked } : {}), done, skipped };
  },
  bare: source => source.replace(/^([ \t]*(?:[-*]|\d+[.)])[ \t]+\[).(\] )(?!decoy)/gm, '$1$2'),
});
