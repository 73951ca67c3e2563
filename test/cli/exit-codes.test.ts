// How a loop ends through the real binary: the exit code, the last line on standard output, and what to do next.

import { describe, expect, it } from 'vitest';
import type { ScriptTurn } from '../../src/agents/scripted.ts';
import type { LoopView } from '../../src/views/loop.ts';
import { claims, inScratch, runScript, type Scratch, scripted, type Told } from './kit.ts';

const question = {
  type: 'stuck',
  summary: 'Which database?',
  context: 'Two are configured.',
  options: ['The first', 'The second'],
  question: 'Which one is meant?',
};
const passes = ['--verify', 'file:PRD.json'];
const fails = ['--verify', 'false', '--allow-red-start'];

interface Case {
  readonly name: string;
  readonly turns: readonly ScriptTurn[];
  readonly flags: readonly string[];
  readonly code: number;
  /** The whole of standard output: one sentence. */
  readonly last: RegExp;
  readonly next: RegExp;
}

const cases: readonly Case[] = [
  {
    name: '0: done, its check still green',
    turns: [claims()],
    flags: passes,
    code: 0,
    last: /^Done: 1 of 1 task done, 1 iteration, cost not reported; 1 with checks still green\.\n$/,
    next: /ralph report shop/,
  },
  {
    name: '0: done on the word of the agent, and the last line says so',
    turns: [claims()],
    flags: [],
    code: 0,
    last: /^Done: .*verified: false \(1 task closed unverified\)\.\n$/,
    next: /ralph report shop/,
  },
  {
    name: '8: the same with --require-checks',
    turns: [claims()],
    flags: ['--require-checks'],
    code: 8,
    last: /^Done: .*verified: false/,
    next: /ralph report shop/,
  },
  {
    name: '8: every claim failed its check',
    turns: [claims()],
    flags: fails,
    code: 8,
    last: /^Waiting for you: No task is ready, 1 task left\. 0\/1 tasks done, 1 blocked/,
    next: /ralph answer shop\/E1/,
  },
  {
    name: '3: the iterations are used up',
    turns: [claims()],
    flags: [...fails, '--max-iterations', '2'],
    code: 3,
    last: /^Stopped: all iterations are used up: iteration 2 of 2 \(--max-iterations\)\. 0\/1 tasks done/,
    next: /ralph resume shop --max-iterations 4 /,
  },
  {
    name: '3: the time is used up, in the middle of a turn',
    turns: [{ steps: [{ hang: true }] }],
    flags: ['--max-duration', '300ms'],
    code: 3,
    last: /^Stopped: the time is used up: .*\(--max-duration\)/,
    next: /ralph resume shop --max-duration 1m /,
  },
  {
    name: '4: the money is used up, in the middle of a turn',
    turns: [
      { steps: [{ usage: { costUsdMicros: 600_000 } }, { usage: { costUsdMicros: 1_100_000 } }, { hang: true }] },
    ],
    flags: ['--max-cost', '1'],
    code: 4,
    last: /^Stopped: the money is used up: \$1\.10 spent of \$1\.00 \(--max-cost\)/,
    next: /ralph resume shop --max-cost 3 /,
  },
  {
    name: '5: a question waits for you, and nobody is at a terminal',
    turns: [{ steps: [{ escalate: question }] }],
    flags: [],
    code: 5,
    last: /^Waiting for you: Which database\?/,
    next: /ralph answer shop\/E1 --option 1/,
  },
  {
    name: '5: the same error three times asks a human too',
    turns: [{ steps: [{ fail: 'process', detail: 'ConnectionRefused' }] }],
    flags: ['--backoff-base', '1ms'],
    code: 5,
    last: /^Waiting for you: The same error 3 times in a row\. .*3 iterations/,
    next: /ralph answer shop\/E1/,
  },
  {
    name: '6: five errors in a row',
    turns: [{ steps: [{ fail: 'process', detail: 'boom' }] }],
    flags: ['--backoff-base', '1ms', '--stuck-threshold', '9', '--max-errors', '5'],
    code: 6,
    last: /^Stopped: too many errors in a row: 5 errors in a row, 5 allowed/,
    next: /ralph explain shop[\s\S]*ralph logs shop/,
  },
  {
    name: '6: no progress (F77: an agent that says nothing)',
    turns: [{ steps: [] }],
    flags: ['--max-blocked', '1'],
    code: 6,
    last: /^Stopped: no progress: 1 task blocked in a row and none done between, 1 allowed \(--max-blocked\)/,
    next: /ralph explain shop/,
  },
  {
    name: '7: the agent is not logged in',
    turns: [{ steps: [{ fail: 'auth', detail: 'please log in' }] }],
    flags: [],
    code: 7,
    last: /^Waiting for you: scripted: login needed\./,
    next: /ralph answer shop\/E1/,
  },
];

