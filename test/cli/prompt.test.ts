// Prompt mode (seed 001, parts 1 and 2) through the real binary: a PROMPT.md given to fake agents until its task is complete.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hangingAgent, inScratch, type Scratch } from './kit.ts';
import { git, loopOf } from './repository.ts';
import { agentOf, hinted, isAtWork, startRepository } from './stepwise-kit.ts';
import { fakeClaude, inWorkshop } from './workshop.ts';

const promptText = '# Build a small API\n\nServe /todos as JSON.\n\n- [ ] TASK_COMPLETE\n';
const ticked = promptText.replace('[ ]', '[x]');
const tick = "sed -i 's/- \\[ \\] TASK/- [x] TASK/' PROMPT.md";

function metricsOf(place: Scratch): Readonly<Record<string, unknown>> {
  const names = readdirSync(join(place.project, '.agent/metrics'));
  expect(names).toEqual([expect.stringMatching(/^metrics_\d{8}_\d{6}\.json$/)]);
  return JSON.parse(place.read(`.agent/metrics/${names[0]}`));
}

describe('a PROMPT.md', () => {
  it.concurrent('is complete by an exact promise in the last line; a tick that no check proves is taken away', () =>
    inScratch(async place => {
      startRepository(place, { 'PROMPT.md': promptText });
      const agent = agentOf(
        `mkdir -p .agent; echo 'todo: the list' > .agent/scratchpad.md; echo a > a.txt; echo 'Soon LOOP_COMPLETE.'`,
        `echo b > b.txt; ${tick}; echo 'I ticked the box.'`,
        `cp PROMPT.md seen.md; printf 'LOOP_COMPLETE\\nor nearly so\\n'`,
        `echo ok > ok.txt; printf 'All done.\\n\\n  LOOP_COMPLETE  \\n\\n'`,
      );
      const words = ['run', 'PROMPT.md', '--agent-command', agent, '--verify', 'test -f ok.txt', '--allow-red-start'];
      const told = await place.ralph([...words, '--checkpoint-interval', '2']);
      expect(told).toMatchObject({
        code: 0,
        stdout: 'Done: the task is complete, 4 iterations, cost not reported; proven.\n',
      });
      expect(told.stderr).toMatch(/rollback after 3\s+errors in a row; a commit after every 2 iterations and when/);
      expect(told.stderr).toContain('1: the agent ended after');
      expect(told.stderr).toContain('; its last line: Soon LOOP_COMPLETE.\n');
      expect(told.stderr).toContain('✗ the claim was refused: the check "test -f ok.txt" failed');

      // Whoever looks meanwhile, and whoever reads the history, never sees a box that was not proven.
      expect(place.read('seen.md')).toBe(promptText);
      expect(place.read('PROMPT.md')).toBe(ticked);
      const history = git(
        place,
        'log',
        '--format=:%(trailers:key=Ralph-Iteration,valueonly,separator=%x2C)',
        '--name-only',
      );
      expect(history.replaceAll(/\n+/g, ' ').trim()).toBe(
        ':4 PROMPT.md ok.txt seen.md :2 a.txt b.txt : PROMPT.md README.md',
      );
      expect(git(place, 'log', '-2', '--format=%s')).toBe(
        'prompt: Build a small API\nprompt progress: Build a small API\n',
      );
      expect(git(place, 'status', '--porcelain')).toBe('');

      expect(metricsOf(place)).toMatchObject({
        ...{ iterations: 4, successes: 4, failures: 0, errors: 0, checkpoints: 5, rollbacks: 0, success_rate: 1 },
        elapsed_hours: expect.any(Number),
        termination_reason: 'goal_achieved',
        trigger_counts: { initial: 1, previous_success: 1, task_incomplete: 2 },
      });
      expect(place.read('.agent/logs/ralph.log')).toMatch(
        /^\d{4}-\S+Z loop build-a-small-api started[\s\S]*loop ended\. Done:/,
      );
      expect(readdirSync(join(place.project, '.agent/prompts')).sort()).toEqual(
        [1, 2, 3, 4].map(number => `prompt_${number}.md`),
      );
      const third = place.read('.agent/prompts/prompt_3.md');
      expect(third).toMatch(/^# Build a small API\n\nServe \/todos as JSON\.\n\n---\n/);
      expect(third).toMatch(/Started by `task_incomplete`[\s\S]*> todo: the list/);

      const again = await place.ralph(words);
      expect(again).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('PROMPT.md is complete;') });
    }));

  it.concurrent('is the task: an agent that rewrites it gets its own old words again, and the box is all that it may tick', () =>
    inScratch(async place => {
      startRepository(place, { 'PROMPT.md': promptText });
      const agent = agentOf(
        `printf '# Say done\\n\\n- [ ] TASK_COMPLETE\\n' > PROMPT.md; echo 'It is easier now.'`,
        `cp PROMPT.md seen.md; printf '# Say done\\n\\n- [x] TASK_COMPLETE\\n' > PROMPT.md; echo done`,
      );
      const told = await place.ralph(['run', 'PROMPT.md', '--agent-command', agent, '--no-commit']);
      expect(told).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Done: the task is complete, 2 iterations/),
      });
      expect([place.read('seen.md'), place.read('PROMPT.md')]).toEqual([promptText, ticked]);
      const second = place.read('.agent/prompts/prompt_2.md');
      expect(second).toMatch(
        /^# Build a small API\n[\s\S]*PROMPT\.md is the task itself and was edited while an iteration ran/,
      );
      expect(told.stderr).toContain('the task itself was edited during iteration 1 and is not taken');
      const kept = join(place.home, 'loops', loopOf(place), 'document.edited');
      expect(readFileSync(kept, 'utf8')).toBe('# Say done\n\n- [x] TASK_COMPLETE\n');
    }));

  it.concurrent('given three failures in a row, then the files go back; given five, then it ends, and can be resumed', () =>
    inScratch(async place => {
      startRepository(place, { 'PROMPT.md': promptText });
      const fails = 'echo bad > a.txt; echo "no $RALPH_ITERATION" >&2; exit 1';
      const agent = agentOf(
        'echo good > a.txt; echo one step',
        ...[fails, fails, fails],
        'cp a.txt seen.txt; exit 1',
        'exit 1',
        'echo LOOP_COMPLETE',
      );
      const words = ['run', '--agent-command', agent, '--backoff-base', '1ms'];
      const told = await place.ralph(words);
      expect(told).toMatchObject({
        code: 6,
        stdout: expect.stringMatching(/^Stopped: too many errors in a row: .*\. Not complete, 6 iterations,/),
      });
      expect(told.stderr).toMatch(/checkpoint 2 restored, 1 file put back.*3 errors in a row/);
      expect(place.read('seen.txt')).toBe('good\n');
      expect(metricsOf(place)).toMatchObject({ failures: 5, rollbacks: 1, end_trigger: 'safety_limit' });
      const done = await place.ralph(hinted(told.stderr, 'ralph resume'));
      expect(done.stdout).toMatch(/^Done: the task is complete, 7 iterations, .*verified: false/);
    }));

  it.concurrent('given a SIGKILL while the agent works, then the same command goes on with notes, box and metrics', () =>
    inScratch(async place => {
      place.put('PROMPT.md', promptText);
      mkdirSync(join(place.project, '.agent'));
      const hanging = hangingAgent(place);
      const agent = agentOf(
        `echo 'half done' > .agent/scratchpad.md; ${tick}; ${hanging.command}`,
        'echo LOOP_COMPLETE',
      );
      const words = ['run', 'PROMPT.md', '--agent-command', agent];
      const live = place.start(words);
      await isAtWork(place, 1);
      expect(place.read('PROMPT.md')).toBe(ticked);
      live.child.kill('SIGKILL');
      await Promise.all([live.ended, hanging.gone()]);

      const told = await place.ralph(words);
      expect(told).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Done: the task is complete, 2 iterations/),
      });
      expect(told.stderr).toMatch(/iteration 1 interrupted: /);
      const second = place.read('.agent/prompts/prompt_2.md');
      expect(second).toMatch(/Started by `recovery`[\s\S]*> half done/);
      expect(metricsOf(place)).toMatchObject({ iterations: 2, successes: 1 });
    }));
});

