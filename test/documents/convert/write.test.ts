// Every writer: what it writes is read back as the same tasks, and what is not the same is listed, nothing else.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskSpec } from '../../../src/core/task.ts';
import type { Backlog } from '../../../src/documents/convert/losses.ts';
import { type WriterName, writerFor, writeTasks } from '../../../src/documents/convert/write.ts';
import { checklist } from '../../../src/documents/formats/checklist.ts';
import { prd } from '../../../src/documents/formats/prd.ts';
import { projectTasks } from '../../../src/documents/formats/tasks.ts';
import { yamlTasks } from '../../../src/documents/formats/yaml-tasks.ts';

const numRuns = Number(process.env['PROVE_RUNS'] ?? 60);
const formats = { prd, tasks: projectTasks, checklist, yaml: yamlTasks } as const;
const names = Object.keys(formats) as readonly WriterName[];

/** Texts that pass for something else somewhere: boxes, fences, comments, headings, YAML words, ids. */
const odd = fc.constantFrom(
  '- [ ] a box',
  '```',
  '~~~~ sh',
  '<!-- note',
  '-->',
  '# heading',
  '  indented',
  'key: value',
  'true',
  '"quoted"',
  'T12: again',
  'Task 3: x',
  '<<<<<<< ours',
  '=======',
  '>>>>>>> theirs',
  'a # b',
  '- dash',
  '{flow: [1]}',
  '\u202eright',
  'Zoë 💐',
  '\tTab',
  '|',
  '* * *',
  '1. [x] one',
);
const words = fc.stringMatching(/^[a-z]{1,6}( [a-z]{1,6}){0,3}$/);
const line = fc.oneof({ weight: 2, arbitrary: words }, odd, fc.string({ maxLength: 12 }));
const said = line.filter(text => /[^\s\p{C}]/u.test(text));
const paragraph = fc.array(fc.oneof(line, fc.constant('')), { maxLength: 5 }).map(lines => lines.join('\n'));
const idKind = fc.constantFrom('US-00', 'T', 'task-', 'setup-x', '1.', 'A_b');

const spec: fc.Arbitrary<Omit<TaskSpec, 'id' | 'dependsOn'>> = fc
  .record({
    title: said,
    description: paragraph,
    criteria: fc.array(said, { maxLength: 3 }),
    status: fc.constantFrom('open', 'done', 'skipped', 'blocked'),
    attemptsBefore: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
    attemptsMax: fc.option(fc.integer({ min: 3, max: 9 }), { nil: undefined }),
    mayChangeTests: fc.boolean(),
    performer: fc.option(fc.constant('notify_human'), { nil: undefined, freq: 9 }),
  })
  .map(({ status, attemptsBefore, attemptsMax, mayChangeTests, performer, ...texts }) => ({
    ...texts,
    done: status === 'done',
    skipped: status === 'skipped',
    ...(status === 'blocked' ? { blocked: true } : {}),
    ...(attemptsBefore === undefined ? {} : { attemptsBefore }),
    ...(attemptsMax === undefined ? {} : { attemptsMax }),
    ...(mayChangeTests ? { mayChangeTests } : {}),
    ...(performer === undefined ? {} : { performer }),
  }));

const backlogs: fc.Arbitrary<Backlog> = fc
  .tuple(
    said,
    fc.oneof(said, paragraph),
    fc.array(fc.tuple(spec, idKind, fc.array(fc.nat(9), { maxLength: 2 })), { minLength: 1, maxLength: 6 }),
  )
  .map(([project, goal, rows]) => {
    const ids = rows.map(([, kind], row) => `${kind}${row + 1}`);
    const tasks = rows.map(([task, , links], row) => ({
      ...task,
      id: ids[row]!,
      dependsOn: [...new Set(links.filter(link => link < row).map(link => ids[link]!))],
    }));
    return { project, goal: goal.trim() === '' ? project : goal, tasks };
  });

const status = (task: TaskSpec): string =>
  task.done ? 'done' : task.skipped ? 'skipped' : task.blocked ? 'blocked' : 'open';

/** What a document of this kind says of a task, by the names under which a loss is listed. */
const facts = (task: TaskSpec): Readonly<Record<string, unknown>> => ({
  id: task.id,
  title: task.title,
  description: task.description,
  criteria: task.criteria,
  dependencies: task.dependsOn,
  status: status(task),
  attempts: task.attemptsBefore ?? 0,
  max_attempts: task.attemptsMax,
  mayChangeTests: task.mayChangeTests === true,
  action: task.performer,
});

const never: Readonly<Record<WriterName, readonly string[]>> = {
  prd: ['id', 'title', 'description', 'criteria', 'dependencies', 'mayChangeTests'],
  tasks: ['id', 'title', 'description', 'criteria', 'dependencies', 'status', 'attempts', 'max_attempts'],
  checklist: ['status'],
  yaml: ['id', 'dependencies', 'status'],
};

