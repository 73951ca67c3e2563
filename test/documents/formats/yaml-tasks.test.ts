// Proves that YAML task lists of several tools are read without conversion, and marked with every comment in its place.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { yamlTasks } from '../../../src/documents/formats/yaml-tasks.ts';
import { describeLaws, dressed } from './properties.ts';

function documentOf(text: string) {
  const parsed = yamlTasks.parse(text);
  if (!parsed.ok) throw new Error(parsed.problems.map(problem => problem.message).join('\n'));
  return parsed.document;
}
const done = (id: string) => ({ id, done: true, skipped: false });
const open = (id: string) => ({ id, done: false, skipped: false });
const skipped = (id: string) => ({ id, done: false, skipped: true });

describe("given ralphy's tasks.yaml", () => {
  const text = `# our work
tasks:
  - title: "Create User model"   # first
    completed: false
    parallel_group: 1
  - title: Add login page
    description: >
      With two
      fields.
`;
  it('then titles make the ids, and what is not used is told', () => {
    const document = documentOf(text);
    expect(document.tasks).toMatchObject([
      { id: 'create-user-model', title: 'Create User model', done: false },
      { id: 'add-login-page', description: 'With two fields.', done: false },
    ]);
    expect(document.notices).toEqual(['parallel_group is not used: tasks come one after the other.']);
  });

  it('then marking replaces the value, or adds the key behind the title', () => {
    expect(yamlTasks.mark(text, [done('create-user-model')])).toBe(text.replace('false', 'true'));
    expect(yamlTasks.mark(text, [done('add-login-page')])).toBe(
      text.replace('login page\n', 'login page\n    completed: true\n'),
    );
    expect(yamlTasks.mark(text, [skipped('create-user-model')])).toBe(
      text.replace('# first\n', '# first\n    skipped: true\n'),
    );
  });
});

describe('given a plain list with statuses', () => {
  const text = `- {id: T1, name: One, status: done}
- id: 2
  name: Two
  status:   "To Do"
  deps: [T1, One]
  acceptance: It works
  notes: Careful.
- id: T3
  task: Three
  status: blocked # why
  dependsOn: [Two]
`;
  it('then ids, dependencies by id or title, criteria and statuses are read', () => {
    expect(documentOf(text).tasks).toEqual([
      { id: 'T1', title: 'One', description: '', criteria: [], dependsOn: [], done: true, skipped: false },
      {
        id: '2',
        title: 'Two',
        description: 'Notes: Careful.',
        criteria: ['It works'],
        dependsOn: ['T1'],
        done: false,
        skipped: false,
      },
      {
        id: 'T3',
        title: 'Three',
        description: '',
        criteria: [],
        dependsOn: ['2'],
        done: false,
        skipped: false,
        blocked: true,
      },
    ]);
  });

  it("then marking uses the document's own words", () => {
    expect(yamlTasks.mark(text, [done('2'), done('T3')])).toBe(
      text.replace('"To Do"', 'done').replace('blocked', 'done'),
    );
    expect(yamlTasks.mark(text, [open('T1')])).toBe(text.replace('status: done', 'status: To Do'));
    expect(yamlTasks.mark(text, [open('T3')])).toBe(text);
    expect(yamlTasks.mark(text, [{ ...open('2'), status: 'blocked' }])).toBe(text.replace('"To Do"', 'blocked'));
  });
});

it('given a task on one line, or at the end of the file, then a new key has its shape', () => {
  expect(yamlTasks.mark('- {title: a}', [done('a')])).toBe('- {title: a, completed: true}');
  expect(yamlTasks.mark('- ? title\n  : a\n', [done('a')])).toBe('- ? title\n  : a\n  completed: true\n');
  expect(yamlTasks.mark('\uFEFF- title: a', [done('a')])).toBe('\uFEFF- title: a\n  completed: true');
  expect(yamlTasks.mark('tasks:\r\n-   title: |\r\n      a\r\n', [done('a')])).toBe(
    'tasks:\r\n-   title: |\r\n      a\r\n    completed: true\r\n',
  );
});

it('given what the document says of itself, then it is the project and the goal', () => {
  expect(documentOf('project: Shop\ndescription: Sell\ntasks: [{title: a}]')).toMatchObject({
    project: 'Shop',
    goal: 'Sell',
  });
  expect(documentOf('- title: a')).toMatchObject({ project: 'Tasks', goal: 'Tasks' });
});

