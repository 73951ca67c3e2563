// A judge through the real binary: another agent that reads the diff in a fresh context and may refuse what checks pass.
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { eventsOf } from './kit.ts';
import { fakeClaude, inWorkshop, type Workshop } from './workshop.ts';

const verdict = (one: string): string =>
  `say('I looked.\\n' + JSON.stringify({ criteria: [{ criterion: 1, verdict: '${one}', evidence: 'the diff' }], summary: 's' }))`;

function repository({ project, env, put, install }: Workshop, judge: string): readonly string[] {
  put('a.test.js', "test('a', () => { expect(1).toBe(1); });\ntest('b', () => { expect(2).toBe(2); });\n");
  const git = (...words: string[]) => execFileSync('git', words, { cwd: project, env });
  git('init', '-q');
  git('-c', 'user.name=Ada', '-c', 'user.email=a@example.org', 'add', '-A');
  git('-c', 'user.name=Ada', '-c', 'user.email=a@example.org', 'commit', '-qm', 'first');
  install('claude', fakeClaude(judge));
  install('worker', '#!/bin/sh\nread -r _\necho work > work.txt\necho "Task $RALPH_TASK complete"\n');
  install('weakens', '#!/bin/sh\nread -r _\nsed -i 2d a.test.js\necho "Task $RALPH_TASK complete"\n');
  return ['run', 'PRD.json', '--agent', 'command', '--verify', 'true', '--judge', 'claude', '--max-attempts', '2'];
}

const checksOf = async (place: Workshop) => (await eventsOf(place)).filter(event => event['type'] === 'check.ended');

describe('--judge', () => {
  it(
    'that passes every criterion closes the task, is named on the card, and its cost counts',
    inWorkshop(async place => {
      const words = repository(place, verdict('pass'));
      const told = await place.ralph([...words, '--agent-command', 'worker'], { env: place.path });
      expect(told.code).toBe(0);
      expect(told.stderr).toContain('judge: claude');
      expect((await checksOf(place)).map(event => [event['check'], event['passed']])).toEqual([
        ['true', true],
        ['judge: claude', true],
      ]);
      const report = (await place.json(['report', '--json'])) as { readonly totals?: unknown };
      expect(JSON.stringify(report)).toMatch(/0\.007695|7695/);
    }),
  );

  it(
    'that fails a criterion refuses the task although every check passed, and the next attempt is told why',
    inWorkshop(async place => {
      const words = repository(place, verdict('fail'));
      const told = await place.ralph([...words, '--agent-command', 'worker'], { env: place.path });
      expect(told.code).toBe(8);
      expect(told.stdout).not.toContain('Done');
      const prompt = await place.ralph(['logs', '--prompt', '--iteration', '2'], { env: place.path });
      expect(prompt.stdout).toContain('judge: claude');
    }),
  );

  it(
    'that says nothing of use passes nothing: a person is asked, and no attempt is spent on it',
    inWorkshop(async place => {
      const words = repository(place, "say('all fine!')");
      const told = await place.ralph([...words, '--agent-command', 'worker'], { env: place.path });
      expect(told.code).toBe(5);
      expect(told.stdout).toContain('no verdict');
      expect((await eventsOf(place)).filter(event => event['type'] === 'iteration.started')).toHaveLength(1);
    }),
  );

  it(
    'decides in place of a person about a test that was taken away',
    inWorkshop(async place => {
      const words = repository(place, verdict('pass'));
      const told = await place.ralph([...words, '--agent-command', 'weakens'], { env: place.path });
      expect(told.code).toBe(0);
      const screened = (await eventsOf(place)).find(event => event['type'] === 'proof.screened');
      expect(screened).toMatchObject({
        refused: false,
        doubts: [{ kind: 'fewer-tests', severity: 'refuse' }],
      });
    }),
  );
});
