// Proves the seed's LoopStatus field for field: exact keys, exact types, and the eight labels of its states.
import { describe, expect, it } from 'vitest';
import type { Event, TerminationReason } from '../../src/core/event.ts';
import { isoTime } from '../../src/text/format.ts';
import { LoopFold } from '../../src/views/fold.ts';
import { type LoopState, type LoopStatus, loopLabel } from '../../src/views/status.ts';
import { claims, failed, hour, Story, says, spec, startInput, t0, usd } from '../core/given.ts';

const statusOf = (events: readonly Event[]): LoopStatus => {
  const view = new LoopFold();
  for (const event of events) view.add(event);
  return view.status();
};

const typesOf = (value: object): Record<string, string> =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [key, Array.isArray(one) ? 'array' : typeof one]));

const worked = (): Story => {
  const limits = { durationMsMax: 2 * hour, iterationsMax: 10 };
  const story = new Story({ checks: ['npm test'], checkpoints: true, limits }, [spec('A'), spec('B')]);
  story.iteration('A', {
    ...claims('A'),
    usage: usd(2.85, { inputTokens: 12_000, cacheReadTokens: 400, cacheWriteTokens: 100, outputTokens: 3_400 }),
  });
  story.checked(true);
  story.checkpointed('cp-1');
  story.iteration('B', failed('process', 'exit code 3'));
  story.iteration(
    'B',
    says('<report>{"phase": "testing", "completed": ["form"], "pending": ["mail"]}</report>\n<handoff>full</handoff>', {
      usage: usd(1, { inputTokens: 10, outputTokens: 20 }),
    }),
  );
  return story;
};

describe('the schema', () => {
  it('has exactly the keys and types of the seed', () => {
    const status = JSON.parse(JSON.stringify(statusOf(worked().events)));
    expect(typesOf(status)).toEqual({
      loop_id: 'string',
      task_id: 'string',
      project_id: 'string',
      state: 'string',
      goal: 'string',
      config: 'object',
      current_iteration: 'number',
      iterations: 'array',
      total_input_tokens: 'number',
      total_output_tokens: 'number',
      total_cost: 'number',
      started_at: 'string',
      completed_at: 'string',
      termination_reason: 'string',
      last_checkpoint_id: 'string',
      errors: 'array',
    });
    expect(typesOf(status.config)).toEqual({
      max_iterations: 'number',
      max_cost: 'number',
      max_duration_minutes: 'number',
      context_threshold: 'number',
      agent_type: 'string',
      model: 'string',
    });
    for (const row of status.iterations) {
      expect(typesOf(row)).toEqual({
        iteration: 'number',
        agent_id: 'string',
        started_at: 'string',
        completed_at: 'string',
        phase: 'string',
        completed_items: 'array',
        pending_items: 'array',
        errors: 'array',
        checkpoint_id: 'string',
        input_tokens: 'number',
        output_tokens: 'number',
        cost: 'number',
        handoff_trigger: 'string',
        health_state: 'string',
      });
    }
  });

  it('holds what the ledger says', () => {
    const story = worked();
    const status = statusOf(story.events);
    expect(status).toMatchObject({
      loop_id: 'loop-0001',
      task_id: 'H.8',
      project_id: 'PILOT',
      state: 'handoff',
      goal: 'a shop',
      config: {
        max_iterations: 10,
        max_cost: 50,
        max_duration_minutes: 120,
        context_threshold: 0.7,
        agent_type: 'agent',
      },
      current_iteration: 3,
      total_input_tokens: 12_510,
      total_output_tokens: 3_420,
      total_cost: 3.85,
      started_at: isoTime(t0),
      completed_at: '',
      termination_reason: '',
      last_checkpoint_id: 'cp-1',
    });
    expect(status.iterations).toMatchObject([
      {
        iteration: 1,
        agent_id: 'ralph-loop-loop-000-iter-1',
        phase: 'complete',
        completed_items: ['A'],
        pending_items: [],
        errors: [],
        checkpoint_id: 'cp-1',
        input_tokens: 12_500,
        output_tokens: 3_400,
        cost: 2.85,
        handoff_trigger: '',
        health_state: 'healthy',
      },
      { iteration: 2, phase: 'implementing', completed_items: [], pending_items: ['B'], health_state: 'degraded' },
      {
        iteration: 3,
        phase: 'testing',
        completed_items: ['form'],
        pending_items: ['mail'],
        handoff_trigger: 'explicit_request',
      },
    ]);
    expect(status.iterations[1]?.errors[0]).toContain('exit code 3');
    expect(status.errors).toEqual([`iteration 2: ${status.iterations[1]?.errors[0]}`]);
    expect(status.iterations[0]).toMatchObject({ started_at: isoTime(t0), completed_at: isoTime(t0 + 1_000) });
  });

  it('given a live iteration, then its end is blank; given a failed check, then it stands among the errors', () => {
    const story = new Story({ checks: ['npm test'] }, [spec('A')]);
    story.begin('A');
    expect(statusOf(story.events).iterations[0]).toMatchObject({ completed_at: '', pending_items: ['A'] });
    story.performed(claims('A'));
    story.checked(false);
    expect(statusOf(story.events).iterations[0]?.errors).toEqual([
      'the claim was refused: the check "npm test" failed',
    ]);
  });

  it('given no limits, then they are null, and hundreds of errors are kept as the last hundred', () => {
    const limits = {
      iterationsMax: null,
      costUsdMicrosMax: null,
      consecutiveErrorsMax: 999,
      noProgressIterations: 999,
      attemptsPerTaskMax: 999,
    };
    const story = new Story({ limits, sameErrorsToEscalate: null }, [spec('A')]);
    for (let n = 0; n < 150; n += 1) story.iteration('A', failed('process', 'x'));
    const status = statusOf(story.events);
    expect(status.config).toMatchObject({ max_iterations: null, max_cost: null, max_duration_minutes: null });
    expect(status.errors).toHaveLength(100);
    expect(status.errors.at(-1)).toMatch(/^iteration 150: /);
  });
});

