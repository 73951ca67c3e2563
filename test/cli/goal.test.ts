// Goal mode (seed 000) through the real binary: `ralph run "GOAL"` with fake agents, to its end, its limits and through a crash.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventsOf, hangingAgent, inScratch, type Scratch } from './kit.ts';
import { filesOf, git, loopOf } from './repository.ts';
import { agentOf, hinted, isAtWork, reports, startRepository } from './stepwise-kit.ts';

const goal = 'write a parser for CSV files, with tests for quoted fields, and say in README.md how it is used';
const promise = "echo '<promise>DONE</promise>'";
const [parser, tests, page] = ['write the parser', 'write the tests', 'describe it'] as const;

const loopFile = (place: Scratch, name: string): string =>
  readFileSync(join(place.home, 'loops', loopOf(place), name), 'utf8');

const seedKeys = {
  status: [
    ...['loop_id', 'task_id', 'project_id', 'state', 'goal', 'config', 'current_iteration', 'iterations'],
    ...['total_input_tokens', 'total_output_tokens', 'total_cost', 'started_at', 'completed_at'],
    ...['termination_reason', 'last_checkpoint_id', 'errors'],
  ],
  iteration: [
    ...['iteration', 'agent_id', 'started_at', 'completed_at', 'phase', 'completed_items', 'pending_items', 'errors'],
    ...['checkpoint_id', 'input_tokens', 'output_tokens', 'cost', 'handoff_trigger', 'health_state'],
  ],
};

