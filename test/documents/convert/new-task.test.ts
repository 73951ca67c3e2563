// A task more in a document that somebody wrote by hand: it is there afterwards, and nothing else has changed.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prdAdder, tasksAdder } from '../../../src/documents/convert/add-json.ts';
import { checklistAdder, sectionAdder } from '../../../src/documents/convert/add-markdown.ts';
import { yamlAdder } from '../../../src/documents/convert/add-yaml.ts';
import { type Adder, addTask, type NewTask, nextId } from '../../../src/documents/convert/new-task.ts';
import type { Format } from '../../../src/documents/document.ts';
import { checklist } from '../../../src/documents/formats/checklist.ts';
import { prd } from '../../../src/documents/formats/prd.ts';
import { sectionedPlan } from '../../../src/documents/formats/sectioned-plan.ts';
import { projectTasks } from '../../../src/documents/formats/tasks.ts';
import { yamlTasks } from '../../../src/documents/formats/yaml-tasks.ts';
import { dressed } from '../formats/properties.ts';

const numRuns = Number(process.env['PROVE_RUNS'] ?? 60);
const lenient = { allowEmptyCriteria: true, acceptTicked: true };

interface Kind {
  readonly name: string;
  readonly format: Format;
  readonly adder: Adder;
  readonly texts: readonly string[];
}

const kinds: readonly Kind[] = [
  {
    name: 'PRD.json',
    format: prd,
    adder: prdAdder,
    texts: [
      '{"project":"x","userStories":[{"id":"US-009","title":"a","criteria":["c"],"passes":false}]}',
      `{
\t"project": "x", "keep": [1, {"a": []}],
\t"userStories": [
\t\t{
\t\t\t"id" : "US-001",
\t\t\t"passes" : true, "title" : "a",
\t\t\t"acceptanceCriteria" : [
\t\t\t\t"c",
\t\t\t\t"d"
\t\t\t],
\t\t\t"priority" : 4, "notes" : "", "dependsOn" : []
\t\t}
\t], "after": null
}`,
      '{ "userStories": [ {"id": "b", "title": "B", "criteria": [], "passes": false}\n , {"id": "a", "title": "A", "passes": true, "criteria": ["x" , "y"]} ], "project": "p" }',
    ],
  },
  {
    name: 'tasks.json',
    format: projectTasks,
    adder: tasksAdder,
    texts: [
      '{"project_name":"x","tasks":[{"id":"task-1","title":"a"}]}',
      `{
  "project_name": "x",
  "tasks": [
    { "id": "T1", "title": "a", "status": "completed", "dependencies": [], "attempts": 2, "max_attempts": 5, "blocked": false },
    { "id": "T2", "title": "b", "description": "", "criteria": ["q"], "status": "in_progress", "dependencies": ["T1"], "attempts": 1, "max_attempts": 4 }
  ]
}`,
    ],
  },
  {
    name: 'checklist',
    format: checklist,
    adder: checklistAdder,
    texts: [
      '- [ ] one',
      '# Plan\n\nWords.\n\n- [ ] T1: one\n  more\n\n  - [x] c\n- [ ] T2: two\n\n## Done\n- [x] T3: old\n\nEnd.\n',
      '* [x] **US-001:** a\n* [x] **US-002:** b\n    ```sh\nx\n    ```\n\nText\n',
      '1. [ ] first\n2. [/] second\n   - deep\n',
      'Intro\n\n+ [ ] Task 3: c\n\t- [ ] tabbed\n<!-- - [ ] no -->\n',
      '# Fix\n\n## Open\n\n## Done\n- [x] T1: old\n- [x] T2: older\n',
    ],
  },
  {
    name: 'plan of sections',
    format: sectionedPlan,
    adder: sectionAdder,
    texts: [
      '# P\n\n### Task 1: a\n- [x] b\n\n### Task 2: c\n\n- [ ] d\n\n## Notes\nKeep.\n',
      '## US-001: a\n- [ ] b\n#### deeper\n- [ ] c',
      '## Iteration 2.5: a\n- [ ] b\n  more\n\n---\n',
    ],
  },
  {
    name: 'YAML list',
    format: yamlTasks,
    adder: yamlAdder,
    texts: [
      '- title: a',
      'project: p\ntasks:\n  - title: a   # first\n    completed: true\n  - title: b\n    completed: false # c\n\n# end\nother: 1\n',
      '-   id: T1\n    name: a\n    status: done\n-   id: T9\n    name: b\n    details: |\n      text\n\n      more\n    deps: [T1]\n    status: todo\n',
      'tasks: [{title: a}, {title: b, done: false}]\nx: y\n',
      'tasks:\n- {title: a, done: false}\n- {title: "b", done: true}\n',
      'tasks:\n-\n  title: a\n  notes: "x"\n# last\n',
      'tasks:\n- title: a\n  criteria:\n  - c\n  body: |+\n    keep\n\n',
    ],
  },
];