describe('the eight labels', () => {
  it('follow a loop through its life', () => {
    const story = new Story({ checks: ['x'] }, [spec('A'), spec('B')]);
    const labels: LoopState[] = [
      loopLabel({ ...story.state, document: { ...story.state.document, isLoaded: false } }),
      loopLabel(story.state),
    ];
    story.command({ type: 'pause', now: false });
    labels.push(loopLabel(story.state));
    story.command({ type: 'resume' });
    story.iteration('A', says('<handoff>full</handoff>'));
    labels.push(loopLabel(story.state));
    story.begin('A');
    labels.push(loopLabel(story.state));
    story.performed(claims('A'));
    labels.push(loopLabel(story.state));
    story.checked(true);
    story.begin('B');
    story.performed(claims('B'));
    labels.push(loopLabel(story.state));
    // While a task is open, a claim of another one completes nothing (0.4.0 said so at 5 of 10).
    expect(labels).toEqual(['initializing', 'running', 'paused', 'handoff', 'running', 'running', 'completing']);
  });

  it.each<[TerminationReason, LoopState]>([
    ['goal_achieved', 'completed'],
    ['explicit_stop', 'terminated'],
    ['circuit_breaker_open', 'failed'],
    ['health_failure', 'failed'],
    ['consecutive_errors', 'failed'],
    ['budget_exhausted', 'failed'],
    ['max_iterations', 'failed'],
    ['max_duration', 'failed'],
    ['no_progress', 'failed'],
  ])('given an end by %s, then the label is %s and the end is told', (reason, label) => {
    const story = new Story().given({ type: 'loop.ended', at: t0 + 5, reason, because: '' });
    expect(statusOf(story.events)).toMatchObject({
      state: label,
      termination_reason: reason,
      completed_at: isoTime(t0 + 5),
    });
  });

  it('given a loop that has only started, then it is initializing', () => {
    const story = new Story();
    expect(statusOf(story.events.slice(0, 1)).state).toBe('initializing');
    expect(startInput().type).toBe('start');
  });
});

it('given usage that is recorded in parts, then an iteration adds them up', () => {
  const { events } = worked();
  const used = events.find(event => event.type === 'usage.recorded')!;
  const [first] = statusOf([...events, used]).iterations;
  expect(first).toMatchObject({ input_tokens: 25_000, output_tokens: 6_800, cost: 5.7 });
});