describe('a goal in words', () => {
  it.concurrent('goes through phases and items; a claim with pending items, or against a check, is refused', () =>
    inScratch(async place => {
      startRepository(place);
      const agent = agentOf(
        reports('planning', [], [parser, tests, page]),
        `echo p > parser.txt; ${reports('implementing', [parser], [tests, page])}`,
        `echo t > tests.txt; ${reports('complete', [parser, tests], [page])}; ${promise}`,
        `${reports('complete', [parser, tests, page])}; ${promise}`,
        `echo d > page.txt; ${reports('complete', [parser, tests, page])}; ${promise}`,
      );
      const words = ['run', goal, '--agent-command', agent, '--verify', 'test -f page.txt', '--allow-red-start'];

      const before = filesOf(place);
      const dry = await place.ralph([...words, '--dry-run']);
      expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/^goal {8}write a parser .*\n {12}\S/m) });
      expect(existsSync(place.home)).toBe(false);

      const told = await place.ralph(words);
      expect(told).toMatchObject({
        code: 0,
        stdout: 'Done: the goal is reached, 5 iterations, cost not reported; proven.\n',
      });
      expect(told.stderr).toMatch(/a commit when the\s+goal is reached/);
      const said = told.stderr.replaceAll(/^\[\d\d:\d\d:\d\dZ\] /gm, '').replaceAll(/after [\d.]+s/g, 'after a while');
      expect(said).toContain(
        [
          'Iteration 1 of 10: planning',
          'iteration 1: the agent ended after a while; planning: 0 completed, 3 pending',
          'Iteration 2 of 10: implementing, 0 of 3 items completed',
          'iteration 2: the agent ended after a while; implementing: 1 completed, 2 pending',
          'Iteration 3 of 10: implementing, 1 of 3 items completed',
          'iteration 3: the agent ended after a while; complete: 2 completed, 1 pending',
          '✗ it claims the goal, but its own report lists 1 pending item',
          'Iteration 4 of 10: implementing, 2 of 3 items completed',
          '✗ the claim was refused: the check "test -f page.txt" failed',
          '    | Exit code 1.',
          'Iteration 5 of 10: testing, 3 of 3 items claimed',
          '✓ the goal is reached, proven: claimed, and 1 check passed',
          'goal: 3 files committed',
        ].join('\n'),
      );

      const status = JSON.parse(loopFile(place, 'status.json'));
      expect(Object.keys(status)).toEqual([...seedKeys.status, 'holder', 'renewed_at']); // ours: who works on it
      expect(status).toMatchObject({
        goal,
        state: 'completed',
        termination_reason: 'goal_achieved',
        current_iteration: 5,
      });
      for (const row of status.iterations) expect(Object.keys(row)).toEqual(seedKeys.iteration);
      expect(status.iterations[1]).toMatchObject({
        phase: 'implementing',
        completed_items: [parser],
        pending_items: [tests, page],
      });
      expect(JSON.parse(loopFile(place, 'report.json'))).toMatchObject({
        reason: 'goal_achieved',
        iterations: { length: 5 },
      });

      expect(loopFile(place, 'iterations/4/prompt.md')).toMatch(
        /## Your phase now: implementing[\s\S]*> .*1 pending item\n/,
      );
      expect(loopFile(place, 'iterations/5/prompt.md')).toMatch(
        /## Your phase now: testing[\s\S]*test -f page\.txt" failed/,
      );

      // In the repository lies nothing but the work, committed once.
      const made = { 'page.txt': 'd\n', 'parser.txt': 'p\n', 'tests.txt': 't\n' };
      expect(filesOf(place)).toEqual({ ...before, ...made });
      expect(git(place, 'status', '--porcelain')).toBe('');
      expect(git(place, 'rev-list', '--count', 'HEAD')).toBe('2\n');

      expect((await place.ralph(['status'])).stdout).toContain(`completed  (${goal})\n  Done: the goal is reached`);
      const again = await place.ralph(words);
      expect(again).toMatchObject({
        code: 0,
        stdout: '',
        stderr: expect.stringMatching(/^Nothing to do: this goal was/),
      });
    }));

  it.concurrent('given a crash and then a limit, then the same command and the hinted resume go on, counters kept', () =>
    inScratch(async place => {
      const hanging = hangingAgent(place);
      const agent = agentOf(
        reports('planning', [], [parser]),
        hanging.command,
        `echo p > parser.txt; ${reports('testing', [parser])}`,
        `${reports('complete', [parser])}; ${promise}`,
      );
      const words = ['run', goal, '--agent-command', agent, '-n', '3'];
      const live = place.start(words);
      await isAtWork(place, 2);
      live.child.kill('SIGKILL');
      await Promise.all([live.ended, hanging.gone()]);

      const limited = await place.ralph(words);
      expect(limited).toMatchObject({
        code: 3,
        stdout: expect.stringMatching(/^Stopped: .*iteration 3 of 3 .*\. 1 of 1 item completed, 3 iterations,/),
      });
      expect(limited.stderr).toMatch(
        /iteration 2 interrupted: .*\n.*Iteration 3 of 3: implementing, 0 of 1 item completed\n/,
      );
      const plain = await place.ralph(words);
      expect(plain).toMatchObject({ code: 3, stderr: expect.stringContaining('the last loop of this goal ended') });

      const done = await place.ralph(hinted(limited.stderr, 'ralph resume'));
      expect(done.stdout).toBe(
        'Done: the goal is reached, 4 iterations, cost not reported, verified: false (closed unverified).\n',
      );
      expect((await eventsOf(place)).filter(({ type }) => type === 'iteration.started')).toHaveLength(4);
    }));

  it.concurrent('given three iterations without a new item, then it ends for want of progress, and explain says so', () =>
    inScratch(async place => {
      const agent = agentOf(reports('planning', [], [parser]));
      const told = await place.ralph(['run', goal, '--agent-command', agent]);
      expect(told).toMatchObject({
        code: 6,
        stdout: expect.stringMatching(
          /^Stopped: no progress: no report of the last 3 iterations named a new .* \(--no-progress\)\. 0 of 1 item/,
        ),
      });
      const explained = await place.ralph(hinted(told.stderr, 'ralph explain'));
      expect(explained.stdout).toMatch(/loop ended\. Stopped: no progress: no report of the last 3 iterations .*\n$/);
      expect(told.stderr).toMatch(/limits .*3 iterations\s+without\s+progress/);
    }));

  it.concurrent('given words that look like a document, then they are only words, and the ledger says whether it is reached', () =>
    inScratch(async place => {
      const odd = '---\nmax_iterations: 0\n---\nsay what this line means:\n- [x] TASK_COMPLETE';
      const goalFile = (): string => join(place.home, 'goals', readdirSync(join(place.home, 'goals'))[0] ?? '');
      const spoil = `for f in ${place.home}/goals/*; do echo "say done" > $f; done`;
      const agent = agentOf(`${spoil}; echo hm`, promise);
      const words = ['run', '--agent-command', agent, '--sandbox', 'none', '--', odd];
      const told = await place.ralph(words);
      expect(told).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Done: the goal is reached, 2 iterations/),
      });
      expect(told.stderr).toMatch(/limits +10 iterations/);
      expect(loopFile(place, 'iterations/2/prompt.md')).toMatch(
        /put its last good[\s\S]*# The goal\n\n---\nmax_iterations: 0/,
      );
      expect(readFileSync(goalFile(), 'utf8')).toBe(`${odd}\n`);

      writeFileSync(goalFile(), '');
      const again = await place.ralph(words);
      expect(again).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/^Nothing to do: this goal was reached before/),
      });
      expect(readFileSync(goalFile(), 'utf8')).toBe(`${odd}\n`);
    }));

  it.concurrent('given that it is left out, then no name of a file that nobody wrote is shown', () =>
    inScratch(async place => {
      const question = '<escalate type="stuck">\n<summary>s</summary>\n<question>q</question>\n</escalate>';
      const words = ['run', goal, '--agent-command', `read -r _; printf '${question.replaceAll('\n', '\\n')}'`];
      expect((await place.ralph(words)).code).toBe(5);
      const told = [
        ['task', 'show', 'goal'],
        ['task', 'skip', 'goal'],
      ].map(one => place.ralph(one));
      const text = (await Promise.all(told)).map(({ stdout, stderr }) => stdout + stderr).join('');
      expect(text).toMatch(/goal is skipped/);
      expect(text).not.toMatch(/[0-9a-f]{32}/);
    }));
});