const simple = fc.stringMatching(/^[A-Z][a-z]{1,8}( [a-z]{1,8}){1,3}$/);
const odd = fc.constantFrom(
  'a: b',
  '"q"',
  '#1 first',
  'yes',
  '- [ ] x',
  '```',
  '<!-- x',
  '- a',
  'Zoë 💐',
  "it's",
  '\\n',
  '{a}',
  '> q',
  '1.0',
);
const task = (text: fc.Arbitrary<string>): fc.Arbitrary<NewTask> =>
  fc.record({
    title: text,
    description: fc.array(fc.oneof(text, fc.constant('')), { maxLength: 3 }).map(lines => lines.join('\n').trim()),
    criteria: fc.array(text, { maxLength: 3 }),
    dependsOn: fc.constant([]),
  });

/** The text was cut open in one place only. */
function isInsertion(before: string, after: string): boolean {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  return after.length > before.length && after.endsWith(before.slice(start));
}

describe.each(kinds)('a task added to a $name', ({ format, adder, texts }) => {
  const property = (tasks: fc.Arbitrary<NewTask>, check: (text: string, task: NewTask) => void): void =>
    fc.assert(fc.property(dressed(fc.constantFrom(...texts)), tasks, check), { numRuns, seed: 5 });

  it('given plain words, then it is there, open, and every other byte and task is as it was', () => {
    property(task(simple), (text, wanted) => {
      const added = addTask(adder, text, wanted);
      if (!added.ok) throw new Error(JSON.stringify([text, added.problems]));
      expect(added.task).toMatchObject({ title: wanted.title, description: wanted.description, done: false });
      if (wanted.criteria.length > 0) expect(added.task.criteria).toEqual(wanted.criteria);
      expect(isInsertion(text, added.text)).toBe(true);
      const [before, after] = [format.parse(text, lenient), format.parse(added.text, lenient)];
      if (!before.ok || !after.ok) throw new Error(added.text);
      expect(after.document.tasks.filter(one => one.id !== added.task.id)).toEqual(before.document.tasks);
      expect(after.document.tasks).toHaveLength(before.document.tasks.length + 1);
      const ends = new Set(text.match(/\r?\n/g) ?? ['\n']);
      expect([...new Set([...ends, ...(added.text.match(/\r?\n/g) ?? [])])]).toEqual([...ends]);
    });
  });

  it('given odd words, then it is either refused or there word for word, and nothing else has changed', () => {
    property(task(fc.oneof(simple, odd)), (text, wanted) => {
      const added = addTask(adder, text, wanted);
      if (!added.ok) {
        expect(added.problems[0]!.message).toMatch(/other tasks say|as something else|cannot hold/);
        return;
      }
      expect(added.task).toMatchObject({ title: wanted.title, description: wanted.description });
      expect(isInsertion(text, added.text)).toBe(true);
      const [before, after] = [format.parse(text, lenient), format.parse(added.text, lenient)];
      if (!before.ok || !after.ok) throw new Error(added.text);
      expect(after.document.tasks.filter(one => one.id !== added.task.id)).toEqual(before.document.tasks);
    });
  });
});

const plain = (title: string, more: Partial<NewTask> = {}): NewTask => ({
  title,
  description: '',
  criteria: [],
  dependsOn: [],
  ...more,
});
const textOf = (kind: string, row: number, wanted: NewTask, id?: string): string => {
  const { adder, texts } = kinds.find(one => one.name === kind)!;
  const added = addTask(adder, texts[row]!, wanted, id);
  return added.ok ? added.text.replace(texts[row]!.slice(0, 6), '') : added.problems.map(one => one.message).join();
};