it('given a file by name and shape, then it is recognised', () => {
  expect(yamlTasks.recognises('tasks.yaml', 'tasks:\n  - title: a')).toBe(true);
  expect(yamlTasks.recognises('x.YML', '# mine\r\n---\n- id: a\n  title: A')).toBe(true);
  expect(yamlTasks.recognises('x.yml', '  - name: a\n    done: false')).toBe(true);
  expect(yamlTasks.recognises('ci.yml', 'jobs:\n  - run: x')).toBe(false);
  expect(yamlTasks.recognises('tasks.json', 'tasks:')).toBe(false);
});

it.each([
  ['a playbook', '- name: Web servers\n  hosts: web\n  tasks:\n    - name: Install nginx\n      apt: {name: nginx}\n'],
  ['its tasks', '- name: Install nginx\n  apt:\n    name: nginx\n    state: present\n'],
  ['a workflow', 'jobs:\n  test:\n    steps:\n      - name: Test\n        run: npm test\n'],
  ['a list of ids', '- id: 1\n- id: 2\n'],
])('given %s, then it is no backlog', (_what, text) => {
  expect(yamlTasks.recognises('site.yml', text)).toBe(false);
});

const task = (more: string) => `tasks:\n- id: a\n  title: A\n${more}`;

it.each([
  ['no list', 'a: 1', 1, 'The document has no list of tasks.'],
  ['an empty list', 'tasks: []', 1, 'The list of tasks is empty.'],
  ['a task as text', 'tasks:\n- just words', 2, 'tasks[0] must be keys and values, written out.'],
  ['no title', 'tasks:\n- id: a', 2, 'tasks[0].title is missing.'],
  [
    'the same id twice (B34)',
    '- {id: a, title: x}\n- {id: a, title: y}',
    2,
    'tasks[1].id "a" is also the id of tasks[0].',
  ],
  ['ids that differ by case (B34)', '- {id: a, title: x}\n- {id: A, title: y}', 2, /differs only by case from "a"/],
  [
    'a missing dependency (B35)',
    task('  depends_on: [x]'),
    2,
    'tasks[0].depends_on names "x", which no task has as its id.',
  ],
  ['itself as dependency (B35)', task('  deps: a'), 2, 'tasks[0].deps names "a", the task itself.'],
  [
    'a circle (B35)',
    '- {id: a, title: x, deps: b}\n- {id: b, title: y, deps: a}',
    1,
    'These 2 tasks wait for each other: a -> b -> a.',
  ],
  ['an odd id (B37)', '- id: ../x\n  title: A', 1, 'tasks[0].id is not a valid id: "../x".'],
  ['a list as id (B37)', '- id: [x]\n  title: A', 1, 'tasks[0].id is not a valid id: a list.'],
  [
    'completed as text (B38)',
    task('  completed: "false"'),
    4,
    'tasks[0].completed must be true or false, not "false".',
  ],
  ['completed as no (B38)', task('  completed: no'), 4, 'tasks[0].completed must be true or false, not "no".'],
  ['completed as 0 (B38)', task('  done: 0'), 4, 'tasks[0].done must be true or false, not 0.'],
  ['completed as nothing (B38)', task('  passes:'), 4, 'tasks[0].passes must be true or false, not null.'],
  ['an unknown status (B38)', task('  status: nearly'), 4, 'tasks[0].status is no known status: "nearly".'],
  [
    'a shared status',
    `${task('  done: &d false')}\n- {title: B, done: *d}`,
    4,
    'tasks[0].done is shared through an anchor.',
  ],
  ['a description that is a list', task('  description: [a]'), 4, 'tasks[0].description must be text, not a list.'],
  ['criteria that are maps', task('  criteria: [{a: 1}]'), 4, 'tasks[0].criteria must hold texts, not an object.'],
  ['a failed merge (B42)', '<<<<<<< HEAD\n- title: a\n=======\n- title: b\n>>>>>>> x\n', 1, /unfinished merge/],
  ['a prototype key', task('  __proto__: {}'), 4, 'The key "__proto__" is not allowed.'],
  ['a key with an anchor', '- &a title: x', 1, 'A key must be a plain word.'],
  ['a key twice', task('  title: B'), 4, 'The key "title" stands twice.'],
  ['a tag', task('  x: !exec y'), 4, 'The tag "!exec" is not allowed.'],
  [
    'a YAML bomb',
    `a: &a [1]\n${Array.from({ length: 101 }, () => '- *a')
      .join('\n')
      .replace(/^/, 'tasks:\n')}`,
    103,
    'The YAML has more than 100 aliases.',
  ],
])('given %s, then it is refused with its line', (_name, text, line, message) => {
  const parsed = yamlTasks.parse(text);
  expect(parsed).toMatchObject({ ok: false });
  expect(parsed.ok ? [] : parsed.problems[0]).toMatchObject({
    line,
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });
});

