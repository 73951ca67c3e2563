// Seed 000's own example of a LoopStatus, made from a ledger that went so; and what goal mode shows of its items.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { initialState } from '../../src/core/state.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { LoopFold } from '../../src/views/fold.ts';
import { type LoopReport, reportMarkdown } from '../../src/views/report.ts';
import type { LoopStatus } from '../../src/views/status.ts';
import { claims, failed, minute, type SettingsPart, Story, says, spec, startInput, usd } from '../core/given.ts';

const performers = ['senior-architect/claude-opus-4-6'];

/** A goal loop that began when the seed's example did. */
function begun(part: SettingsPart = {}): Story {
  const story = new Story();
  story.events.length = 0;
  story.state = initialState;
  story.now = Date.parse('2026-02-16T10:00:00Z');
  const start = startInput();
  if (start.type !== 'start') throw new Error('it is the input that starts a loop');
  const preset = defaultSettings('goal');
  story.when({
    ...start,
    loop: '550e8400-e29b-41d4-a716-446655440000',
    taskId: 'H.8.7.2',
    projectId: 'PILOT',
    goal: 'Implement feature X with tests',
    settings: { ...preset, performers, ...part, mode: preset.mode, limits: { ...preset.limits, ...part.limits } },
  });
  story.when({ type: 'document', tasks: [spec('goal')], hash: 'h1' });
  while (story.state.checkpoints.due.length > 0) story.checkpointed('01JCKS30');
  return story;
}

function iteration(story: Story, minutes: number, performed: Parameters<Story['performed']>[0]): void {
  story.begin('goal', performers[0]);
  story.after(minutes * minute);
  story.performed(performed);
}

const reports = (phase: string, completed: readonly string[], pending: readonly string[]): string =>
  `Some words.\n<report>${JSON.stringify({ phase, completed, pending })}</report>`;

const statusOf = (events: readonly Event[]): LoopStatus => {
  const view = new LoopFold();
  for (const event of events) view.add(event);
  return view.status();
};

const reportOf = (story: Story): LoopReport => {
  const view = new LoopFold();
  for (const event of story.events) view.add(event);
  return view.report();
};

/** The seed writes whole seconds. */
const inSeconds = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll('.000Z', 'Z'));

it('given the loop of the seed’s example, then its status is that example, field for field and in its order', () => {
  const story = begun({ checkpoints: true });
  const usage = usd(2.85, { inputTokens: 12_500, outputTokens: 3_400 });
  const pending = ['Implement core logic', 'Add tests'];
  iteration(story, 15, says(reports('planning', ['Created project structure'], pending), { usage }));
  story.checkpointed('01JCKS3M...');
  const status = inSeconds(statusOf(story.events));
  const example = {
    loop_id: '550e8400-e29b-41d4-a716-446655440000',
    task_id: 'H.8.7.2',
    project_id: 'PILOT',
    state: 'running',
    goal: 'Implement feature X with tests',
    config: {
      max_iterations: 10,
      max_cost: 50,
      max_duration_minutes: 120,
      context_threshold: 0.7,
      agent_type: 'senior-architect',
      model: 'claude-opus-4-6',
    },
    current_iteration: 1,
    iterations: [
      {
        iteration: 1,
        agent_id: 'ralph-loop-550e8400-iter-1',
        started_at: '2026-02-16T10:00:00Z',
        completed_at: '2026-02-16T10:15:00Z',
        phase: 'planning',
        completed_items: ['Created project structure'],
        pending_items: pending,
        errors: [],
        checkpoint_id: '01JCKS3M...',
        input_tokens: 12_500,
        output_tokens: 3_400,
        cost: 2.85,
        handoff_trigger: '',
        health_state: 'healthy',
      },
    ],
    total_input_tokens: 12_500,
    total_output_tokens: 3_400,
    total_cost: 2.85,
    started_at: '2026-02-16T10:00:00Z',
    completed_at: '',
    termination_reason: '',
    last_checkpoint_id: '01JCKS3M...',
    errors: [],
  };
  expect(JSON.stringify(status, null, 2)).toBe(JSON.stringify(example, null, 2));
});

describe('in goal mode', () => {
  it('the items of an iteration are those of its report, and the goal is none of them', () => {
    const story = begun({ checks: ['npm test'] });
    iteration(story, 1, says('I looked around.'));
    iteration(story, 1, says(reports('implementing', ['plan'], ['form'])));
    iteration(story, 1, says(`${reports('complete', ['plan', 'form'], [])}\n<promise>DONE</promise>`));
    story.checked(true);
    const rows = statusOf(story.events).iterations;
    expect(rows.map(row => [row.phase, row.completed_items, row.pending_items])).toEqual([
      ['planning', [], []],
      ['implementing', ['plan'], ['form']],
      ['complete', ['plan', 'form'], []],
    ]);
  });

  it('an iteration that left no report goes on in the phase of the one before', () => {
    const story = begun();
    iteration(story, 1, says(reports('testing', ['plan'], ['form'])));
    story.begin('goal', performers[0]);
    expect(statusOf(story.events).iterations[1]?.phase).toBe('testing');
  });

  it('the report of the loop holds the goal, then the items as the last report told them, as claims', () => {
    const story = begun({ checks: ['npm test'] });
    const blocked = { item: 'mail', reason: 'no server' };
    const last = { phase: 'testing', completed: ['plan', 'form | "x"'], pending: ['docs'], blocked: [blocked] };
    iteration(story, 1, says(`Words.\n<report>${JSON.stringify(last)}</report>`));
    iteration(story, 1, failed('process', 'exit code 3'));
    const report = reportOf(story);
    expect(report.items.map(({ id, title, status, verified, note }) => [id, title, status, verified, note])).toEqual([
      ['goal', 'Title of goal', 'pending', null, ''],
      ['item-1', 'plan', 'done', false, 'claimed by the agent'],
      ['item-2', 'form | "x"', 'done', false, 'claimed by the agent'],
      ['item-3', 'docs', 'pending', null, ''],
      ['item-4', 'mail', 'blocked', null, 'no server'],
    ]);
    expect(report.iterations.map(({ task, performer }) => [task, performer])).toEqual([
      ['goal', performers[0]],
      ['goal', performers[0]],
    ]);
    expect(reportMarkdown(report, story.state)).toContain(
      '| item-2 | form \\| "x" | done | claimed by the agent | 0 |',
    );
  });

  it('the report answers for reason, items, iterations, tokens, cost, checks, checkpoints and errors', () => {
    const story = begun({ checks: ['npm test'], checkpoints: true });
    iteration(story, 1, failed('process', 'exit code 3'));
    story.checkpointed('01JCKS31');
    iteration(story, 1, { ...claims('goal'), usage: usd(1.5, { inputTokens: 10, outputTokens: 5 }) });
    story.checkpointed('01JCKS32');
    story.checked(true);
    story.given({ type: 'loop.ended', at: story.now, reason: 'goal_achieved', because: '1 of 1 task done' });
    expect(reportOf(story)).toMatchObject({
      reason: 'goal_achieved',
      items: [{ id: 'goal', status: 'done', verified: true }],
      iterations: [{ iteration: 1 }, { iteration: 2 }],
      tokens: { input: 10, output: 5 },
      cost_usd: 1.5,
      checks: [{ iteration: 2, check: 'npm test', passed: true }],
      checkpoints: 3,
      errors: [expect.stringContaining('exit code 3')],
    });
  });
});