describe('a new task looks like the one before it', () => {
  it('in a PRD.json with tabs, other names and priorities', () => {
    expect(textOf('PRD.json', 1, plain('Pay', { criteria: ['It rings'], dependsOn: ['US-001'] }))).toContain(
      `}, {
\t\t\t"id" : "US-002",
\t\t\t"passes" : false,
\t\t\t"title" : "Pay",`.replace('}, {', '},\n\t\t{'),
    );
    expect(textOf('PRD.json', 1, plain('Pay', { criteria: ['It rings'], dependsOn: ['US-001'] }))).toMatch(
      /"acceptanceCriteria" : \[\n\t{4}"It rings"\n\t{3}\],\n\t{3}"priority" : 5,\n\t{3}"notes" : "",\n\t{3}"dependsOn" : \[\n\t{4}"US-001"\n\t{3}\]\n\t{2}\}\n\t\], "after": null/,
    );
  });

  it('in a PRD.json on one line', () => {
    expect(textOf('PRD.json', 0, plain('Pay', { criteria: ['It rings', 'b'] }))).toContain(
      ',{"id":"US-010","title":"Pay","criteria":["It rings", "b"],"passes":false}]}',
    );
  });

  it('in a tasks.json', () => {
    expect(textOf('tasks.json', 1, plain('Pay', { dependsOn: ['T2'] }))).toContain(`,
    { "id": "T3", "title": "Pay", "description": "", "criteria": [], "status": "pending", "dependencies": ["T2"], "attempts": 0, "max_attempts": 4 }
  ]
}`);
  });

  it('in a checklist: behind the last open item, with its bullet, its kind of id and what is below', () => {
    const wanted = plain('Pay', { description: 'By card.', criteria: ['It rings'] });
    expect(textOf('checklist', 1, wanted)).toContain(
      '- [ ] T2: two\n- [ ] T4: Pay\n  By card.\n  - [ ] It rings\n\n## Done\n- [x] T3: old\n\nEnd.\n',
    );
    expect(textOf('checklist', 2, plain('Pay'))).toContain('    ```\n* [ ] **US-003:** Pay\n\nText\n');
    expect(textOf('checklist', 3, plain('Pay'))).toContain('   - deep\n3. [ ] Pay\n');
    expect(textOf('checklist', 4, plain('Pay'))).toContain('\t- [ ] tabbed\n+ [ ] Task 4: Pay\n<!--');
    expect(textOf('checklist', 5, plain('Pay'))).toContain('## Open\n\n- [ ] T3: Pay\n\n## Done\n- [x] T1');
  });

  it('in a plan of sections: before what follows the sections', () => {
    expect(textOf('plan of sections', 0, plain('Pay'))).toContain(
      '- [ ] d\n\n### Task 3: Pay\n\n- [ ] Pay\n\n## Notes\nKeep.\n',
    );
    expect(textOf('plan of sections', 1, plain('Pay', { criteria: ['x'] }))).toContain(
      '- [ ] c\n\n## US-002: Pay\n- [ ] x',
    );
  });

  it('in a YAML list: its names, its words, its comments', () => {
    expect(
      textOf('YAML list', 2, plain('Pay', { description: 'By\ncard.', dependsOn: ['T9'] })),
    ).toContain(`    status: todo
-   id: T10
    name: Pay
    details: |-
      By
      card.
    deps: [T9]
    status: todo
`);
    expect(textOf('YAML list', 1, plain('Pay'))).toContain(
      '    completed: false # c\n  - title: Pay\n    completed: false\n\n# end\nother: 1\n',
    );
    expect(textOf('YAML list', 3, plain('Pay'))).toContain(', {title: "Pay", done: false}]\nx: y\n');
  });
});

describe('a new task is refused', () => {
  const refusals: readonly (readonly [string, string, NewTask, string | undefined, RegExp])[] = [
    [
      'with an id that a terminal would obey (B37)',
      'PRD.json',
      plain('A'),
      'US-1\u001b[31m',
      /^"US-1\\+u.*" is not a valid id/,
    ],
    ['with an id that leads out of its folder (B37)', 'PRD.json', plain('A'), 'a..b', /is not a valid id/],
    ['with an id that is there already (B34)', 'PRD.json', plain('A'), 'US-009', /The id US-009 is there already: "a"/],
    [
      'with one that differs only by case (B34)',
      'tasks.json',
      plain('A'),
      'TASK-1',
      /differs only by case from task-1/,
    ],
    [
      'when it would wait for itself (B35)',
      'PRD.json',
      plain('A', { dependsOn: ['N1'] }),
      'N1',
      /cannot wait for itself/,
    ],
    [
      'when it would wait for what is not there (B35)',
      'YAML list',
      plain('A', { dependsOn: ['N'] }),
      undefined,
      /no task "N" to wait for/,
    ],
    [
      'in a list without dependencies',
      'checklist',
      plain('A', { dependsOn: ['one'] }),
      undefined,
      /has no dependencies/,
    ],
    [
      'with an id that a checklist cannot say',
      'checklist',
      plain('A'),
      'setup',
      /would read the id "setup" as something else/,
    ],
    [
      'when a box would pass for a criterion',
      'checklist',
      plain('A', { description: '- [ ] x' }),
      undefined,
      /the description as something else/,
    ],
  ];
  it.each(refusals)('%s', (_name, kind, wanted, id, message) => {
    expect(textOf(kind, 0, wanted, id)).toMatch(message);
  });

  it('when it would hide a task behind it (B51): a comment that it opens is closed further down', () => {
    const text = '- [ ] a\n\n## Done\n- [x] b\n\n<!-- end -->\n';
    const added = addTask(checklistAdder, text, plain('A', { description: '<!-- x' }));
    expect(added).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('what other tasks say') }],
    });
  });

  it('while the document itself is broken (B42), with its own problems', () => {
    expect(addTask(prdAdder, '{"userStories": [\n<<<<<<< a\n', plain('A'))).toMatchObject({
      ok: false,
      problems: [{ message: 'The document holds the markers of an unfinished merge.', line: 2 }],
    });
  });
});

it('the next id goes on counting in the style of the last one, and takes none that is there', () => {
  const cases = [
    ['US-001', 'US-009'],
    ['a', 'T9'],
    ['T1.9', 'x'],
    ['us-2', 'US-1'],
    ['a', 'b'],
    ['task-1', 'T-099', 'T-100'],
    [],
  ];
  expect(cases.map(nextId)).toEqual(['US-010', 'T10', 'T1.10', 'US-3', undefined, 'T-101', undefined]);
});
