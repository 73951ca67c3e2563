// Proves that a Markdown checklist is read as people write them, with ids that stay, and that a mark changes one character.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checklist } from '../../../src/documents/formats/checklist.ts';
import { describeLaws, dressed } from './properties.ts';

function documentOf(text: string) {
  const parsed = checklist.parse(text, { acceptTicked: true });
  if (!parsed.ok) throw new Error(parsed.problems.map(problem => problem.message).join('\n'));
  return parsed.document;
}
const ids = (text: string) => documentOf(text).tasks.map(task => task.id);

describe('given a checklist', () => {
  it('then boxes are tasks, what is indented below belongs to them, and boxes there are criteria', () => {
    const text = [
      '# Fix plan',
      '',
      '## High',
      '- [ ] Add a **login** form',
      '  with two fields:',
      '    - name',
      '  - [x] it shows errors',
      '',
      '  - [ ] it has a test',
      '* [X] Set up',
      'Some words.',
      '1. [ ] Last',
      '   ```',
      '- [ ] code, not a task',
      '   ```',
      '- plain',
      '  - [ ] under a plain item',
    ].join('\n');
    const document = documentOf(text);
    expect(document).toMatchObject({ project: 'Fix plan', goal: 'Fix plan', notices: [] });
    expect(document.tasks.map(task => [task.id, task.done, task.description, task.criteria])).toEqual([
      ['add-a-login-form', false, 'with two fields:\n  - name', ['it shows errors', 'it has a test']],
      ['set-up', true, '', []],
      ['last', false, '```\n- [ ] code, not a task\n```', []],
      ['under-a-plain-item', false, '', []],
    ]);
  });

  it('then marking changes the character in the box, and boxes below keep theirs', () => {
    const text = '- [ ] one\r\n  - [ ] part\r\n- [X] two\r\n';
    const marks = [
      { id: 'one', done: true, skipped: false },
      { id: 'two', done: true, skipped: false },
    ];
    expect(checklist.mark(text, marks)).toBe('- [x] one\r\n  - [ ] part\r\n- [X] two\r\n');
    expect(checklist.mark(text, [{ id: 'two', done: false, skipped: true }])).toBe(text.replace('[X]', '[-]'));
  });

  it('then [X], [-], [!] and [~] have their meaning, and an odd box is none (B48)', () => {
    const text = '- [X] a\n- [-] b\n- [!] c\n- [~] d\n- [1] e\n- [ ]\n';
    expect(documentOf(text).tasks.map(({ title, done, skipped, blocked }) => [title, done, skipped, blocked])).toEqual([
      ['a', true, false, undefined],
      ['b', false, true, undefined],
      ['c', false, false, true],
      ['d', false, false, undefined],
    ]);
    const status = (id: string, says: 'blocked' | 'pending') =>
      checklist.mark(text, [{ id, done: false, skipped: false, status: says }]);
    expect(status('d', 'blocked')).toBe(text.replace('[~]', '[!]'));
    expect(status('c', 'pending')).toBe(text.replace('[!]', '[ ]'));
    expect(status('d', 'pending')).toBe(text);
  });

  it('then it is recognised by a box in a Markdown file', () => {
    expect(checklist.recognises('@fix_plan.md', 'x\n- [ ] a')).toBe(true);
    expect(checklist.recognises('todo.markdown', '2) [x] a')).toBe(true);
    expect(checklist.recognises('fix_plan.md', 'no box - [ ] here')).toBe(false);
    expect(checklist.recognises('fix_plan.txt', '- [ ] a')).toBe(false);
  });
});

