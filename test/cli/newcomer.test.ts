// What a newcomer met with only the README, through the real command: what is said is so, and each line that is offered works.
import { describe, expect, it } from 'vitest';
import { inScratch, prd } from './kit.ts';
import { startRepository } from './stepwise-kit.ts';

const claims = 'read -r _; echo "$RALPH_TASK" >> "$RALPH_TASK.txt"; echo "Task $RALPH_TASK complete"';
const silent = 'read -r _; echo "$RALPH_TASK" >> work.txt; echo "I did everything you asked."';
const run = (agent: string, ...flags: readonly string[]) => [
  'run',
  '--agent-command',
  agent,
  '--no-input',
  '--backoff-base',
  '10ms',
  ...flags,
];

describe('a question that is open when a limit ends the loop', () => {
  it.concurrent('is named by the ending, status and inbox, and resume asks it again', () =>
    inScratch(async place => {
      startRepository(place, { 'PRD.json': prd(['A', 'B']) });
      const waits = /E1 waits, too: `(ralph resume \S+ --max-iterations \d+)` asks again\./;
      const told = await place.ralph(run(silent, '--max-iterations', '5'));
      expect([told.code, told.stdout]).toEqual([3, expect.stringMatching(waits)]);
      expect((await place.ralph(['status'])).stdout).toMatch(waits);
      expect((await place.ralph(['inbox'])).stdout).toMatch(/^Loop \S+ has ended; E1 waits, too/);
      const [, line = ''] = waits.exec(told.stdout) ?? [];
      const resumed = await place.ralph([...line.split(' ').slice(1), '--no-input']);
      expect(resumed.stderr).toContain('E1 waits for you (ralph inbox)');
    }));
});

describe('flags that cannot both be meant', () => {
  it.concurrent('refuses --parallel with --no-commit: it works by commits', () =>
    inScratch(async place => {
      startRepository(place, { 'PRD.json': prd(['A']) });
      const told = await place.ralph(run(claims, '--parallel', '2', '--no-commit'));
      expect([told.code, told.stderr]).toEqual([2, expect.stringContaining('cannot work with --no-commit')]);
    }));
});

describe('what is only looked at', () => {
  it.concurrent('a dry run after a finished --worktree run says what the run says', () =>
    inScratch(async place => {
      startRepository(place, { 'PRD.json': prd(['A']) });
      expect((await place.ralph(run(claims, '--worktree'))).code).toBe(0);
      const dry = await place.ralph(run(claims, '--dry-run'));
      const real = await place.ralph(run(claims));
      expect(real.stderr).toContain('Nothing to do: its tasks are done on the branch');
      expect(dry.stdout.replace(/\s+/g, ' ')).toContain('Nothing to do: its tasks are done on the branch');
    }));

  it.concurrent('a diff after an undo shows what is in the files', () =>
    inScratch(async place => {
      startRepository(place, { 'PRD.json': prd(['A', 'B', 'C']) });
      expect((await place.ralph(run(claims))).code).toBe(0);
      expect((await place.ralph(['undo', '--yes'])).code).toBe(0);
      const { stdout } = await place.ralph(['diff']);
      expect(place.read('PRD.json')).toMatch(/"passes": ?true/);
      const added = stdout.split('\n').filter(line => line.startsWith('+') && line.includes('"passes"'));
      expect(added.filter(line => /"passes": ?true/.test(line))).toHaveLength(
        (place.read('PRD.json').match(/"passes": ?true/g) ?? []).length,
      );
    }));
});

describe('the PROMPT.md that Ralph makes', () => {
  it.concurrent('is announced only when it is made', () =>
    inScratch(async place => {
      startRepository(place, { 'PRD.json': prd(['A']) });
      const refused = await place.ralph(run(claims, '--verify', 'false'));
      expect(refused.stderr).not.toContain('PROMPT.md is made');
      expect((await place.ralph(run(claims))).stderr).toContain('PROMPT.md is made');
    }));

  it.concurrent('is no task: running it is refused with the command that is meant, until somebody changes it', () =>
    inScratch(async place => {
      startRepository(place, { 'PRD.json': prd(['A']) });
      await place.ralph(run(claims));
      const [word = '', ...others] = run('true', '--dry-run');
      const told = await place.ralph([word, 'PROMPT.md', ...others]);
      expect([told.code, told.stderr]).toEqual([2, expect.stringContaining('ralph run PRD.json')]);
      place.put('PROMPT.md', `${place.read('PROMPT.md')}\nMake the tests pass.\n`);
      expect((await place.ralph([word, 'PROMPT.md', ...others])).code).toBe(0);
    }));

  it.concurrent('the card says after how many idle iterations a person is asked, and it is so', () =>
    inScratch(async place => {
      startRepository(place, { 'PROMPT.md': '# Do it\n' });
      const told = await place.ralph(['run', 'PROMPT.md', '--agent-command', 'echo thinking', '--no-input']);
      expect(told.stderr.replace(/\s+/g, ' ')).toContain('you are asked after 3 that bring nothing new');
      expect([told.code, told.stdout]).toEqual([5, expect.stringContaining('nothing new in the last 3 iterations')]);
    }));
});

describe('a loop that is done', () => {
  const needs = (task: string) =>
    `read -r _; if [ "$RALPH_TASK" = ${task} ] && [ ! -f ready ]; then echo no; else ${claims.replace('read -r _; ', '')}; fi`;

  it.concurrent('shows in status and in the list what was left out, and a task that was skipped is opened again and done', () =>
    inScratch(async place => {
      startRepository(place, { 'PRD.json': prd(['A', 'B']) });
      expect((await place.ralph(run(needs('B')))).code).toBe(5);
      expect((await place.ralph(['task', 'skip', 'B'])).code).toBe(0);
      expect((await place.ralph(['resume', '--no-input'])).code).toBe(0);
      expect((await place.ralph(['status'])).stdout).toContain('completed, 1 skipped');
      expect((await place.ralph(['loops', 'list'])).stdout).toContain('done, 1 skipped');
      place.put('ready', '');
      const told = await place.ralph(['task', 'retry', 'B']);
      expect(told.stderr).toMatch(/B is open again \(it was skipped/);
      expect((await place.ralph(['loops', 'list'])).stdout).toContain('1 open again');
      const [, line = ''] = /Go on: ralph (resume \S+)/.exec(told.stderr) ?? [];
      const done = await place.ralph([...line.split(' '), '--no-input']);
      expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('Done: 2 of 2 tasks done')]);
      expect(place.read('PRD.json')).not.toMatch(/"skipped": ?true/);
    }));

  it.concurrent('is gone on with after an undo, by the line that undo, status and the overview print', () =>
    inScratch(async place => {
      startRepository(place, { 'PRD.json': prd(['A', 'B']) });
      expect((await place.ralph(run(claims))).code).toBe(0);
      const undone = await place.ralph(['undo', '--yes']);
      const [, line = ''] = /Go on: ralph (resume \S+)/.exec(undone.stderr) ?? [];
      expect((await place.ralph(['status'])).stdout).toContain('1 task is open again since then');
      expect((await place.ralph([])).stdout).toContain(`ralph ${line}`);
      const done = await place.ralph([...line.split(' '), '--no-input']);
      expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('Done: 2 of 2 tasks done')]);
    }));
});
