// Proves the figures over a ledger: what was tried, what came of it, what it cost.
import { expect, it } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { type Metrics, MetricsView } from '../../src/views/metrics.ts';
import { claims, failed, hour, Story, says, spec, usd } from '../core/given.ts';

const metricsOf = (events: readonly Event[]): Metrics => {
  const view = new MetricsView();
  for (const event of events) view.add(event);
  return view.metrics();
};

it('given an empty ledger, then everything is 0 and nothing is divided by it', () => {
  expect(Object.values(metricsOf([]))).toEqual(Array.from({ length: 18 }, () => 0));
});

it('given a loop with every kind of iteration, then each is counted where it belongs', () => {
  const story = new Story({ checks: ['x'], checkpoints: true, limits: { attemptsPerTaskMax: 9 } }, [
    spec('A'),
    spec('B'),
  ]);
  story.iteration('A', { ...claims('A'), usage: usd(3) });
  story.checked(false);
  story.checkpointed('cp');
  story.iteration('A', { ...claims('A'), usage: usd(1) });
  story.checked(true);
  story.iteration('B', failed('process'));
  story.iteration('B', failed('stopped', 'crash'));
  story.iteration('B', says('<promise>DONE</promise>'));
  story.iteration('B', says('<handoff>full</handoff>'));
  story.begin('B');
  story.when({ type: 'recovered', iteration: 7, holder: 'other', chance: 0 });
  story.performed(says('<escalate type="stuck">\n<summary>s</summary>\n</escalate>'));
  story.now = story.events[0]!.at + 2 * hour;
  story.command({ type: 'tell', text: 'x' });
  expect(metricsOf(story.events)).toEqual({
    iterations: 7,
    successes: 5,
    failures: 1,
    errors: 1,
    interrupted: 1,
    checkpoints: 2,
    rollbacks: 0,
    checks_passed: 1,
    checks_failed: 1,
    claims_refused: 2,
    merges: 0,
    merges_refused: 0,
    merge_conflicts: 0,
    escalations: 1,
    tasks_closed: 1,
    success_rate: 5 / 7,
    elapsed_hours: 2,
    cost_per_task_usd: 4,
  });
});

it('given work that was only looked at and a failure without a kind, then neither is a refusal or an error', () => {
  const screened = { type: 'proof.screened', at: 1, refused: false };
  const ended = { type: 'iteration.ended', at: 2, outcome: 'failed' };
  const metrics = metricsOf([screened, { ...screened, refused: true }, ended] as unknown as readonly Event[]);
  expect(metrics).toMatchObject({ claims_refused: 1, failures: 1, errors: 0 });
});