it('given hidden characters and comments in the texts, then the reader is told (B50, B51)', () => {
  expect(documentOf('- title: "a\\u202e"\n  notes: <!-- x -->').notices).toEqual([
    'tasks[0] holds an HTML comment, which agents read.',
    expect.stringMatching(/^tasks\[0\] holds an invisible/),
  ]);
});

const status = fc.constantFrom(
  'completed: false',
  'done:   true  # yes',
  'status: pending',
  "status: 'done'",
  'passes: true',
  'skipped: false',
  'status: blocked',
);
const extra = fc.constantFrom(
  '# completed: true',
  'note: "completed: true"',
  'nested: {done: false}',
  'text: |\n    completed: true',
  'priority:   2',
);
const blockTask = fc
  .tuple(
    fc.option(status, { nil: undefined }),
    fc.uniqueArray(extra),
    fc.nat(3),
    fc.constantFrom('same', '"q # x"', '>-\n    fo\n    ld'),
  )
  .map(([flag, extras, at, title]) => {
    const members = [`title: ${title}`, ...extras.filter(each => !each.startsWith('#'))];
    const lines = flag === undefined ? members : members.toSpliced(at, 0, flag);
    return `- ${lines.join('\n  ')}\n${extras.some(each => each.startsWith('#')) ? '  # completed: true\n\n' : ''}`;
  });
const flowTask = fc
  .tuple(
    fc.option(fc.constantFrom('done: false', 'status: todo', '"completed": true'), { nil: undefined }),
    fc.constantFrom('same', "'x'"),
  )
  .map(([flag, title]) => `- { title: ${title}${flag === undefined ? '' : `,  ${flag}`} }  # flow\n`);
const indented = (text: string) => text.replace(/^(?=.)/gm, '  ');

it('marking a text that was read reads none of it again: the other tasks are the same objects', () => {
  const text = '- title: One\n  completed: false\n- title: Two\n  status: todo # later\n- title: Three\n';
  const read = yamlTasks.read(text);
  if (!read.ok) throw new Error('it is fine');
  const first = yamlTasks.markWithIndex(text, read.index, [done('one')]);
  const second = yamlTasks.markWithIndex(first.text, first.index, [done('two')]);
  expect(second.text).toBe(text.replace('false', 'true').replace('todo', 'completed'));
  const [one, two, three] = second.index.document!.tasks;
  expect([one!.done, two!.done, three!.done]).toEqual([true, true, false]);
  expect(one).toBe(first.index.document!.tasks[0]);
  expect(three).toBe(read.document.tasks[2]);
});

describeLaws('YAML list', {
  format: yamlTasks,
  texts: dressed(
    fc
      .tuple(fc.boolean(), fc.array(fc.oneof(blockTask, flowTask), { minLength: 1, maxLength: 4 }))
      .map(([isMap, tasks]) => (isMap ? `# top\ntasks:\n${indented(tasks.join(''))}\n# end` : tasks.join(''))),
  ),
  apply: (one, { done: isDone, skipped: isSkipped }) => {
    const { blocked, ...rest } = one;
    return { ...rest, ...(blocked && !isDone && !isSkipped ? { blocked } : {}), done: isDone, skipped: isSkipped };
  },
  bare: text =>
    text
      .replace(/, (?:completed|skipped): (?:true|false)(?=[ ,}])/g, '')
      .replace(/^ *(?:completed|skipped): (?:true|false)\r?\n?/gm, '')
      .replace(/((?:completed"?|done|passes|skipped|status):[ ]*)(?:true|false|'?\w+'?)(?!")/g, '$1')
      .replace(/\s+$/, ''),
});
