// Proves that a goal runs through the public API as on the command line: reached, refused by limits and errors, stopped and resumed.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type Check, type LoopOptions, memoryLedger, runLoop, UsageError } from '../../../src/index.ts';
import { fails, player, report, stage, untilStopped } from './stage.ts';

const settings = { backoffBase: '1ms' };
const goal = 'make a page';
const going = report({ phase: 'implementing', completed: ['the plan'], pending: ['the page'], blocked: [] });
const done = `${report({ phase: 'complete', completed: ['the page'], pending: [], blocked: [] })}\n<promise>DONE</promise>`;

describe('a goal through runLoop', () => {
  it('given a performer of our own and a check of our own, then the goal is reached, its checks still green, and its files say the same', async () => {
    const { directory, home } = stage();
    const agent = player('mine', ({ iteration }) => (iteration === 1 ? going : done));
    let proofs = 0;
    const check: Check = {
      name: 'the page is there',
      run: async () => {
        proofs += 1;
        return { name: 'whatever', passed: true, detail: 'ok', durationMs: 1 };
      },
    };
    const told: string[] = [];
    const result = await runLoop({
      goal,
      directory,
      home,
      agent,
      checks: [check],
      settings,
      onEvent: event => told.push(event.type),
    });
    expect(result).toMatchObject({ how: 'ended', reason: 'goal_achieved', exitCode: 0, verified: true, ran: true });
    expect(result.summary).toMatch(/^Done: .*, 2 iterations, \$0\.04; checks still green\.$/);
    expect(proofs).toBe(2); // before any work, and for the claim
    expect(result.report.checks).toEqual([
      { iteration: 2, task: 'goal', check: 'own check: the page is there', passed: true },
    ]);
    expect(agent.seen[1]?.prompt).toContain('the plan');
    expect(told[0]).toBe('loop.started');
    expect(told.at(-1)).toBe('loop.ended');
    const { status, report: written } = result.paths ?? { status: '', report: '' };
    expect(JSON.parse(readFileSync(status, 'utf8'))).toMatchObject({ loop_id: result.loop, state: 'completed' });
    expect(JSON.parse(readFileSync(written, 'utf8'))).toEqual(result.report);

    const again = await runLoop({ goal, directory, home, agent, settings });
    expect(again).toMatchObject({ loop: result.loop, ran: false, exitCode: 0, reason: 'goal_achieved' });
    expect(agent.seen).toHaveLength(2);
    const anew = await runLoop({ goal, directory, home, agent: player('mine', () => done), settings, new: true });
    expect(anew).toMatchObject({ ran: true, reason: 'goal_achieved', verified: false });
    expect(anew.loop).not.toBe(result.loop);
  });

  it('given errors only, then five in a row end it, and the same call does not silently begin again', async () => {
    const { directory, home } = stage();
    const agent = player('mine', () => fails);
    const other = player('other', () => fails);
    const limits = { iterationsWithoutProgress: 50 };
    const options: LoopOptions = { goal, directory, home, performers: [agent, other], settings, limits };
    const result = await runLoop(options);
    expect(result).toMatchObject({ reason: 'consecutive_errors', exitCode: 6, verified: false });
    expect(result.state.iterations.begun).toBe(5);
    expect([agent.seen.length, other.seen.length]).toEqual([3, 2]); // the third error hands over
    expect(result.report.errors).toHaveLength(5);
    const again = await runLoop(options);
    expect(again).toMatchObject({ ran: false, exitCode: 6, loop: result.loop });
  });

  it('given a limit of iterations, then it ends with exit code 3 and says so', async () => {
    const { directory, home } = stage();
    const agent = player('mine', ({ iteration }) =>
      report({ phase: 'implementing', completed: [`item ${iteration}`], pending: ['more'] }),
    );
    const result = await runLoop({ goal, directory, home, agent, settings, limits: { iterations: 2 } });
    expect(result).toMatchObject({ reason: 'max_iterations', exitCode: 3 });
    expect(agent.seen).toHaveLength(2);
  });

  it('given a signal in the middle, then the loop stays open, and the same call goes on with its counters', async () => {
    const { directory, home } = stage();
    const stopper = new AbortController();
    const slow = player('mine', ({ iteration }, stop) => {
      if (iteration === 1) return going;
      stopper.abort('enough');
      return untilStopped(stop);
    });
    const first = await runLoop({ goal, directory, home, agent: slow, settings, signal: stopper.signal });
    expect(first).toMatchObject({ how: 'interrupted', exitCode: 130, ran: true });
    expect(first.reason).toBeUndefined();
    expect(first.state.iterations.begun).toBe(2);
    const second = await runLoop({ goal, directory, home, agent: player('mine', () => done), settings });
    expect(second).toMatchObject({ loop: first.loop, how: 'ended', reason: 'goal_achieved' });
    expect(second.state.iterations.begun).toBe(3);
    expect(second.report.cost_usd).toBeCloseTo(0.06);
  });

  it('given a question, then a callback answers it; without one the loop comes back with it', async () => {
    const { directory, home } = stage();
    const ask = '<escalate type="stuck">\n<summary>no key</summary>\n<question>which?</question>\n</escalate>';
    const agent = player('mine', ({ prompt }) => (prompt.includes('the blue one') ? done : ask));
    const open = await runLoop({ goal, directory, home, agent, settings });
    expect(open).toMatchObject({ how: 'waiting', exitCode: 5 });
    expect(open.questions.map(one => one.summary)).toEqual(['no key']);
    const declined = await runLoop({ goal, directory, home, agent, settings, onEscalation: () => undefined });
    expect(declined).toMatchObject({ how: 'waiting', exitCode: 5, loop: open.loop });
    const raised = await runLoop({ goal, directory, home, agent, settings, limits: { iterations: 7 } });
    expect(raised.state.settings.limits.iterationsMax).toBe(7);
    await expect(runLoop({ goal, directory, home, settings })).rejects.toThrow('No agent is called "mine".');
    const answered = await runLoop({
      goal,
      directory,
      home,
      agent,
      settings,
      onEscalation: async () => ({ kind: 'text', text: 'the blue one' }),
    });
    expect(answered).toMatchObject({ reason: 'goal_achieved', loop: open.loop });
  });

  it('given memory, then nothing is left behind; given a ledger of our own, then it holds the loop', async () => {
    const { directory, home } = stage();
    const agent = player('mine', () => done);
    const gone = await runLoop({ goal, directory, memory: true, agent, settings });
    expect(gone).toMatchObject({ reason: 'goal_achieved' });
    expect(gone.paths).toBeUndefined();
    expect(existsSync(dirname(dirname(gone.state.loop.document)))).toBe(false);
    expect(existsSync(home)).toBe(false);
    const ledger = memoryLedger();
    const kept = await runLoop({ goal, directory, home, ledger, agent, settings });
    expect((await ledger.store.loops()).map(row => row.loop)).toEqual([kept.loop]);
    expect(existsSync(join(home, 'ralph.db'))).toBe(false);
    expect(await ledger.store.verify(kept.loop)).toMatchObject({ ok: true });
  });

  it('given variables of the process, then they count only when they are handed over', async () => {
    const { directory, home } = stage();
    vi.stubEnv('RALPH_MAX_ITERATIONS', '1');
    const agent = player('mine', ({ iteration }) => (iteration < 3 ? `${going}\n${iteration}` : done));
    const options: LoopOptions = { goal, directory, home, ledger: memoryLedger(), agent, settings };
    expect(await runLoop(options)).toMatchObject({ reason: 'goal_achieved', state: { iterations: { begun: 3 } } });
    const environment = { HOME: home, RALPH_MAX_ITERATIONS: process.env['RALPH_MAX_ITERATIONS'] };
    const bound = await runLoop({ ...options, goal: 'another page', environment });
    vi.unstubAllEnvs();
    expect(bound).toMatchObject({ reason: 'max_iterations', state: { iterations: { begun: 1 } } });
  });

  it('given the same goal twice at once, then the second is told who is at it', async () => {
    const { directory, home } = stage();
    const ledger = memoryLedger();
    const stopper = new AbortController();
    let second: unknown;
    const slow = player('mine', async (_assignment, stop) => {
      second = await runLoop({ goal, directory, home, ledger, agent: slow, settings }).catch((error: unknown) => error);
      stopper.abort();
      return untilStopped(stop);
    });
    await runLoop({ goal, directory, home, ledger, agent: slow, settings, signal: stopper.signal });
    expect(second).toBeInstanceOf(UsageError);
    expect(second).toMatchObject({ exitCode: 9, message: expect.stringContaining(`process ${process.pid}`) });
  });
});

