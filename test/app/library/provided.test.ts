// Proves that a program's own mistakes end neither the loop nor the process, and that none of them proves or pays for anything.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, type Check, type LoopOptions, type Performer, runLoop, UsageError } from '../../../src/index.ts';
import { player, report, stage } from './stage.ts';

const goal = 'make a page';
const settings = { backoffBase: '1ms', allowRedStart: true };
const done = `${report({ phase: 'complete', completed: ['the page'], pending: [], blocked: [] })}\n<promise>DONE</promise>`;
const agent = player('mine', () => done);

const ran = (part: Partial<LoopOptions>) =>
  runLoop({ goal, directory: stage().directory, memory: true, agent, settings, ...part });

describe('what a program brings along', () => {
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown): void => void rejections.push(reason);
  beforeEach(() => void process.on('unhandledRejection', onRejection));
  afterEach(() => {
    process.off('unhandledRejection', onRejection);
    expect(rejections).toEqual([]);
  });

  it('given callbacks that throw or reject, then the loop is done all the same, and the one that can hear of it does', async () => {
    const told: string[] = [];
    const onEvent = async (): Promise<void> => {
      throw new Error('oops');
    };
    const heard = await ran({ onEvent, onNotice: sentence => void told.push(sentence) });
    expect(heard).toMatchObject({ reason: 'goal_achieved' });
    await new Promise(setImmediate);
    expect(told).toContain('onEvent threw at loop.started: oops');
    const deaf = await ran({
      onEvent: () => {
        throw Object.create(null);
      },
      onNotice: async () => {
        throw new Error('deaf');
      },
    });
    expect(deaf).toMatchObject({ reason: 'goal_achieved' });
    await new Promise(setImmediate);
  });

  it('given a performer that yields junk or money that is none, then each is a failed iteration, and its money counts', async () => {
    const parts: readonly unknown[] = [
      null,
      { type: 'usage', usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 } },
      { type: 'ended', message: 42 },
    ];
    const usage = {
      inputTokens: 1,
      outputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      costUsdMicros: 5,
      estimated: false,
    };
    const junk = {
      ...agent,
      async *perform({ iteration }: { readonly iteration: number }) {
        yield { type: 'usage', usage };
        yield parts[iteration - 1];
      },
    } as Performer;
    const limits = { iterations: 3, iterationsWithoutProgress: 9 };
    const result = await ran({ agent: junk, limits });
    expect(result).toMatchObject({
      reason: 'max_iterations',
      exitCode: 3,
      state: { spend: { usage: { costUsdMicros: 15 } } },
    });
    expect(result.report.errors).toEqual([
      expect.stringContaining('an activity is null'),
      expect.stringContaining('usage.usage.costUsdMicros is undefined'),
      expect.stringContaining('ended.message is 42'),
    ]);
  });

  it('given a check that answers with a word, then nothing is verified', async () => {
    const check = { name: 'mine', run: async () => ({ passed: 'no' }) } as unknown as Check;
    const result = await ran({ checks: [check], limits: { iterations: 1 } });
    expect(result).toMatchObject({ reason: 'max_iterations', verified: false });
    expect(result.report.checks).toEqual([{ iteration: 1, task: 'goal', check: 'own check: mine', passed: false }]);
  });
});

