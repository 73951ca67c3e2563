// Proves which task an item of a document is, when its text, its place or its neighbours changed.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addTasks, emptyTable, findTask, sameText, type TaskSpec } from '../../src/core/task.ts';
import { identify, identifyChanged, knownSpecs, knownTasks, takenOut } from '../../src/core/task-identity.ts';
import { checklist } from '../../src/documents/formats/checklist.ts';
import { spec } from './given.ts';

const itemsOf = (text: string) => {
  const parsed = checklist.parse(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.document.tasks;
};
/** What each item of the new text is, by the ids of the old one. */
const ids = (before: string, now: string, own?: string) =>
  identify(knownSpecs(itemsOf(before)), itemsOf(now), own).specs.map(
    ({ id, documentId = id }) => `${documentId} is ${id}`,
  );
const missing = (before: string, now: string, own?: string) =>
  identify(knownSpecs(itemsOf(before)), itemsOf(now), own).missing.map(item => item.id);

describe('equal texts under two headings', () => {
  const two = '## API\n- [ ] Add tests\n\n## Web\n- [ ] Add tests\n';

  it('given that the first is deleted, then what is left is the second', () => {
    expect(ids(two, '## API\n\n## Web\n- [ ] Add tests\n')).toEqual(['add-tests is add-tests-2']);
    expect(missing(two, '## API\n\n## Web\n- [ ] Add tests\n')).toEqual(['add-tests']);
  });

  it('given that they changed places, then each is still itself', () => {
    const now = '## Web\n- [ ] Add tests\n\n## API\n- [ ] Add tests\n';
    expect(ids(two, now)).toEqual(['add-tests is add-tests-2', 'add-tests-2 is add-tests']);
  });

  it('given that the first is ticked under a third heading, then it is the first', () => {
    const now = '## API\n\n## Web\n- [ ] Add tests\n\n## Done\n- [x] Add tests\n';
    expect(ids(two, now)).toEqual(['add-tests is add-tests-2', 'add-tests-2 is add-tests']);
  });

  it('given one that was done and is cleaned up, and a new one elsewhere, then that is nobody known', () => {
    const known = knownSpecs(itemsOf('## API\n- [x] Add tests\n'));
    const read = itemsOf('## Web\n- [ ] Add tests\n');
    expect(identify(known, read)).toMatchObject({
      specs: [{ id: 'add-tests-2', documentId: 'add-tests' }],
      missing: [{ id: 'add-tests' }],
      added: 1,
    });
  });
});

it('given equal texts under one heading, then what is written below them tells them apart, else whether they are done', () => {
  const two = '- [ ] Add tests\n  for the API\n- [ ] Add tests\n  for the page\n';
  expect(ids(two, '- [ ] Add tests\n  for the page\n')).toEqual(['add-tests is add-tests-2']);
  expect(ids('- [x] Add tests\n- [ ] Add tests\n', '- [ ] Add tests\n')).toEqual(['add-tests is add-tests-2']);
});

describe('a text that was changed', () => {
  it.each([
    ['a note behind it', 'Greet the world (done in greet.sh)'],
    ['a dash and words', 'Greet the world — uses printf'],
    ['a line through it', '~~Greet the world~~ ✅'],
  ])('given %s, then it is the same item, whoever else is new', (_what, title) => {
    const now = `- [x] ${title}\n- [ ] Say goodbye\n- [ ] Something new\n`;
    const [first, ...others] = ids('- [ ] Greet the world\n- [ ] Say goodbye\n', now);
    expect(first).toMatch(/is greet-the-world$/);
    expect(others).toEqual(['say-goodbye is say-goodbye', 'something-new is something-new']);
  });

  it('given two that it could be, then it is neither', () => {
    expect(missing('- [ ] Greet\n- [ ] Greet all\n', '- [x] Greet all people\n')).toEqual(['greet', 'greet-all']);
  });

  it('given a slip that was mended, then it is the same; given another task in its place, then it is not', () => {
    expect(missing('- [ ] Gret the wrold\n- [ ] B\n', '- [ ] Greet the world\n- [ ] B\n')).toEqual([]);
    expect(missing('- [ ] Write the documentation\n', '- [ ] Cache every query\n')).toEqual([
      'write-the-documentation',
    ]);
  });

  it('given that the task at work is gone and another one is ticked, then that is it', () => {
    const [before, now] = ['- [ ] Greet the world\n- [ ] B\n', '- [x] Hello works now\n- [ ] B\n- [ ] New\n'];
    expect(missing(before, now, 'greet-the-world')).toEqual([]);
    expect(missing(before, now, 'b')).toEqual(['greet-the-world']);
  });

  it('given a done one that was cleaned up, and an open one that goes on where it ended, then they are two', () => {
    expect(missing('- [x] Greet\n', '- [ ] Greet in French\n')).toEqual(['greet']);
  });

  it('given an id that was put before it, then it is the same item', () => {
    expect(ids('- [ ] Greet the world\n', '- [ ] T1: Greet the world\n')).toEqual(['T1 is greet-the-world']);
  });
});

it('given ids of their own, then texts do not matter, and dependencies follow a new name', () => {
  const before = [spec('A'), spec('B')];
  expect(identify(knownSpecs(before), [spec('B', { title: before[0]!.title })]).missing.map(one => one.id)).toEqual([
    'A',
  ]);
  const made = [spec('a', { title: 'One', section: '' }), spec('B', { dependsOn: ['a'] })];
  const now = [spec('one-more', { title: 'One more', section: '' }), spec('B', { dependsOn: ['one-more'] })];
  expect(identify(knownSpecs(made), now).specs).toMatchObject([{ id: 'a' }, { id: 'B', dependsOn: ['a'] }]);
});

describe('tasks that an iteration took out', () => {
  it('are the open ones; what is over may go', () => {
    expect(takenOut([spec('A'), spec('B', { done: true }), spec('C', { skipped: true })], [])).toEqual(['A']);
  });

  it('given items without ids, then only where nothing new stands there: it may be the same in other words', () => {
    const before = itemsOf('- [ ] Write the documentation\n- [ ] B\n');
    expect(takenOut(before, itemsOf('- [x] B\n'))).toEqual(['write-the-documentation']);
    expect(takenOut(before, itemsOf('- [x] B\n- [ ] Cache every query\n- [ ] Log all\n'))).toEqual([]);
  });
});

it('given very many items of one title, then they are told apart by their order, in no time', () => {
  const many = itemsOf('- [ ] Same\n'.repeat(20_000));
  expect(identify(knownSpecs(many), many.slice(1)).missing.map(item => item.id)).toEqual(['same']);
});

it('given any change of a list, then the tasks that differ are those that a look at all of them tells', () => {
  const lines = ['- [ ] A', '- [x] A', '- [ ] B', '- [x] B', '- [ ] B more', '- [ ] C', '## One', '## Two'];
  const texts = fc
    .array(fc.constantFrom(...lines), { minLength: 1, maxLength: 8 })
    .map(all => `- [ ] Z\n${all.join('\n')}\n`);
  const own = fc.constantFrom(undefined, 'a', 'b', 'z');
  fc.assert(
    fc.property(texts, texts, own, (before, now, worked) => {
      const table = addTasks(emptyTable, itemsOf(before));
      const read = itemsOf(now);
      const all = identify(knownTasks(table), read, worked);
      const changed = identifyChanged(table, read, worked);
      const isSame = (one: TaskSpec) => {
        const task = findTask(table, one.id);
        return task !== undefined && sameText(task.spec, one) && task.spec.done === one.done;
      };
      const differing = (specs: readonly TaskSpec[]) => specs.filter(one => one.id === worked || !isSame(one));
      expect(differing(changed.specs)).toEqual(differing(all.specs));
      expect(changed.missing).toEqual(all.missing);
      expect(changed.added).toBe(all.added);
    }),
    { numRuns: 500 },
  );
});
