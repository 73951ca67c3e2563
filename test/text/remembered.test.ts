import { expect, test } from 'vitest';
import { remembered } from '../../src/text/remembered.ts';

test('given a text that was asked about, it is not looked at again, but for the second question and after many others', () => {
  const asked: string[] = [];
  const find = remembered((text, flag) => {
    asked.push(`${text} ${flag}`);
    return text.length;
  });

  expect([find('one'), find('one'), find('one', true)]).toEqual([3, 3, 3]);
  expect(asked).toEqual(['one false', 'one true']);

  for (let at = 0; at < 1_000; at += 1) find(`text ${at}`);
  expect(find('one')).toBe(3);
  expect(asked.filter(text => text === 'one false')).toHaveLength(2);
});
