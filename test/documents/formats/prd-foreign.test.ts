// Proves that the prd.json of snarktank's ralph and of ralph-tui is read without conversion, and marked in place.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prd } from '../../../src/documents/formats/prd.ts';
import { describeLaws, dressed } from './properties.ts';

const story = (id: string, changes: object = {}) => ({
  id,
  title: `Title ${id}`,
  acceptanceCriteria: ['It works'],
  passes: false,
  ...changes,
});
const backlog = (stories: readonly object[], changes: object = {}) =>
  JSON.stringify(
    { project: 'MyApp', branchName: 'ralph/x', description: 'A goal', userStories: stories, ...changes },
    null,
    2,
  );

function documentOf(text: string) {
  const parsed = prd.parse(text);
  if (!parsed.ok) throw new Error(parsed.problems.map(problem => problem.message).join('\n'));
  return parsed.document;
}
const messages = (text: string) => {
  const parsed = prd.parse(text);
  return parsed.ok ? [] : parsed.problems.map(problem => problem.message);
};
const order = (stories: readonly object[]) => documentOf(backlog(stories)).tasks.map(task => task.id);

describe("given snarktank's prd.json", () => {
  it('then criteria, notes and dependencies are read, and what is not followed is told', () => {
    const text = backlog([
      story('US-001', { description: 'As a user …', notes: ' Use the old table. ', priority: 1, labels: ['db'] }),
      story('US-002', { notes: '', priority: 2, dependsOn: ['US-001'], completionNotes: 'Half done.' }),
    ]);
    const document = documentOf(text);
    expect(document).toMatchObject({ project: 'MyApp', goal: 'A goal' });
    expect(document.tasks.map(({ description, criteria, dependsOn }) => [description, criteria, dependsOn])).toEqual([
      ['As a user …\n\nNotes: Use the old table.', ['It works'], []],
      ['Notes: Half done.', ['It works'], ['US-001']],
    ]);
    expect(document.notices).toEqual([
      'branchName "ralph/x" is not followed: start the loop on the branch that you want.',
    ]);
  });

  it('then the lower priority number goes first, equal ones as they stand, stories without one last', () => {
    expect(
      order([
        story('a', { priority: 2 }),
        story('b'),
        story('c', { priority: 1 }),
        story('d', { priority: 2 }),
        story('e'),
      ]),
    ).toEqual(['c', 'a', 'd', 'b', 'e']);
    expect(
      order([story('a', { priority: 'low' }), story('b', { priority: 'HIGH' }), story('c', { priority: 'medium' })]),
    ).toEqual(['b', 'c', 'a']);
    expect(order([story('a', { priority: 'soon' }), story('b', { priority: null }), story('c')])).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('then marking changes the story meant, wherever the priorities put it', () => {
    const text = backlog([story('a', { priority: 9 }), story('b', { priority: 1 })]);
    expect(prd.mark(text, [{ id: 'a', done: true, skipped: false }])).toBe(
      text.replace('"passes": false', '"passes": true'),
    );
  });
});

it('given the names of ralph-tui and others, then they mean the same', () => {
  expect(documentOf(backlog([story('a')], { project: undefined, name: 'Feature' })).project).toBe('Feature');
  expect(documentOf(backlog([story('a')], { project: undefined, projectName: 'Feature' })).project).toBe('Feature');
  expect(documentOf(backlog([story('a'), story('b', { dependencies: ['a'] })])).tasks[1]!.dependsOn).toEqual(['a']);
  const tracked = story('a', { acceptanceCriteria: [{ description: 'Typecheck passes', passes: true }] });
  expect(documentOf(backlog([tracked])).tasks[0]!.criteria).toEqual(['Typecheck passes']);
});

it.each([
  [
    'no criteria (B39)',
    backlog([story('a', { acceptanceCriteria: [] })]),
    'userStories[0].acceptanceCriteria is empty: how will we know it is done?',
  ],
  [
    'no criteria at all (B39)',
    backlog([story('a', { acceptanceCriteria: undefined })]),
    'userStories[0].criteria is missing.',
  ],
  [
    'a missing dependency (B35)',
    backlog([story('a', { dependsOn: ['x'] })]),
    'userStories[0].dependsOn names "x", which no story has as its id.',
  ],
  [
    'a circle (B35)',
    backlog([story('a', { dependsOn: ['b'] }), story('b', { dependencies: ['a'] })]),
    'These 2 stories wait for each other: a -> b -> a.',
  ],
  [
    'passes as text (B38)',
    backlog([story('a', { passes: 'false' })]),
    'userStories[0].passes must be true or false, not "false".',
  ],
  ['no name', backlog([story('a')], { project: undefined }), 'project is missing.'],
])('given %s, then it is refused', (_name, text, message) => expect(messages(text)).toEqual([message]));

it('given both names for the criteria, then ours goes first', () => {
  expect(documentOf(backlog([story('a', { criteria: ['Ours'] })])).tasks[0]!.criteria).toEqual(['Ours']);
});

it('given a large document of such stories, then the index marks them one by one', () => {
  const text = backlog(Array.from({ length: 50 }, (_, n) => story(`US-${n}`, { priority: 50 - n })));
  let step = { text, index: prd.markWithIndex(text, undefined, []).index };
  for (let n = 0; n < 50; n += 1)
    step = prd.markWithIndex(step.text, step.index, [{ id: `US-${n}`, done: true, skipped: false }]);
  expect(documentOf(step.text).tasks.every(task => task.done)).toBe(true);
  expect(step.text).toBe(text.replaceAll('"passes": false', '"passes": true'));
});

describeLaws("snarktank's prd.json", {
  format: prd,
  texts: dressed(
    fc
      .tuple(
        fc.array(
          fc.record({
            priority: fc.constantFrom(1, 2, undefined, 'high'),
            notes: fc.constantFrom('', 'passes'),
            passes: fc.boolean(),
          }),
          { minLength: 1, maxLength: 4 },
        ),
        fc.constantFrom(0, 2, '\t'),
      )
      .map(([stories, gap]) =>
        JSON.stringify(
          { name: 'x', branchName: 'b', userStories: stories.map((one, row) => story(`US-${row}`, one)) },
          null,
          gap,
        ),
      ),
  ),
  bare: text => text.replace(/("passes":\s*)(?:true|false)(?:(,\s*)"skipped":\s*(?:true|false))?/g, '$1'),
});
