// Seed 002's own example through the real command: success, failure, limit, crash and Ctrl-C, and what is refused.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startFrom } from '../git/template.ts';
import { eventually, inScratch, type Live, type Scratch, type Told } from './kit.ts';
import { git } from './repository.ts';

/** One line each, as an agent may write them: what Ralph does not mean to change must stay byte for byte. */
const row = (id: string, title: string, dependencies: readonly string[]): string =>
  `    {"id": "${id}", "title": "${title}",  "description": "Implement it", "status": "pending",` +
  ` "dependencies": ${JSON.stringify(dependencies)}, "attempts": 0, "max_attempts": 3, "blocked": false}`;
const document = (rows: readonly string[]): string =>
  `{\n  "project_name": "shop",\n  "version": 1,\n  "tasks": [\n${rows.join(',\n')}\n  ]\n}\n`;
const seed = document([
  row('T1', 'Create CLI skeleton', []),
  row('T2', 'Add the auth module', ['T1']),
  row('T3', 'Say hello', []),
]);

/** `work`: what the agent does, in shell; `$a` is the project's folder. Its prompt is kept as prompt-N.md. */
function given(place: Scratch, work: string, tasks = seed): void {
  const folder = '.artefacts/shop';
  const files = { [`${folder}/spec.md`]: '# shop\n\nIt sells.\n', [`${folder}/tasks.json`]: tasks, 'a.txt': 'a\n' };
  startFrom(files, place.project);
  const agent = `a=.artefacts/shop; cat >../prompt-$RALPH_ITERATION.md\n${work}\n`;
  writeFileSync(join(place.root, 'agent.sh'), agent);
}

const words = ['execute', 'shop', '--agent-command', 'sh ../agent.sh', '--verify', 'file:a.txt', '--quiet'];
const execute = (place: Scratch, ...more: readonly string[]): Promise<Told> => place.ralph([...words, ...more]);
const prompt = (place: Scratch, iteration: number): string => place.read(`../prompt-${iteration}.md`);
const read = (place: Scratch, name: string): never => JSON.parse(place.read(`.artefacts/shop/${name}`)) as never;

interface Row {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly blocked: boolean;
}

const rows = (place: Scratch): readonly string[] =>
  (read(place, 'tasks.json') as { tasks: readonly Row[] }).tasks.map(
    ({ id, status, attempts, blocked }) => `${id} ${status} ${attempts}${blocked ? ' blocked' : ''}`,
  );

describe('obstacles', () => {
  const one = document([row('T1', 'Create CLI skeleton', []), row('T2', 'Say hello', [])]);

  it('that an agent writes into obstacles.json itself are taken, and a later prompt knows them', () =>
    inScratch(async place => {
      const writes = `case $RALPH_TASK in T1) printf '{"obstacles": [{"id": "X", "message": "port 80 is taken"}]}' >$a/obstacles.json;; esac
echo w >$RALPH_TASK.txt; echo "Task $RALPH_TASK complete"`;
      given(place, writes, one);
      expect((await execute(place)).code).toBe(0);
      expect(read(place, 'obstacles.json')).toMatchObject({
        obstacles: [{ id: 'O1', task_id: 'T1', message: 'port 80 is taken' }],
      });
      expect(prompt(place, 2)).toContain('> O1 (T1, iteration 1): port 80 is taken');
    }));

  it('that cannot be read are told to the next agent, and the file is put back', () =>
    inScratch(async place => {
      given(
        place,
        `case $RALPH_TASK in T1) echo oops >$a/obstacles.json;; esac; echo w >$RALPH_TASK.txt; echo "Task $RALPH_TASK complete"`,
        one,
      );
      expect((await execute(place)).code).toBe(0);
      expect(prompt(place, 2)).toContain('obstacles.json could not be read as you left it');
      expect(read(place, 'obstacles.json')).toEqual({ obstacles: [] });
    }));

  it('and state of an execution are known to the next one', () =>
    inScratch(async place => {
      given(place, `echo '<report>{"completed": ["Half of it"], "obstacles": [{"message": "no port"}]}</report>'`, one);
      await execute(place, '--max-attempts', '1', '--iterations', '1');
      await execute(place, '--new', '--iterations', '1');
      expect(prompt(place, 1)).toContain('## From executions before this one');
      expect(prompt(place, 1)).toMatch(/> obstacle \(T1\): no port\n> T1 attempted: Half of it/);
    }));
});

it('a wrong --iterations is called so', () =>
  inScratch(async place => {
    given(place, '');
    const told = await place.ralph(['execute', 'shop', '--iterations', '0']);
    expect([told.code, told.stderr]).toEqual([2, expect.stringContaining('--iterations')]);
    expect(told.stderr).not.toContain('--max-iterations');
  }));