describe('what runLoop refuses', () => {
  const agent = player('mine', () => done);
  const cases: readonly (readonly [string, (directory: string, home: string) => LoopOptions, RegExp])[] = [
    ['a relative folder', () => ({ goal, directory: '.', memory: true, agent }), /absolute/],
    [
      'a folder that is not there',
      directory => ({ goal, directory: join(directory, 'x'), memory: true, agent }),
      /no folder/,
    ],
    ['no home', directory => ({ goal, directory, agent }), /where the ledger lies/],
    [
      'a goal and a document',
      (directory, home) => ({ goal, document: 'PRD.json', directory, home, agent }),
      /not both/,
    ],
    [
      'a missing document with words',
      (directory, home) => ({ document: 'my own plan', directory, home, agent }),
      /no file/,
    ],
    [
      'an unknown setting',
      (directory, home) => ({ goal, directory, home, agent, settings: { maxIteration: 3 } as never }),
      /no setting/,
    ],
    [
      'a limit of nothing',
      (directory, home) => ({ goal, directory, home, agent, limits: { iterations: 0 } }),
      /--max-iterations/,
    ],
    ['two of one name', (directory, home) => ({ goal, directory, home, performers: [agent, agent] }), /Two performers/],
    ['no agent at all', (directory, home) => ({ goal, directory, home }), /No agent is installed/],
  ];
  it.each(cases)('%s', async (_name, options, words) => {
    const { directory, home } = stage();
    const refusal = await runLoop(options(directory, home)).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UsageError);
    expect((refusal as UsageError).message).toMatch(words);
    expect(existsSync(join(home, 'ralph.db'))).toBe(false);
  });

  it('given a check that fails before any work, then nothing begins, unless that is allowed', async () => {
    const { directory, home } = stage();
    const red: Check = {
      name: 'red',
      run: async () => {
        throw new Error('broken');
      },
    };
    const options = { goal, directory, home, agent, checks: [red], settings };
    await expect(runLoop(options)).rejects.toThrow('A check fails before any work was done: own check: red.');
    const result = await runLoop({
      ...options,
      settings: { ...settings, allowRedStart: true },
      limits: { iterations: 1 },
    });
    expect(result).toMatchObject({ reason: 'max_iterations', verified: false });
    expect(result.state.tasks.size).toBe(1);
  });

  it('given a check of our own in an open loop, then going on without it is refused: proof never goes away silently', async () => {
    const { directory, home } = stage();
    const ledger = memoryLedger();
    const green: Check = {
      name: 'green',
      run: async () => ({ name: 'green', passed: true, detail: '', durationMs: 0 }),
    };
    const ask = '<escalate type="stuck">\n<summary>why?</summary>\n<question>which?</question>\n</escalate>';
    const options: LoopOptions = { goal, directory, home, ledger, agent: player('mine', () => ask), settings };
    expect(await runLoop({ ...options, checks: [green] })).toMatchObject({ how: 'waiting' });
    await expect(runLoop(options)).rejects.toThrow('A program brought a check of this loop along: green.');
    await expect(runLoop({ ...options, agent: 'nobody' })).rejects.toThrow(UsageError);
  });

  it('given a performer that throws or says nothing, then that is a failed iteration and no crash', async () => {
    const { directory, home } = stage();
    const broken = player('mine', ({ iteration }) => {
      if (iteration === 1) throw new Error('oops');
      return done;
    });
    const silent = { ...broken, name: 'silent', async *perform() {} };
    const result = await runLoop({ goal, directory, home, agent: broken, settings });
    expect(result).toMatchObject({ reason: 'goal_achieved' });
    expect(result.report.errors).toEqual([expect.stringContaining('the performer mine threw: oops')]);
    const other = await runLoop({
      goal: 'another goal',
      directory,
      home,
      agent: silent,
      settings,
      limits: { iterations: 1 },
    });
    expect(other.report.errors).toEqual([expect.stringContaining('without a last word')]);
  });
});
