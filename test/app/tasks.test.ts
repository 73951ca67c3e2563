// A task to be added: texts that a document or a terminal could not bear are refused before the file is looked at.
import { expect, it } from 'vitest';
import { checkedTask } from '../../src/app/tasks.ts';

const check = (title: string, criteria: readonly string[] = [], description = '') =>
  checkedTask({ title, criteria, dependsOn: ['US-001', 'US-001'] }, async () => description);

it('given plain texts, then they are trimmed, and a dependency that was named twice stands once', async () => {
  expect(await check('  Greet   by name ', [' prints it '], 'one\r\ntwo')).toEqual({
    title: 'Greet by name',
    description: 'one\ntwo',
    criteria: ['prints it'],
    dependsOn: ['US-001'],
  });
});

it.each([
  ['an empty title', () => check(' '), 'The title is empty.'],
  ['a title of two lines', () => check('a\nb'), 'holds a line break or a control character'],
  ['a title of 501 characters', () => check('x'.repeat(501)), 'longer than 500 characters'],
  ['a criterion with an escape sequence', () => check('a', ['\u001b[31mred']), 'The criterion holds a line break'],
  ['101 criteria', () => check('a', Array<string>(101).fill('b')), 'More than 100 criteria'],
  [
    'a description with a control character',
    () => check('a', [], 'a\u0007b'),
    'The description holds a control character',
  ],
  ['a description of 20,001 characters', () => check('a', [], 'x'.repeat(20_001)), 'longer than 20000 characters'],
])('given %s, then it is refused', async (_what, checked, sentence) => {
  await expect(checked()).rejects.toThrow(sentence);
});