describe("the seed's example", () => {
  const work = `
case $RALPH_TASK.$RALPH_ITERATION in
  T1.*) echo cli >cli.py; echo "Implemented CLI skeleton in cli.py"; : >$a/done.md; echo "Task T1 complete" ;;
  T2.2) echo "Attempted auth module, hit missing dependency"; echo '{ "tasks": [' >$a/tasks.json
    echo '<report>{"obstacles": [{"message": "httpx is not installed"}]}</report>' ;;
  T2.*) echo auth >auth.py; sed -i '/"T2", "title"/s/"in_progress"/"completed"/' $a/tasks.json
    echo "Wrote auth.py"; echo '<report>{"completed": ["Wrote auth.py"], "obstacles": [{"message": "pip needs --user"}]}</report>' ;;
  *) echo hello >hello.py; echo "Task $RALPH_TASK complete" ;;
esac`;

  it('is executed: claims by line and by status, one failure, a broken tasks.json, and all four files at the end', () =>
    inScratch(async place => {
      given(place, work);
      const told = await execute(place, '--iterations', '9');
      expect([told.code, told.stdout]).toEqual([0, expect.stringContaining('Done: 3 of 3 tasks done, 4 iterations')]);
      expect(rows(place)).toEqual(['T1 completed 1', 'T2 completed 2', 'T3 completed 1']);
      const marked = seed.replaceAll('"pending"', '"completed"').replaceAll('"attempts": 0', '"attempts": 1');
      expect(place.read('.artefacts/shop/tasks.json').replace('"attempts": 2', '"attempts": 1')).toBe(marked);
      expect(read(place, 'state.json')).toMatchObject([
        { iteration: 1, task_id: 'T1', status: 'completed', files_modified: ['cli.py'], obstacles: [] },
        { iteration: 2, task_id: 'T2', status: 'attempted', files_modified: [], obstacles: ['O1'] },
        { iteration: 3, task_id: 'T2', status: 'completed', summary: 'Wrote auth.py', obstacles: ['O2'] },
        { iteration: 4, task_id: 'T3', status: 'completed', files_modified: ['hello.py'] },
      ]);
      expect(read(place, 'obstacles.json')).toEqual({
        obstacles: [
          { id: 'O1', task_id: 'T2', message: 'httpx is not installed', resolved: true, iteration: 2 },
          { id: 'O2', task_id: 'T2', message: 'pip needs --user', resolved: false, iteration: 3 },
        ],
      });
      expect(readdirSync(join(place.project, '.artefacts/shop')).sort()).toEqual([
        'obstacles.json',
        'results.md',
        'spec.md',
        'state.json',
        'tasks.json',
      ]);
      const results = place.read('.artefacts/shop/results.md');
      expect(results).toContain('All tasks are completed.');
      expect(results).toContain(
        '- **T1** Create CLI skeleton (completed in iteration 1, checks still green): Implemented CLI',
      );
      expect(results).toContain(
        '## Files modified\n\n- `auth.py`\n- `cli.py`\n- `hello.py`\n\n## Remaining\n\nNothing.\n',
      );
      expect(git(place, 'log', '--format=%s')).toBe(
        'T3: Say hello\nT2: Add the auth module\nT1: Create CLI skeleton\nfirst\n',
      );
      expect(prompt(place, 3)).toContain(
        'Iteration 3 of at most 9, attempt 2 at this task; 1 of 3 tasks are completed.',
      );
      expect(prompt(place, 3)).toContain('> O1 (T2, iteration 2): httpx is not installed');
      expect(prompt(place, 3)).toMatch(/The task document was damaged in the last iteration\. tasks\.json was broken/);
      expect(prompt(place, 4)).toContain('## What has changed since the start\n\n> added auth.py\n> added cli.py\n');
      expect(prompt(place, 4)).toContain('> O2 (T2, iteration 3): pip needs --user');
    }));
});

describe('a task that fails three times', () => {
  const work = '[ $RALPH_TASK = T1 ] || { echo x >$RALPH_TASK.py; echo "Task $RALPH_TASK complete"; }';

  it('is blocked with what depends on it, and the others go on; a person is asked', () =>
    inScratch(async place => {
      given(place, work);
      const told = await execute(place);
      expect([told.code, told.stdout]).toEqual([5, expect.stringContaining('No task is ready, 2 tasks left.')]);
      expect(rows(place)).toEqual(['T1 blocked 3 blocked', 'T2 pending 0', 'T3 completed 1']);
      const results = place.read('.artefacts/shop/results.md');
      expect(results).toContain('Execution waits: 1 of 3 tasks are completed.');
      expect(results).toContain(
        '- **T1** Create CLI skeleton (blocked, 3 attempts): 3 attempts without a proven result',
      );
    }));

  it('given --halt-on-max-attempts, then everything ends there; and again only --new begins anew', () =>
    inScratch(async place => {
      given(place, work);
      const told = await execute(place, '--halt-on-max-attempts');
      expect([told.code, told.stdout]).toEqual([6, expect.stringContaining('T1 used up its 3 attempts')]);
      expect(rows(place)).toEqual(['T1 blocked 3 blocked', 'T2 pending 0', 'T3 pending 0']);
      expect(place.read('.artefacts/shop/results.md')).toContain('Execution has halted: 0 of 3 tasks are completed.');
      expect(await execute(place)).toMatchObject({ code: 6, stderr: expect.stringContaining('with --new') });
    }));
});

