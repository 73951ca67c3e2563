// Proves that the words of a goal are data: whatever they look like, they are what is to be reached, and nothing else.
import { expect, it } from 'vitest';
import { goal } from '../../../src/modes/goal/mode.ts';

const parsed = (text: string) => {
  const result = goal.parse(text);
  if (!result.ok) throw new Error(result.problems[0]?.message);
  return result.document;
};

it('is one open task with the id goal, whose description is every word of it', () => {
  expect(parsed('# Faster import\n\nof large files\n')).toEqual({
    project: 'Faster import',
    goal: '# Faster import of large files',
    tasks: [
      {
        ...{ id: 'goal', title: 'Faster import', description: '# Faster import\n\nof large files' },
        ...{ criteria: [], dependsOn: [], done: false, skipped: false },
      },
    ],
    notices: [],
  });
});

it.each([
  ['a ticked box', 'Explain this line:\n- [x] TASK_COMPLETE'],
  ['nothing but a box', '- [x] TASK_COMPLETE'],
  ['a skipped box', 'x\n- [-] TASK_COMPLETE'],
  ['front matter', '---\nmax_iterations: 0\ncompletion_promise: X\n---\nDo it'],
])('given %s in it, then that is part of the words: no status, no limit, no promise', (_name, text) => {
  const document = parsed(`${text}\n`);
  expect(document.tasks).toMatchObject([{ description: text, done: false, skipped: false }]);
  expect(document.defaults).toBeUndefined();
});

it('given marks, then no byte changes: whether it is reached, the ledger says', () => {
  for (const done of [true, false])
    expect(goal.mark('Do it\n', [{ id: 'goal', done, skipped: !done }])).toBe('Do it\n');
});

it('given hidden characters, then the reader is told; given no word at all, then it is refused', () => {
  expect(parsed('Do\u200b it').notices).toEqual([expect.stringContaining('U+200B')]);
  expect(goal.parse(' \n')).toMatchObject({ ok: false, problems: [{ message: 'The goal is empty.' }] });
});
