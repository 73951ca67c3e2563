// Proves that a program can drive a loop by itself with the seed's five steps, and that the seed's words are those of the core.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../../src/core-types.ts';
import * as ralph from '../../../src/index.ts';
import { t0 } from '../../core/given.ts';

const { initialiseLoop, planIteration, recordIteration, recordConsumption, checkHandoff, completeLoop } = ralph;

const report = (phase: string, completed: readonly string[], pending: readonly string[]): string =>
  `<report>\n${JSON.stringify({ phase, completed, pending })}\n</report>`;
const usage: ralph.Usage = {
  inputTokens: 100,
  outputTokens: 100,
  cacheReadTokens: 300,
  cacheWriteTokens: 0,
  costUsdMicros: 500_000,
  estimated: false,
};

describe('a loop in a program of its own', () => {
  it('given a goal, then it is planned, done in fresh contexts, recorded, handed off and completed; the events alone give it back', () => {
    const stored: Event[] = [];
    const keep = <Some extends ralph.Step>(step: Some): Some => {
      stored.push(...step.events);
      return step;
    };
    let { state } = keep(initialiseLoop('make a page', { max_cost: 2, agent_type: 'architect', model: 'best' }, t0));
    expect(ralph.evaluateTermination(state, t0)).toBeUndefined();

    const first = planIteration(state, t0 + 1);
    expect(first).toMatchObject({ agent: 'architect/best', phase: 'planning', budgetRemaining: 2, iteration: 1 });
    expect(first?.prompt).toContain('make a page');
    state = keep(first!).state;
    expect(planIteration(state, t0 + 2)).toBeUndefined(); // one at a time
    state = keep(recordConsumption(state, usage, t0 + 2)).state;
    state = keep(recordIteration(state, { message: report('planning', ['the plan'], ['the page']) }, t0 + 3)).state;

    const second = planIteration(state, t0 + 4);
    expect(second).toMatchObject({ iteration: 2, budgetRemaining: 1.5 });
    expect(`${second?.system ?? ''}${second?.prompt}`).toContain('## Handoff from iteration 1');
    state = keep(second!).state;
    const done = `${report('complete', ['the plan', 'the page'], [])}\n<promise>DONE</promise>`;
    state = keep(recordIteration(state, { message: done, usage, toolCalls: 4 }, t0 + 5)).state;
    expect(checkHandoff(state)).toBe(ralph.HandoffTrigger.PHASE_COMPLETE);
    expect(ralph.evaluateTermination(state, t0 + 6)?.reason).toBe(ralph.TerminationReason.GOAL_ACHIEVED);
    expect(planIteration(state, t0 + 6)).toBeUndefined();
    state = keep(completeLoop(state, t0 + 6)).state;
    expect(state.control.ended?.reason).toBe('goal_achieved');
    expect(ralph.measureEfficiency(state)).toMatchObject({ tokens_per_tool_call: 250, cache_hit_rate: 0.75 });

    expect(stored.reduce(ralph.evolve, ralph.initialState)).toEqual(state);
    const view = new ralph.LoopFold();
    for (const event of stored) view.add(event);
    expect(view.status()).toMatchObject({ state: ralph.LoopState.COMPLETED, current_iteration: 2, total_cost: 1 });
  });

  it('given checks, then a claim is believed only with their outcomes; a false one is told to the next', () => {
    let { state } = initialiseLoop('make a page', { settings: { checks: ['npm test'] } }, t0);
    const claim = `${report('complete', ['the page'], [])}\n<promise>DONE</promise>`;
    state = planIteration(state, t0)!.state;
    const outcome = { name: 'npm test', passed: false, detail: '2 tests failed', durationMs: 1 };
    state = recordIteration(state, { message: claim, checks: [outcome] }, t0).state;
    const again = planIteration(state, t0 + 60_000);
    expect(again?.prompt).toContain('2 tests failed');
    state = recordIteration(again!.state, { message: claim }, t0 + 60_000).state; // no outcome proves nothing
    expect(ralph.progress(state.tasks).done).toBe(0);
    const last = planIteration(state, t0 + 120_000)!;
    state = recordIteration(last.state, { message: claim, checks: [{ ...outcome, passed: true }] }, t0 + 120_000).state;
    expect(completeLoop(state, t0 + 120_001).state.control.ended?.reason).toBe('goal_achieved');
  });

  it('given nothing that ends it, then only a stop completes it; given no bound, then it does not begin', () => {
    const { state } = initialiseLoop('make a page', {}, t0);
    expect(completeLoop(state, t0).events).toEqual([]);
    expect(completeLoop(state, t0, 'explicit_stop').state.control.ended?.reason).toBe('explicit_stop');
    const unbounded = { max_iterations: null, max_cost: null, max_duration_minutes: null };
    expect(() => initialiseLoop('make a page', unbounded, t0)).toThrow('Nothing bounds this loop.');
    expect(() => initialiseLoop('make a page', { max_cost: 0 }, t0)).toThrow('max_cost is 0, not a number above 0');
  });

  it('given three errors in a row or most of the money, then a fresh context shall take over', () => {
    let { state } = initialiseLoop('make a page', { max_cost: 1 }, t0);
    const failure = { kind: 'timeout' as const, detail: 'slow' };
    for (let at = 0; at < 3; at += 1) {
      state = planIteration(state, t0 + at * 600_000)!.state;
      state = recordIteration(state, { message: '', failure }, t0 + at * 600_000).state;
    }
    expect(checkHandoff(state)).toBe('error_threshold');
    expect(ralph.assessHealth(state, t0).state).toBe(ralph.HealthState.FAILING);
    const rich = planIteration(initialiseLoop('make a page', { max_cost: 1 }, t0).state, t0)!.state;
    const spent = recordConsumption(rich, { ...usage, costUsdMicros: 900_000 }, t0).state;
    expect(checkHandoff(spent)).toBe('token_budget');
  });
});