/** Until the agent of this iteration is at work. */
async function atWork(place: Scratch, iteration: number): Promise<Live> {
  const live = place.start(words);
  await eventually(`iteration ${iteration} is at work`, () => existsSync(join(place.root, `prompt-${iteration}.md`)));
  return live;
}

it('given a crash, then the attempt counts; given Ctrl-C, it does not; given a limit, results.md says so and resume goes on', () =>
  inScratch(async place => {
    given(
      place,
      '[ $RALPH_ITERATION -gt 2 ] || exec sleep 60; echo x >$RALPH_TASK.py; echo "Task $RALPH_TASK complete"',
    );
    const killed = await atWork(place, 1);
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect(rows(place)[0]).toBe('T1 in_progress 1');
    const stopped = await atWork(place, 2);
    expect(rows(place)[0]).toBe('T1 in_progress 2');
    stopped.child.kill('SIGINT');
    expect((await stopped.ended).code).toBe(130);
    expect(rows(place)[0]).toBe('T1 pending 1');
    const limited = await execute(place, '--iterations', '3');
    expect([limited.code, limited.stdout]).toEqual([3, expect.stringContaining('iteration 3 of 3')]);
    expect(prompt(place, 3)).toContain('attempt 2 at this task');
    const results = place.read('.artefacts/shop/results.md');
    expect(results).toMatch(
      /Execution has halted: 1 of 3[\s\S]*all iterations are used up[\s\S]*- \*\*T2\*\* .*\(pending\)/,
    );
    expect((await place.ralph(['resume', 'shop', '--max-iterations', '9'])).code).toBe(0);
    expect((await execute(place)).code).toBe(0);
    expect(rows(place)).toEqual(['T1 completed 2', 'T2 completed 1', 'T3 completed 1']);
    expect((read(place, 'state.json') as { iteration: number; status: string }[]).map(one => one.status)).toEqual([
      'attempted',
      'attempted',
      'completed',
      'completed',
      'completed',
    ]);
  }));

/** A folder of programs in which no agent can be. */
function withGitOnly(place: Scratch): string {
  const bin = join(place.root, 'bin');
  mkdirSync(bin);
  symlinkSync(execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim(), join(bin, 'git'));
  return bin;
}

describe('before anything runs', () => {
  const cyclic = document([row('T1', 'One', ['T2']), row('T2', 'Two', ['T1'])]);
  const spent = seed.replace('"attempts": 0', '"attempts": 7').replace('"status": "pending"', '"status": "active"');

  it('a cyclic file is refused with its cycle, an odd override with its line, no agent with exit code 7', () =>
    inScratch(async place => {
      given(place, '', cyclic);
      const told = await execute(place);
      expect([told.code, told.stderr]).toEqual([
        2,
        expect.stringMatching(/^ralph: tasks\.json:5:\d+: .*T1 -> T2 -> T1/),
      ]);
      place.put('.artefacts/shop/tasks.json', seed);
      mkdirSync(join(place.project, '.ralph/prompts'), { recursive: true });
      place.put('.ralph/prompts/execute.md', 'My way\n{{nonsense}}\n');
      const odd = await execute(place);
      expect([odd.code, odd.stderr]).toEqual([
        2,
        expect.stringContaining('execute.md:2: {{nonsense}} is no placeholder'),
      ]);
      place.put('.ralph/prompts/execute.md', 'My way with {{project_name}}, {{iteration}} of {{max_iterations}}\n');
      const alone = await place.ralph(['execute', 'shop'], { env: { PATH: withGitOnly(place) } });
      expect([alone.code, alone.stderr]).toEqual([7, expect.stringContaining('No agent is installed')]);
      expect(existsSync(join(place.root, 'prompt-1.md'))).toBe(false);
      expect((await execute(place, '--iterations', '1')).code).toBe(3);
      expect(prompt(place, 1)).toMatch(/^My way with shop, 1 of 1\n/);
    }));

  it('given more attempts than allowed, then the task is blocked from the beginning and the others are done', () =>
    inScratch(async place => {
      given(place, 'echo x >$RALPH_TASK.py; echo "Task $RALPH_TASK complete"', spent);
      const told = await execute(place);
      expect(told.stderr).toContain('tasks[0].status "active" is read as "in_progress".');
      expect(told.stderr).toContain('it is read as 3, so that no attempt is left.');
      expect([told.code, rows(place)]).toEqual([5, ['T1 blocked 3 blocked', 'T2 pending 0', 'T3 completed 1']]);
    }));
});