describe.each(names)('the writer of %s, for any tasks', name => {
  const property = (check: (backlog: Backlog) => void): void =>
    fc.assert(fc.property(backlogs, check), { numRuns, seed: 5 });

  it('writes a document of its own format, in which every task is told apart', () => {
    property(backlog => {
      const written = writeTasks(name, backlog);
      if (!written.ok) throw new Error(JSON.stringify(written.problems));
      const parsed = formats[name].parse(written.text, { allowEmptyCriteria: true });
      if (!parsed.ok) throw new Error(written.text);
      expect(parsed.document.tasks).toHaveLength(backlog.tasks.length);
    });
  });

  it('lists exactly what the reader does not find', () => {
    property(backlog => {
      const written = writeTasks(name, backlog);
      if (!written.ok) throw new Error(JSON.stringify(written.problems));
      const parsed = formats[name].parse(written.text, { allowEmptyCriteria: true });
      if (!parsed.ok) throw new Error(written.text);
      const order = name === 'checklist' ? undefined : backlog.tasks.map(task => task.id);
      if (order !== undefined) expect(parsed.document.tasks.map(task => task.id)).toEqual(order);
      const listed = new Set(written.losses.flatMap(loss => loss.tasks.map(task => `${task} ${loss.what}`)));
      const given = new Map(backlog.tasks.map(task => [task.id, task]));
      for (const found of parsed.document.tasks) {
        const task = given.get(found.id);
        if (task === undefined) continue;
        for (const [field, value] of Object.entries(facts(task))) {
          const isSame = JSON.stringify(facts(found)[field]) === JSON.stringify(value);
          expect([task.id, field, isSame]).toEqual([task.id, field, !listed.has(`${task.id} ${field}`)]);
        }
      }
      for (const loss of written.losses) expect(never[name]).not.toContain(loss.what);
    });
  });
});

const task = (id: string, more: Partial<TaskSpec> = {}): TaskSpec => ({
  id,
  title: `Do ${id}`,
  description: '',
  criteria: [],
  dependsOn: [],
  done: false,
  skipped: false,
  ...more,
});
const shop = (...tasks: readonly TaskSpec[]): Backlog => ({ project: 'shop', goal: 'A shop', tasks });

describe('a document that is written', () => {
  it('given plain tasks, then a checklist looks as a person would write it', () => {
    const backlog = shop(
      task('US-002', { dependsOn: ['US-001'], criteria: ['It opens'], description: 'A door.\n\n    of wood' }),
      task('US-001', { done: true }),
    );
    expect(writeTasks('checklist', backlog)).toEqual({
      ok: true,
      text: `# shop

> A shop

- [x] US-001: Do US-001
- [ ] US-002: Do US-002
  A door.

      of wood
  - [ ] It opens
`,
      losses: [
        { what: 'goal', tasks: [], because: 'it stands below the heading, for people' },
        { what: 'dependencies', tasks: ['US-002'], because: 'a checklist has none; its order keeps them' },
      ],
    });
  });

  it('given texts that YAML would misread, then they are quoted (B38: no word becomes a truth value)', () => {
    const written = writeTasks('yaml', shop(task('1.10', { title: 'yes', criteria: ['a: b', 'no'] })));
    expect(written).toMatchObject({
      text: `project: shop
goal: A shop
tasks:
  - id: "1.10"
    title: "yes"
    acceptance_criteria:
      - "a: b"
      - "no"
    status: pending
`,
      losses: [],
    });
  });

  it('given a description that opens a code block, then it is quoted, so that no task behind it is hidden', () => {
    const written = writeTasks(
      'checklist',
      shop(task('T1', { description: '```\nx' }), task('T2', { description: '```' })),
    );
    expect(written).toMatchObject({
      ok: true,
      losses: [{ what: 'goal' }, { what: 'description', tasks: ['T1', 'T2'] }],
    });
  });

  it('given a title that begins like the id of another task, then it is quoted, and no id stands twice (B34)', () => {
    const written = writeTasks('checklist', shop(task('setup', { title: 'T2: x' }), task('T2')));
    expect(written).toMatchObject({ ok: true, text: expect.stringContaining('- [ ] "T2: x"\n- [ ] T2: Do T2\n') });
  });

  it('given ids that differ only by case, then it is refused (B34)', () => {
    const written = writeTasks('prd', shop(task('A1'), task('a1')));
    expect(written).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('differs only by case') }],
    });
  });

  it('is named by its file', () => {
    const names = [
      'PRD.json',
      'x/prd.json',
      'tasks.json',
      'my-tasks.json',
      'fix_plan.md',
      'a.yml',
      'b.yaml',
      'c.txt',
      'json',
    ];
    expect(names.map(writerFor)).toEqual([
      'prd',
      'prd',
      'tasks',
      'tasks',
      'checklist',
      'yaml',
      'yaml',
      undefined,
      undefined,
    ]);
  });
});