describe('what a program of its own gets wrong', () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ max_iterations: 0 }, /max_iterations is 0/],
    [{ max_iterations: -1 }, /max_iterations is -1/],
    [{ max_iterations: Number.NaN }, /max_iterations is NaN/],
    [{ max_iterations: 1.5 }, /max_iterations is 1.5/],
    [{ max_iterations: '5' }, /max_iterations is "5"/],
    [{ max_cost: Number.POSITIVE_INFINITY }, /max_cost is Infinity/],
    [{ context_threshold: 70 }, /context_threshold is 70/],
    [{ max_iteration: 5 }, /no option "max_iteration"/],
    [{ settings: { limits: { iterationsMax: 0 } } }, /iterationsMax: 0 bounds nothing/],
    [{ settings: { chekcs: [] } }, /no setting "settings.chekcs"/],
    [{ mode: 'gaol' }, /mode is "gaol"/],
    [{ tasks: [{}] }, /tasks is a list/],
  ];
  it.each(wrong)('%j is refused', (config, words) => {
    expect(() => initialiseLoop('make a page', config as never, t0)).toThrow(words);
    expect(() => initialiseLoop('make a page', config as never, t0)).toThrow(ralph.UsageError);
  });

  it('given a goal that is none, then there is no loop; given a few limits, then the others stay', () => {
    expect(() => initialiseLoop(' ', {}, t0)).toThrow('The goal is empty.');
    expect(() => initialiseLoop('make a page', {}, Number.NaN)).toThrow('NaN is no time.');
    const limits = { iterationsMax: 2 } as ralph.Limits;
    const { state } = initialiseLoop('make a page', { settings: { limits } }, t0);
    expect(state.settings.limits).toEqual({ ...ralph.defaultSettings('goal').limits, iterationsMax: 2 });
  });

  it('given an outcome that cannot be counted or read, then it is refused; a check that says a word proves nothing', () => {
    const { state } = planIteration(initialiseLoop('make a page', { settings: { checks: ['c'] } }, t0).state, t0)!;
    expect(() => recordIteration(state, { message: 42 as never }, t0)).toThrow('ended.message is 42');
    const none = { ...usage, costUsdMicros: Number.NaN };
    expect(() => recordIteration(state, { message: '', usage: none }, t0)).toThrow('costUsdMicros is NaN');
    expect(() => recordConsumption(state, none, t0)).toThrow('costUsdMicros is NaN');
    const claim = `${report('complete', ['the page'], [])}\n<promise>DONE</promise>`;
    const word = { name: 'c', passed: 'no' as never, detail: '', durationMs: 0 };
    expect(ralph.progress(recordIteration(state, { message: claim, checks: [word] }, t0).state.tasks).done).toBe(0);
  });
});

describe('the seed’s words', () => {
  it('are frozen, and are the ones that the core says', () => {
    const { BudgetAction, CircuitBreakerState, InterventionLevel, TriggerReason, ExecutionPhase } = ralph;
    for (const words of [BudgetAction, CircuitBreakerState, InterventionLevel, TriggerReason, ExecutionPhase])
      expect(Object.isFrozen(words)).toBe(true);
    const task = { scope: 'task' as const, usedUsdMicros: 85, limitUsdMicros: 100 };
    expect(ralph.checkBudget([task]).action).toBe(BudgetAction.ALERT_ONLY);
    const breaker = ralph.openedBreaker(ralph.closedBreaker, t0 + 10);
    expect(ralph.breakerPosition(breaker, t0)).toBe(CircuitBreakerState.OPEN);
    expect(ralph.breakerPosition(breaker, t0 + 10)).toBe(CircuitBreakerState.HALF_OPEN);
    const live = planIteration(initialiseLoop('make a page', {}, t0).state, t0)!.state.live[0]!;
    expect(ralph.ladderStep(live, ralph.defaultSettings('goal').ladder)?.level).toBe(InterventionLevel.NUDGE);
    expect(ralph.shouldHandoff).toBe(ralph.shouldHandOff);
  });

  it('and each mode has formats that read and mark without a file', async () => {
    for (const mode of ralph.modeNames) expect((await ralph.formatsOf(mode)).length).toBeGreaterThan(0);

    const story = { id: 'A', title: 'a', description: '', criteria: ['x'], passes: false };
    const text = JSON.stringify({ project: 'p', description: 'd', userStories: [story] });
    const prd = (await ralph.formatsOf('prd')).find(one => one.recognises('PRD.json', text));
    expect(JSON.parse(prd!.mark(text, [{ id: 'A', done: true, skipped: false }])).userStories[0].passes).toBe(true);
  });
});