describe('an answer of a program', () => {
  const question = '<summary>which?</summary>\n<options>\n1. red\n2. blue\n</options>\n<question>which?</question>';
  const asker = player('mine', () => `<escalate type="stuck">\n${question}\n</escalate>`);

  it.each<[string, unknown, string]>([
    ['of no kind', { kind: 'xx' }, 'answered with what is no answer'],
    ['that is a word', 'yes', 'answered with what is no answer'],
    ['that chooses what is not there', { kind: 'option', option: 3 }, 'chose option 3 of 2'],
  ])(
    'given one %s, then it is not taken, the question stays open, and the loop comes back',
    async (_name, answer, words) => {
      const told: string[] = [];
      const result = await ran({
        agent: asker,
        onEscalation: () => answer as Answer,
        onNotice: sentence => void told.push(sentence),
      });
      expect(result).toMatchObject({ how: 'waiting', exitCode: 5, questions: [{ id: 'E1' }] });
      expect(told).toContain(`onEscalation ${words}: E1 stays open.`);
    },
  );

  it('given one that changes nothing, then it is not asked for ever', async () => {
    const { directory, home, write } = stage();
    write('vault/Plans/acme.md', plan);
    let asked = 0;
    const onEscalation = (): Answer => {
      asked += 1;
      return { kind: 'retry' };
    };
    const result = await runLoop({ document: 'vault/Plans/acme.md', directory, home, onEscalation });
    expect(result).toMatchObject({ how: 'waiting', exitCode: 5 });
    expect(asked).toBe(3);
  });

  it('given one that never comes, then a signal ends the wait', async () => {
    const stopper = new AbortController();
    const onEscalation = (): Promise<Answer> => {
      stopper.abort();
      return new Promise(() => {});
    };
    const result = await ran({ agent: asker, onEscalation, signal: stopper.signal });
    expect(result).toMatchObject({ how: 'interrupted', exitCode: 130 });
  });
});

const plan = `---
plan_id: acme
objective: "Onboard Acme"
total_steps: 1
completed_steps: 0
status: pending
approval_required: true
iterations_used: 0
max_iterations: 10
---

# Plan

- [ ] **Step 1:** Write the note (action_type: create_file)
  - Dependencies: none
  - File: vault/notes/one.md
  - Content: first
`;

describe('what is plainly wrong', () => {
  const cases: readonly (readonly [string, object, RegExp])[] = [
    ['a misspelt option', { onEvnt: () => {} }, /no option "onEvnt".*onEvent\?/],
    ['a misspelt limit', { limits: { iteration: 3 } }, /no limit "limits.iteration".*limits.iterations\?/],
    ['limits that are none', { limits: null }, /limits is null/],
    ['a limit in words', { limits: { iterations: '3' } }, /limits.iterations is "3"/],
    ['a deadline in words', { limits: { deadline: '2030-01-01' } }, /limits.deadline is "2030-01-01", not a Date/],
    ['nothing for what has no end', { settings: { promise: null } }, /settings.promise is null/],
    [
      'a limit twice',
      { limits: { iterations: 3 }, settings: { maxIterations: 4 } },
      /settings.maxIterations is also said/,
    ],
    ['a goal that is a number', { goal: 42 }, /goal is 42/],
    ['a folder with a NUL', { directory: '/tmp/\0' }, /directory is/],
    ['a home that is a file', { memory: false, home: import.meta.filename }, /ENOTDIR|not a (folder|directory)/],
    ['a signal that is none', { signal: {} }, /not an AbortSignal/],
    ['an environment of numbers', { environment: { PORT: 80 } }, /an object of texts/],
    ['a performer that is null', { agent: undefined, performers: [null] }, /a list of names or objects/],
    ['a performer without abilities', { agent: { name: 'x', perform() {} } }, /does not say whether it can steer/],
    ['a performer named as every object', { agent: { ...agent, name: 'constructor' } }, /no name that can be recorded/],
    ['a check that cannot run', { checks: [{ name: 'x' }] }, /The check x has no run/],
    ['an answer that is a number', { onEscalation: 5 }, /onEscalation is 5/],
  ];
  it.each(cases)('%s is refused and named', async (_name, part, words) => {
    const refusal = await ran(part as Partial<LoopOptions>).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UsageError);
    const { message, hint } = refusal as UsageError;
    expect(`${message} ${hint}`).toMatch(words);
  });

  it('but a goal may be called like a file, or like standard input', async () => {
    const { directory } = stage();
    writeFileSync(join(directory, 'notes'), '');
    for (const words of ['-', 'notes']) {
      const result = await ran({ directory, goal: words });
      expect(result).toMatchObject({ reason: 'goal_achieved', state: { loop: { goal: words } } });
    }
  });
});