describe('the state file of another tool', () => {
  it.concurrent('brings its own limit and promise, and is switched off when its task is complete', () =>
    inScratch(async place => {
      mkdirSync(join(place.project, '.claude'));
      const front = 'active: true\niteration: 1\nmax_iterations: 2\ncompletion_promise: "ALL  GREEN"\n';
      const file = '.claude/ralph-loop.local.md';
      place.put(file, `---\n${front}started_at: "2026-01-15T12:00:00Z"\n---\n\nMake every test green.\n`);
      const agent = agentOf("echo 'ALL GREEN!'", "echo 'is it ALL GREEN'", "echo '<promise>ALL GREEN</promise>'");
      const words = ['run', file, '--agent-command', agent];
      const limited = await place.ralph(words);
      expect(limited).toMatchObject({ code: 3, stdout: expect.stringContaining('iteration 2 of 2') });
      expect(limited.stderr).toContain('must be exactly <promise>ALL GREEN</promise>');
      expect((await place.ralph(hinted(limited.stderr, 'ralph resume'))).stdout).toMatch(
        /^Done: the task is complete, 3 iterations/,
      );
      expect(place.read(file)).toContain(`---\n${front.replace('true', 'false')}started_at`);
    }));
});

describe('a chain of agents on a PROMPT.md', () => {
  it.concurrent(
    'moves on to the next one after three errors, and halts by an average only when that is asked for',
    inWorkshop(async place => {
      place.put('PROMPT.md', promptText);
      place.install('claude', fakeClaude('process.exit(1)'));
      place.install(
        'codex',
        '#!/bin/sh\nread -r _\necho \'{"type":"item.completed","item":{"type":"agent_message","text":"- [x] TASK_COMPLETE"}}\'\necho \'{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}\'\n',
      );
      const words = ['run', 'PROMPT.md', '--agent', 'claude', '--fallback', 'codex', '--backoff-base', '1ms'];
      const told = await place.ralph(words, { env: place.path });
      expect(told).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Done: the task is complete, 4 iterations/),
      });
      expect(told.stderr).toMatch(/Iteration 3 of 100 by claude\n[\s\S]*Iteration 4 of 100 by codex/);

      place.put('PROMPT.md', promptText);
      const average = [...words.slice(0, 2), '--agent-command', 'echo hm', '--max-average-duration', '1ms'];
      const slow = await place.ralph(average);
      expect(slow).toMatchObject({
        code: 3,
        stdout: expect.stringMatching(/^Stopped: the time is used up: iterations take .* on average, more than /),
      });
      expect(slow.stderr).not.toContain('--max-duration');
    }),
  );
});
