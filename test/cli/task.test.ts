// The task commands on real files and a real ledger: what they print, what they change, what they refuse.

import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/app/app.ts';
import { LedgerLoops } from '../../src/app/loops/loops.ts';
import { execute as add } from '../../src/cli/commands/task-add.ts';
import { retry, skip } from '../../src/cli/commands/task-change.ts';
import { exportTasks, importTasks } from '../../src/cli/commands/task-convert.ts';
import { execute as list } from '../../src/cli/commands/task-list.ts';
import { execute as show } from '../../src/cli/commands/task-show.ts';
import type { Context } from '../../src/cli/context.ts';
import { claims, prd, runScript, type Scratch, scratch, scripted } from './kit.ts';

type Flags = Readonly<Record<string, unknown>>;
type Command = (context: Context, words: readonly (string | undefined)[], flags: Flags) => Promise<number>;

interface Told {
  readonly out: string;
  readonly said: string;
}

const noLedger = async (): Promise<never> => {
  throw new Error('no ledger is needed here');
};

/** Runs it in this process; without a ledger, as before the first loop. */
async function told(directory: string, command: Command, words: readonly string[], flags: Flags = {}): Promise<Told> {
  return toldWith(
    { directory, hasLedger: () => false, ledger: noLedger, home: () => directory },
    command,
    words,
    flags,
  );
}

async function toldWith(
  part: Pick<Context, 'directory' | 'hasLedger' | 'ledger' | 'home'>,
  command: Command,
  words: readonly string[],
  flags: Flags,
): Promise<Told> {
  const [out, said]: [string[], string[]] = [[], []];
  const context = {
    ...part,
    env: {},
    loops: async () => new LedgerLoops({ ledger: await part.ledger(), home: part.home(), env: {}, warn: () => {} }),
    out: (text: string) => void out.push(text),
    print: (text: string) => void out.push(text),
    say: (text: string) => void said.push(text),
    close: async () => {},
    by: 'ada',
  };
  expect(await command(context, words, flags)).toBe(0);
  return { out: out.join('\n'), said: said.join('\n') };
}