describe('exit codes', () => {
  for (const { name, turns, flags, code, last, next } of cases) {
    it.concurrent(name, () =>
      inScratch(async place => {
        scripted(place, ['US-001'], turns);
        const told = await place.ralph([...runScript, ...flags]);
        expect(told.stdout).toMatch(last);
        expect(told.stdout.split('\n')).toHaveLength(2);
        expect(told.stderr).toMatch(next);
        expect(told.code).toBe(code);
      }),
    );
  }

  it.concurrent('0: --on-escalation skip leaves the task out and is done with the others', () =>
    inScratch(async place => {
      const asks = { task: 'US-001', steps: [{ escalate: question }] };
      scripted(place, ['US-001', 'US-002'], [asks, claims('US-002')]);
      const told = await place.ralph([...runScript, '--on-escalation', 'skip']);
      expect(told.stdout).toMatch(/^Done: 1 of 2 tasks done, 1 skipped/);
      expect(told.code).toBe(0);
      const stories = JSON.parse(place.read('PRD.json')).userStories;
      expect(stories.map((story: { passes: boolean; skipped?: boolean }) => [story.passes, story.skipped])).toEqual([
        [false, true],
        [true, undefined],
      ]);
    }));
});

const limited = async (place: Scratch): Promise<Told> => {
  scripted(place, ['US-001', 'US-002', 'US-003'], [claims()]);
  return place.ralph([...runScript, ...passes, '--max-iterations', '1']);
};

describe('after a limit', () => {
  it.concurrent('a plain run exits 3 and says both ways on; it resets nothing', () =>
    inScratch(async place => {
      expect((await limited(place)).code).toBe(3);
      const again = await place.ralph([...runScript, ...passes, '--max-iterations', '1']);
      expect(again.code).toBe(3);
      expect(again.stdout).toBe('');
      expect(again.stderr).toMatch(
        /the last loop of this file ended with work left\. Stopped: all iterations are used up/,
      );
      expect(again.stderr).toContain('  Go on, counters kept: ralph resume shop --max-iterations 2\n');
      expect(again.stderr).toContain('  Start over with new counters: the same command with --new\n');
    }));

  it.concurrent('resume with a higher limit goes on, counters kept', () =>
    inScratch(async place => {
      await limited(place);
      const same = await place.ralph(['resume', 'shop']);
      expect(same.code).toBe(2);
      expect(same.stderr).toMatch(
        /would end again at once: iteration 1 of 1 .*\n {2}Raise that limit: ralph resume shop --max-iterations 2\n/,
      );
      const second = await place.ralph(['resume', 'shop', '--max-iterations', '2']);
      expect(second.code).toBe(3);
      expect(second.stderr).toContain('resumed after iteration 1');
      expect(second.stdout).toContain('iteration 2 of 2 (--max-iterations). 2/3 tasks done');
      const third = await place.ralph(['resume', 'shop', '--max-iterations', '9']);
      expect(third.stdout).toMatch(/^Done: 3 of 3 tasks done, 3 iterations/);
      expect(third.code).toBe(0);
    }));

  it.concurrent('--new starts over with a loop and counters of its own', () =>
    inScratch(async place => {
      await limited(place);
      const told = await place.ralph([...runScript, ...passes, '--new']);
      expect(told.stdout).toMatch(/^Done: 3 of 3 tasks done, 2 iterations/);
      const { loops } = (await place.json(['loops', 'list', '--json'])) as { loops: LoopView[] };
      expect(loops.map(loop => loop.ending?.reason)).toEqual(['goal_achieved', 'max_iterations']);
    }));

  it.concurrent('a loop that is done is not resumed, and a stopped one is ended for good with exit 0', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [claims()]);
      await place.ralph(runScript);
      const resumed = await place.ralph(['resume', 'shop']);
      expect(resumed.code).toBe(2);
      expect(resumed.stderr).toMatch(/Loop shop is done: there is nothing to resume/);
      const stopped = await place.ralph(['stop', 'shop']);
      expect(stopped.code).toBe(0);
      expect(stopped.stderr).toContain('Loop shop has ended already (Done)');
    }));
});
