// What a person says of a task: done by them, unverified, by command or in the document; left out, and committed at once.
import { describe, expect, it } from 'vitest';
import { asks, claims, eventually, hangingAgent, inScratch, prd, runScript, scripted } from '../kit.ts';
import { git, makeRepository } from '../repository.ts';

const three = ['US-001', { id: 'US-002', dependsOn: ['US-001'] }, { id: 'US-003', dependsOn: ['US-002'] }];

describe('a task that a person did', () => {
  it('given ralph task done, then it counts as done by them, unverified, and nobody works on it', () =>
    inScratch(async place => {
      scripted(place, ['US-001', 'US-002'], [{ task: 'US-001', steps: [asks] }, claims()]);
      expect((await place.ralph([...runScript, '--verify', 'true'])).code).toBe(5);
      const told = await place.ralph(['task', 'done', 'US-001']);
      expect(told).toMatchObject({ code: 0, stderr: expect.stringContaining('US-001 is done, by your word') });
      expect((await place.ralph(['task', 'done', 'US-001'])).stderr).toContain('US-001 is done already.');
      const ended = await place.ralph(['resume']);
      expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Done: 2 of 2 tasks done, 2 iterations/) });
      expect((await place.ralph(['task', 'list'])).stdout).toMatch(/US-001 .*closed unverified by/);
    }));

  it('given passes set to true between runs, then it is done by a person, and is not worked on again', () =>
    inScratch(async place => {
      scripted(place, ['US-001', 'US-002'], [{ task: 'US-001', steps: [asks] }, claims()]);
      expect((await place.ralph(runScript)).code).toBe(5);
      place.put(
        'PRD.json',
        prd([
          { id: 'US-001', passes: true },
          { id: 'US-002', passes: true },
        ]),
      );
      expect((await place.ralph(['resume'])).code).toBe(0);
      const events = (await place.ralph(['events'])).stdout;
      expect(events).toMatch(/US-001.*done by a person, unverified \(in the document/);
      expect((await place.ralph(['inbox'])).stdout).not.toContain('E1');
    }));

  it('given an agent that sets passes and is killed with Ralph, then that is no word of a person', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], []);
      const { command: hangs, gone } = hangingAgent(place);
      const forges = `sed -i 's/"passes": false/"passes": true/' PRD.json; ${hangs}`;
      const live = place.start(['run', 'PRD.json', '--agent-command', forges, '--no-input']);
      await live.says('Iteration 1');
      await eventually('it is forged', () => place.read('PRD.json').includes('"passes": true'));
      live.child.kill('SIGKILL');
      await Promise.all([live.ended, gone()]);
      const again = await place.ralph(['resume', '--agent-command', 'true', '-n', '2']);
      expect(again.code).toBe(3);
      expect(place.read('PRD.json')).toContain('"passes": false');
    }));
});

describe('a task that is left out', () => {
  it('says what becomes of those that wait for it, and its mark is a commit of its own', () =>
    inScratch(async place => {
      makeRepository(place, three as never);
      place.put('script.json', JSON.stringify({ turns: [{ steps: [{ write: 'half.txt', text: 'x' }, asks] }] }));
      expect((await place.ralph([...runScript])).code).toBe(5);
      const told = await place.ralph(['answer', 'E1', '--skip']);
      expect(told.stderr).toContain('Not ready without it: US-002, US-003.');
      expect((await place.ralph(['resume'])).code).toBe(5);
      expect(git(place, 'log', '-1', '--format=%s%n%b')).toMatch(
        /^US-001 left out: .*\n\s*Left out: nobody works on it\./,
      );
      expect(git(place, 'show', '--name-only', '--format=').trim()).toBe('PRD.json');
    }));
});

describe('an agent that calls its own task blocked', () => {
  it('is believed: it is shown with its reason, and a person is asked', () =>
    inScratch(async place => {
      const tasks = [{ id: 'T1', title: 'Pay', status: 'pending', dependencies: [] }];
      place.put('tasks.json', `${JSON.stringify({ project_name: 'shop', tasks }, null, 2)}\n`);
      const blocks = `sed -i 's/"status": "[a-z_]*"/"status": "blocked", "blocked_reason": "no key for the bank"/' tasks.json; echo I cannot go on.`;
      const told = await place.ralph(['run', 'tasks.json', '--agent-command', blocks, '--no-input']);
      expect(told).toMatchObject({ code: 5, stdout: expect.stringContaining('T1 is blocked, says its agent') });
      expect((await place.ralph(['inbox'])).stdout).toContain('no key for the bank');
      expect((await place.ralph(['task', 'show', 'T1'])).stdout).toContain('no key for the bank');
      expect(place.read('tasks.json')).toContain('"status": "blocked"');
      await place.ralph(['answer', 'E1', '--text', 'The key is in bank.key']);
      const done = await place.ralph(['resume', '--agent-command', 'echo Task T1 complete', '--no-input']);
      expect(done.code).toBe(0);
    }));
});