describe('without a loop', () => {
  let place: Scratch;
  beforeAll(() => {
    place = scratch();
  });
  afterAll(() => place.end());

  /** A folder of its own for one test. */
  const folder = (name: string, files: Readonly<Record<string, string>>): string => {
    const path = join(place.project, name);
    mkdirSync(path);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
    return path;
  };
  const read = (name: string, file: string): string => place.read(join(name, file));
  const fixPlan =
    '# Fix plan\n\nWhy.\n\n- [x] T1: Old\n- [ ] T2: New \u202eevil\n  <!-- obey -->\n  - [x] seen\n\n## Later\n- [-] T3: Never\n';

  it('list shows the document in its order, whole in a pipe, and what waits for what', async () => {
    const long = 'A title that goes on and on until it no longer fits into a line of eighty columns';
    const stories = [
      { id: 'US-001' },
      { id: 'US-002', title: long, depends_on: ['US-001', 'US-003'] },
      { id: 'US-003', passes: true },
    ];
    const { out } = await told(folder('list', { 'PRD.json': prd(stories) }), list, [], { ascii: true });
    expect(out.split('\n')).toEqual([
      'US-001  open          Story US-001',
      `US-002  open          ${long}  (waits for US-001)`,
      'US-003  done          Story US-003',
      '3 tasks: 1 done, 2 open  (no loop yet)',
    ]);
    const data = JSON.parse((await told(join(place.project, 'list'), list, ['PRD.json'], { json: true })).out);
    expect(data).toMatchObject({ version: 2, loop: null, counts: { pending: 2, done: 1 } });
    expect(data.tasks[1]).toMatchObject({ id: 'US-002', dependsOn: ['US-001', 'US-003'], waitsFor: ['US-001'] });
  });

  it('show prints one task, makes hidden characters visible (B50), and suggests the id that was meant', async () => {
    const at = folder('show', { 'fix_plan.md': fixPlan });
    const { out } = await told(at, show, ['T2'], { loop: 'fix_plan.md' });
    expect(out).toContain('New \\u{202e}evil');
    expect(out).toContain('criteria     - seen');
    await expect(told(at, show, ['T9'], { loop: 'fix_plan.md' })).rejects.toMatchObject({
      hint: 'Did you mean T1? See them all: ralph task list',
    });
  });

  it('add writes into the file that a link names, tells the id on standard output, and warns of what is hidden (B50, B51)', async () => {
    const at = folder('add', { 'real.md': fixPlan });
    symlinkSync('real.md', join(at, 'todo.md'));
    const { out, said } = await told(at, add, ['Pay \u200bnow'], { file: 'todo.md', description: 'a <!-- b' });
    expect(out).toBe('T4');
    expect(said).toContain('note: title of T4 holds an invisible or direction-changing character (U+200B)');
    expect(said).toContain('Pay \\u{200b}now');
    expect(said).toContain('description of T4 holds an HTML comment');
    expect(said).toContain('To have it done: ralph run real.md');
    expect(read('add', 'real.md')).toBe(fixPlan.replace('seen\n', 'seen\n- [ ] T4: Pay \u200bnow\n  a <!-- b\n'));
    expect(readdirSync(at).toSorted()).toEqual(['real.md', 'todo.md']);
  });

  const plan =
    '---\nplan_id: p1\nobjective: o\ntotal_steps: 1\n---\n\n- [ ] **Step 1:** Say hi (action_type: notify_human)\n  - Message: hi\n';
  const refusals: readonly (readonly [string, string, string, Flags, string, RegExp])[] = [
    ['a story without criteria (B39)', 'PRD.json', prd(), {}, 'Pay', /no criteria: how will we know it is done\?/],
    [
      'a dependency that is not there (B35), with the one that was meant',
      'PRD.json',
      prd(),
      { after: ['US-01'], criterion: ['c'] },
      'Pay',
      /no task "US-01" to wait for/,
    ],
    ['a title of two lines', 'PRD.json', prd(), { criterion: ['c'] }, 'Pay\nnow', /holds a line break/],
    [
      'a title with a terminal sequence (B37)',
      'PRD.json',
      prd(),
      { criterion: ['c'] },
      'Pay \u001b[2J',
      /Pay \\u\{1b\}\[2J/,
    ],
    [
      'an id with a line end (B37)',
      'PRD.json',
      prd(),
      { criterion: ['c'], id: 'US-9\n' },
      'Pay',
      /"US-9\\n" is not a valid id/,
    ],
    [
      'a document with conflict markers (B42)',
      'PRD.json',
      `<<<<<<< a\n${prd()}`,
      { criterion: ['c'] },
      'Pay',
      /PRD\.json:1:1: .*unfinished merge/,
    ],
    ['a plan, which is approved', 'plan.md', plan, {}, 'Pay', /plan\.md is a plan, and what a plan does is approved/],
    ['a prompt, which is one task', 'PROMPT.md', 'Make it work.\n', {}, 'Pay', /PROMPT\.md is one task as a whole/],
    ['what is no task document', 'notes.md', 'Words.\n', {}, 'Pay', /notes\.md is no task document/],
  ];
  it.each(refusals)('add refuses %s, and the file stays', async (what, file, text, flags, title, wanted) => {
    const name = `refused-${what.replaceAll(/\W/g, '')}`;
    const at = folder(name, { [file]: text });
    await expect(told(at, add, [title], { file, ...flags })).rejects.toThrow(wanted);
    expect(read(name, file)).toBe(text);
  });

  it('import opens what was ticked (B48), lists what stays behind, and never covers a file', async () => {
    const at = folder('import', { 'fix_plan.md': fixPlan });
    const { said } = await told(at, importTasks, ['fix_plan.md']);
    expect(said.split('\n')).toEqual([
      '3 tasks of fix_plan.md (checklist) are in PRD.json (prd).',
      '  2 tasks that were ticked or skipped are open there: T1, T3. Nobody knows who ticked them; to keep that: --accept-ticked',
      '  Not carried over:',
      '    1 heading: tasks stand in one list',
      '    1 line of text: they belong to no task',
      '    1 ticked box: criteria have no status of their own',
      '  Without criteria: T1, T3. Write some (how will we know it is done?), or run with --no-criteria.',
      expect.stringMatching(/^note: Line 6 .*U\+202E/),
      expect.stringMatching(/^note: Line 7 holds an HTML comment/),
      '  fix_plan.md is as it was. Next: ralph run PRD.json',
      '  Undo: rm PRD.json',
    ]);
    const { userStories } = JSON.parse(read('import', 'PRD.json'));
    expect(userStories.map((one: { id: string; passes: boolean }) => [one.id, one.passes])).toEqual([
      ['T1', false],
      ['T2', false],
      ['T3', false],
    ]);
    await expect(told(at, importTasks, ['fix_plan.md'], { acceptTicked: true })).rejects.toThrow(
      'PRD.json is there already, and is as it was.',
    );
    await told(at, importTasks, ['fix_plan.md'], { acceptTicked: true, force: true });
    expect(JSON.parse(read('import', 'PRD.json')).userStories[0].passes).toBe(true);
    await expect(told(at, importTasks, ['fix_plan.md'], { to: 'fix_plan.md', force: true })).rejects.toThrow(
      /is the file itself/,
    );
    await expect(told(at, importTasks, ['fix_plan.md'], { to: 'PROMPT.md' })).rejects.toThrow(
      /would be read as a prompt/,
    );
    expect(existsSync(join(at, 'PROMPT.md'))).toBe(false);
  });

  it('import says what each kind of source cannot hand over: priority, notes, groups, comments, front matter, steps (B49)', async () => {
    const tasks = [
      { id: 'A1', title: 'a', attempts: 9, max_attempts: 3, owner: 'x' },
      { id: 'A2', title: 'b', max_attempts: 0 },
    ];
    const at = folder('sources', {
      'prd.json': prd([{ id: 'US-001', priority: 2, notes: 'n', description: '<!-- x -->' }], { branchName: 'b' }),
      'list.yaml': 'owner: me\ntasks:\n  - title: a # why\n    parallel_group: 1\n',
      'tasks.json': JSON.stringify({ project_name: 'p', tasks }),
      'PROMPT.md': '---\nmax_iterations: 5\n---\nDo it.\n',
      'plan.md': plan,
    });
    const dry = async (file: string, to = 'x.yaml') => (await told(at, importTasks, [file], { to, dryRun: true })).said;
    expect(await dry('prd.json')).toMatch(
      /branchName of the document: Ralph does not know this key\n.*priority of US-001: the order.*\n.*notes of US-001: they are the end of the description now/,
    );
    expect(await dry('prd.json')).toContain('note: description of US-001 holds an HTML comment');
    expect(await dry('list.yaml', 'PRD.json')).toMatch(
      /owner of the document.*\n.*parallel_group of #1: tasks come one.*\n.*comments/,
    );
    const odd = await dry('tasks.json');
    expect(odd).toContain('attempts of A1: a YAML list counts none');
    expect(odd).toContain('max_attempts of A1: a YAML list has none');
    expect(odd).toContain('owner of A1: Ralph does not know this key');
    expect(odd).toMatch(
      /note: tasks\[0\]\.attempts is 9, more than max_attempts[\s\S]*note: tasks\[1\]\.max_attempts is 0/,
    );
    expect(await dry('PROMPT.md')).toContain('front matter (max_iterations): limits, promises and approvals');
    expect(await dry('plan.md')).toMatch(
      /front matter \(plan_id, objective, total_steps\)[\s\S]*action of .*: these steps would be done by a program/,
    );
    expect(readdirSync(at)).toHaveLength(5);
  });

  it('import refuses duplicate ids (B34), circles (B35) and control characters in ids (B37) by their place', async () => {
    const bad = (name: string, stories: Parameters<typeof prd>[0]) =>
      told(folder(name, { 'in.json': prd(stories) }), importTasks, ['in.json'], { to: 'out.md' });
    await expect(bad('twice', ['A', 'a'])).rejects.toThrow(/in\.json:\d+:\d+: .*differs only by case/);
    await expect(
      bad('circle', [
        { id: 'A', depends_on: ['B'] },
        { id: 'B', depends_on: ['A'] },
      ]),
    ).rejects.toThrow(/A -> B -> A/);
    await expect(bad('control', ['US\u001b[1m'])).rejects.toThrow(/is not a valid id: "US\\+u/);
  });

  it('export writes a file as any format; without --to it prints, and data is all that it prints', async () => {
    const at = folder('export', { 'fix_plan.md': fixPlan });
    const yaml = await told(at, exportTasks, ['fix_plan.md'], { format: 'yaml' });
    expect(yaml.out).toContain('status: completed');
    expect(yaml.said).toBe('');
    const { tasks, version } = JSON.parse((await told(at, exportTasks, ['fix_plan.md'])).out);
    expect([version, tasks[0].status, tasks[2].status]).toEqual([1, 'done', 'skipped']);
    const { said } = await told(at, exportTasks, ['fix_plan.md'], { to: 'tasks.json' });
    expect(said).toBe(
      '3 tasks of fix_plan.md are in tasks.json (tasks); statuses as the file says, which nobody has proven.\n  Everything was carried over.\n  Undo: rm tasks.json',
    );
    await expect(told(at, exportTasks, ['fix_plan.md'], { format: 'toml' })).rejects.toThrow(
      'There is no format "toml".',
    );
    await told(at, exportTasks, ['fix_plan.md'], { to: 'tasks.json' }); // the same bytes are there already
    await expect(told(at, exportTasks, ['tasks.json'], { to: 'fix_plan.md' })).rejects.toThrow(/is there already/);
    await expect(told(at, exportTasks, ['tasks.json'], { to: 'tasks.json', force: true })).rejects.toThrow(
      /is the file itself/,
    );
    expect(read('export', 'fix_plan.md')).toBe(fixPlan);
  });
});

describe('with a loop', () => {
  let place: Scratch;
  const question = {
    type: 'deviation',
    summary: 'Which price?',
    context: 'c',
    options: ['1', '2'],
    question: 'Which?',
  };
  const run = [...runScript, '--verify', 'test -f script.json'];
  beforeAll(async () => {
    place = scratch();
    const stories = [
      { id: 'US-001' },
      { id: 'US-002', depends_on: ['US-001'] },
      { id: 'US-003', depends_on: ['US-002'] },
    ];
    const turns = [
      { task: 'US-002', attempt: 1, steps: [{ escalate: question }] },
      { task: 'US-004', attempt: 1, steps: [{ say: 'at work' }, { hang: true as const }] },
      claims(),
    ];
    scripted(place, stories, turns);
    expect((await place.ralph(run)).code).toBe(5);
  });
  afterAll(() => place.end());

  const inLoop = async (command: Command, words: readonly string[], flags: Flags = {}): Promise<Told> => {
    const ledger = await openLedger({ home: place.home, env: {}, warn: () => {} });
    try {
      const part = {
        directory: place.project,
        hasLedger: () => true,
        ledger: async () => ledger,
        home: () => place.home,
      };
      return await toldWith(part, command, words, flags);
    } finally {
      await ledger.store.close();
    }
  };

  it('the whole story: looked at, skipped, taken back, added to, decided while it runs, exported', async () => {
    expect((await inLoop(list, [])).out).toBe(`US-001  done     1x   Story US-001  (checks still green)
US-002  open     1x   Story US-002  (waits for your answer to E1)
US-003  open          Story US-003  (waits for US-002)
3 tasks: 1 done, 2 open  (loop shop)`);
    const shown = await inLoop(show, ['US-002']);
    expect(shown.out).toMatch(
      /question {5}Which price\?\n +ralph answer [\w-]+\/E1 --option 1[\s\S]*history\n.*iteration 2: scripted on US-002[\s\S]*E1 needs you/,
    );
    const data = JSON.parse((await inLoop(show, ['US-002'], { json: true })).out);
    expect(data).toMatchObject({ version: 2, task: { question: 'E1', neededBy: ['US-003'], attempts: 1 } });
    expect(data.history.map((one: { type: string }) => one.type)).toEqual([
      'iteration.started',
      'iteration.ended',
      'escalation.raised',
    ]);

    expect((await inLoop(skip, ['US-001'])).said).toContain('US-001 is done: there is nothing to skip.');
    await expect(inLoop(skip, ['US-02'])).rejects.toMatchObject({
      message: 'Loop shop has no task "US-02".',
      hint: 'Did you mean US-002? See them all: ralph task list shop',
    });
    expect((await inLoop(skip, ['US-002'])).said).toBe(`US-002 is skipped: nobody will work on it.
  Not ready without it: US-003. The loop asks when nothing else is left.
  To open it again: ralph task retry US-002 --loop shop
  PRD.json shows it as soon as the loop goes on.`);
    expect((await inLoop(skip, ['US-002'])).said).toBe('US-002 is skipped already.');
    expect((await inLoop(list, ['PRD.json'])).out).toContain('US-002  skipped  1x   Story US-002\n');
    expect((await inLoop(retry, ['US-002'])).said).toContain('US-002 is open again (it was skipped).');
    expect((await inLoop(retry, ['US-003'])).said).toBe('US-003 is open and was not tried yet: its turn comes.');

    const added = await inLoop(add, ['Paint'], { criterion: ['it is red'] });
    expect([added.out, added.said]).toEqual([
      'US-004',
      expect.stringContaining('Loop shop takes it up when it goes on: ralph run PRD.json'),
    ]);
    expect((await inLoop(list, [])).out).toContain(
      'US-004  new           Paint  (not read yet)\n4 tasks: 1 done, 2 open, 1 new',
    );
    await expect(inLoop(skip, ['US-004'])).rejects.toThrow(
      'US-004 stands in PRD.json, but loop shop has not read it yet.',
    );

    const live = place.start(run);
    await live.says('US-004 Paint');
    await expect(inLoop(skip, ['US-004'])).rejects.toThrow(/US-004 is being worked on \(iteration \d+ by scripted\)/);
    expect(
      (await inLoop(retry, ['US-001'])).said,
    ).toBe(`US-001 is open again (it was done; 1 attempt no longer counted).
  It must be proven anew before it counts as done.
  To leave it out: ralph task skip US-001 --loop shop`);
    expect((await inLoop(add, ['More'], { criterion: ['c'] })).said).toContain(
      'Loop shop reads it before its next iteration.',
    );
    expect((await place.ralph(['stop'])).code).toBe(0);
    await live.ended;

    expect(await place.ralph(['task', 'skip', 'US-001'])).toMatchObject({
      code: 2,
      stderr:
        'ralph: Loop shop has ended (Stopped on request): nothing in it can be changed any more.\n  Reopen it first: ralph resume shop\n',
    });
    const exported = await place.ralph(['task', 'export', '--format', 'checklist']);
    expect(exported.stdout).toMatch(/^- \[ \] US-001: Story US-001$/m);
    expect(exported.stderr).toContain('dependencies of US-002, US-003: a checklist has none; its order keeps them');
  });

  it('an agent may look, but neither skip, retry, add nor import (F34)', async () => {
    const env = { RALPH_LOOP: 'x', RALPH_ITERATION: '1' };
    expect((await place.ralph(['task', 'list'], { env })).code).toBe(0);
    for (const words of [
      ['skip', 'US-001'],
      ['add', 'x', '--criterion', 'c'],
    ])
      expect((await place.ralph(['task', ...words], { env })).stderr).toMatch(/was refused: it comes from inside/);
  });
});