describe('given ids', () => {
  it.each([
    ['T12: do', 'T12', 'do'],
    ['T1.2: do', 'T1.2', 'do'],
    ['**US-001**: do', 'US-001', 'do'],
    ['**US-001:** do', 'US-001', 'do'],
    ['**US-001** do', 'US-001', 'do'],
    ['`bd-1i1a`: do', 'bd-1i1a', 'do'],
    ['[T3]: do', 'T3', 'do'],
    ['1.2: do', '1.2', 'do'],
    ['Task 3: do', 'task-3', 'do'],
    ['**Step 2:** do', 'step-2', 'do'],
    ['T012 [P] do', 'T012', '[P] do'],
    ['Note: do', 'note-do', 'Note: do'],
    ['see http://x.y1: z', 'see-http-x-y1-z', 'see http://x.y1: z'],
    ['follow-up: do', 'follow-up-do', 'follow-up: do'],
    ['3 retries', '3-retries', '3 retries'],
    ['at 10:30 call', 'at-10-30-call', 'at 10:30 call'],
    ['US-001:', 'us-001', 'US-001:'],
  ])('then %j has the id %j', (item, id, title) => {
    expect(documentOf(`- [ ] ${item}`).tasks).toMatchObject([{ id, title }]);
  });

  it('then one made from the text stays when lines are put in above, and equal texts are told apart', () => {
    const text = '- [ ] fix it\n- [ ] fix it\n- [ ] Über-Größe prüfen\n- [ ] 修理\n';
    const before = ids(text);
    expect(before.slice(0, 2)).toEqual(['fix-it', 'fix-it-2']);
    expect(before[2]).toMatch(/^ber-gr-e-pr-[a-z0-9]{5,7}$/);
    expect(before[3]).toMatch(/^task-[a-z0-9]{5,7}$/);
    expect(ids(`# New\n- [ ] something else\n\n${text}`).slice(1)).toEqual(before);
  });

  it('then a long text gives a short id, and two that differ only at the end give two', () => {
    const long = 'implement the whole of the parser for the new grammar of';
    const [one, two] = ids(`- [ ] ${long} one\n- [ ] ${long} two\n`);
    expect(one).toMatch(/^implement-the-whole-of-the-parser-[a-z0-9]+-?[a-z0-9]*$/);
    expect(one!.length).toBeLessThanOrEqual(64);
    expect(two).not.toBe(one);
  });

  it('then a made id gives way to an explicit one, whatever its case', () => {
    expect(ids('- [ ] us 1\n- [ ] US-1: x\n')).toEqual(['us-1-2', 'US-1']);
  });

  it('then no two explicit ones may be the same, not even by case (B34)', () => {
    const parsed = checklist.parse('- [ ] T1: a\n- [ ] T1: b\n\n- [ ] t1.1: c\n- [ ] T1.1: d');
    expect(parsed).toMatchObject({
      ok: false,
      problems: [
        { line: 2, message: 'Line 2: the id "T1" is also the id of line 1.' },
        { line: 5, message: expect.stringMatching(/differs only by case from "t1\.1"/) },
      ],
    });
  });

  it.each(['../../x1', 'T1\u001b[31m', '<script>1', 'x'.repeat(10_000)])('then %j never becomes one (B37)', odd => {
    expect(ids(`- [ ] ${odd}: do`)[0]).toMatch(/^[a-z0-9][a-z0-9-]{0,63}$/);
  });
});

it.each([
  ['no box', 'just text', 'The document has no box.'],
  ['only boxes in code and comments', '```\n- [ ] a\n```\n<!--\n- [ ] b\n-->', 'The document has no box.'],
  [
    'a failed merge (B42)',
    '<<<<<<< a\n- [ ] x\n=======\n- [x] x\n>>>>>>> b',
    'The document holds the markers of an unfinished merge.',
  ],
])('given %s, then it is refused', (_name, text, message) => {
  expect(checklist.parse(text)).toMatchObject({ ok: false, problems: [{ message }] });
});

it('given hidden characters and comments, then the reader is told (B50, B51)', () => {
  expect(documentOf('- [ ] a\u202e\n<!-- - [ ] b -->').notices).toHaveLength(2);
});

// Boxes at the left are tasks; those further in, in code or in comments are decoys that no mark may touch.
const item = fc
  .tuple(
    fc.constantFrom('', ' '),
    fc.constantFrom('-', '*', '+', '1.', '23)'),
    fc.constantFrom(' ', '  ', '\t'),
    fc.constantFrom(' ', 'x', 'X', '-', '~', '!'),
    fc.constantFrom('same', 'say [ ] or [x]', '`code` ü', 'Task: none', 'a:b'),
    fc.constantFrom('', '', '\n    - [ ] decoy', '\n\t* [x] decoy\n\n      words'),
  )
  .map(([indent, bullet, gap, state, text, below]) => `${indent}${bullet}${gap}[${state}] ${text}${below}`);
const other = fc.constantFrom(
  '',
  'words',
  '## Heading',
  '```\n- [ ] decoy\n```',
  '   ~~~\n- [x] decoy\n~~~',
  '<!--\n- [ ] decoy\n-->',
  '- [?] decoy',
  '- plain',
  '~~~~~ never closed',
  '    indented words',
);

describeLaws('checklist', {
  format: checklist,
  texts: dressed(
    fc
      .tuple(fc.array(fc.oneof(item, other), { maxLength: 12 }), item)
      .map(([lines, last]) => [...lines, last].join('\n')),
  ),
  apply: (task, { done, skipped }) => {
    const { blocked, ...rest } = task;
    return { ...rest, ...(blocked && !done && !skipped ? { blocked } : {}), done, skipped };
  },
  bare: text => text.replace(/^(\uFEFF? ?(?:[-*+]|\d+[.)])[ \t]+\[).(\] )(?!decoy)/gm, '$1$2'),
});
