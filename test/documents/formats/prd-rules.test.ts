// A key that is nearly one of ours is told, never obeyed; a key of the writer's own is left alone.
import { expect, it } from 'vitest';
import { prd } from '../../../src/documents/formats/prd.ts';

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
