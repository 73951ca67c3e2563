// `ralph resume`: one command goes on with a loop, whatever it stands still for, and whatever it was started with.
import { describe, expect, it } from 'vitest';
import { asks, claims, hangingAgent, inScratch, runScript, scripted } from '../kit.ts';

/** Says nothing the first time, then does its task. */
const command = 'if [ -f seen ]; then echo "Task $RALPH_TASK done"; else touch seen; echo hm; fi';
const slow = ['run', 'PRD.json', '--agent-command', command, '--max-iterations', '1', '--no-input'];

describe('ralph resume', () => {
  it('given a loop that ended at a limit, then it runs with its agent command and the new limit, counters kept', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], []);
      expect((await place.ralph(slow)).code).toBe(3);
      const told = await place.ralph(['resume', '--max-iterations', '4']);
      expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining('Done: 1 of 1 task done, 2 iterations') });
      const { folded: state } = (await place.json(['loops', 'show', 'shop', '--json'])) as never as { folded: never };
      expect(state).toMatchObject({
        iterations: { begun: 2 },
        settings: { limits: { iterationsMax: 4 }, startedWith: { agentCommand: command } },
      });
    }));

  it('given a secret in the agent command, then it is neither kept nor guessed: it is to be said again', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], []);
      const token = `s3cr3t-${'k9Q2'.repeat(4)}`;
      const env = { DEPLOY_TOKEN: token };
      const words = slow.map(word => (word === command ? `TOKEN=${token}; ${command}` : word));
      expect((await place.ralph(words, { env })).code).toBe(3);
      const told = await place.ralph(['resume', '-n', '4']);
      expect(told).toMatchObject({
        code: 7,
        stderr: expect.stringContaining('--agent-command of this loop held a secret'),
      });
      expect((await place.ralph(['loops', 'show', 'shop', '--json'])).stdout).not.toContain(token);
      const again = ['resume', '-n', '4', '--agent-command', `TOKEN=${token}; ${command}`];
      expect((await place.ralph(again, { env })).code).toBe(0);
    }));

  it('given an answer, then it goes on from any folder, and a flag of run counts from now on', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [{ steps: [asks] }]);
      expect((await place.ralph([...runScript, '--worktree-copy', 'x'])).code).toBe(5);
      scripted(place, ['US-001'], [claims()]);
      expect((await place.ralph(['answer', 'E1', '--retry'])).stderr).toContain('Go on: ralph resume shop');
      const told = await place.ralph(['resume', 'shop', '--verify', 'test -f PRD.json'], { cwd: place.temporary });
      expect(told).toMatchObject({ code: 0, stdout: expect.not.stringContaining('verified: false') });
    }));

  it('given a limit that is not raised, then nothing runs, and the line that raises it is said', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], []);
      expect((await place.ralph(slow)).code).toBe(3);
      expect(await place.ralph(['resume'])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Raise that limit: ralph resume shop --max-iterations 2'),
      });
    }));

  it('given a loop that a process holds, then it is only unpaused, and what cannot reach it is refused', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], []);
      const { command: hangs, gone } = hangingAgent(place);
      const live = place.start(['run', 'PRD.json', '--agent-command', hangs, '--no-input']);
      await live.says('Iteration 1');
      expect((await place.ralph(['resume'])).stderr).toContain('Loop shop is running and not paused.');
      expect((await place.ralph(['resume', '--agent', 'codex'])).code).toBe(2);
      expect((await place.ralph(['pause'])).code).toBe(0);
      expect((await place.ralph(['resume', '-n', '7'])).stderr).toContain('taken up by the running loop');
      await place.ralph(['stop']);
      expect((await live.ended).code).toBe(0);
      await gone();
    }));
});

it('given --new while a question is open, then the loop before it is ended when the new one begins, and not when it is refused', () =>
  inScratch(async place => {
    scripted(place, ['US-001'], [{ steps: [asks] }]);
    expect((await place.ralph(runScript)).code).toBe(5);
    scripted(place, ['US-001'], [claims()]);
    const before = (await place.ralph(['events'])).stdout;
    const refused = await place.ralph([...runScript, '--new', '--verify', 'false']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.not.stringContaining('is ended')]);
    expect((await place.ralph(['events'])).stdout).toBe(before);
    const told = await place.ralph([...runScript, '--new']);
    expect(told).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Loop shop is ended and its 1 question closed'),
    });
    expect((await place.ralph(['inbox'])).stderr).toContain('Nothing waits for you.');
  }));

it('given a run in which everything was skipped, then it does not exit with 0, nor does the next', () =>
  inScratch(async place => {
    scripted(place, ['US-001'], [{ steps: [asks] }]);
    const told = await place.ralph([...runScript, '--on-escalation', 'skip']);
    expect(told).toMatchObject({ code: 6, stdout: expect.stringContaining('Over, nothing done') });
    expect((await place.ralph(runScript)).code).toBe(6);
  }));
