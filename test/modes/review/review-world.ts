// A small world for reviews: reviewers answer, fixers mend, people decide, and every step grows the work as the loop does.

import type { Event } from '../../../src/core/event.ts';
import { initialState, type State } from '../../../src/core/state.ts';
import { findTask, readyTasks } from '../../../src/core/task.ts';
import type { ReviewIssue } from '../../../src/messages/review.ts';
import { evolve } from '../../../src/modes/evolve.ts';
import { defaultSettings } from '../../../src/modes/registry.ts';
import { type ReviewSettings, reviewRules } from '../../../src/modes/review/rules.ts';
import { second, t0 } from '../../core/given.ts';

export const found = (issue: string, part: Partial<ReviewIssue> = {}): ReviewIssue => ({
  issue,
  severity: 'medium',
  place: 'Limits',
  confidence: 80,
  ...part,
});

export class ReviewWorld {
  state: State = initialState;
  now = t0;
  readonly events: Event[] = [];

  constructor(part: Partial<ReviewSettings> = {}, document = '/somewhere/docs/prd.md') {
    const base = defaultSettings('review');
    const review = { reviewers: ['adversarial', 'facilitator'], roundsMax: 3, targetConfidence: 95, ...part };
    const { roundsMax: rounds, ...own } = review;
    this.append({
      type: 'loop.started',
      at: this.now,
      loop: 'loop-0001',
      name: 'prd',
      goal: 'Review "Prd"',
      document,
      directory: '/somewhere',
      projectId: '',
      taskId: '',
      settings: { ...base, performers: ['agent'], rounds, own },
      by: 'ada',
    });
    this.append({ type: 'tasks.loaded', at: this.now, tasks: [], hash: 'h', because: 'read' });
  }

  /** What is decided at once, and the tasks that it makes necessary, in one append. */
  append(...events: readonly Event[]): void {
    for (const event of events) this.take(event);
    const more = reviewRules.expand?.(this.state);
    if (more !== undefined) this.take({ type: 'tasks.added', at: this.now, ...more });
  }

  private take(event: Event): void {
    this.state = evolve(this.state, event);
    this.events.push(event);
  }

  begin(task: string): number {
    this.now += second;
    const iteration = this.state.iterations.begun + 1;
    const attempt = (findTask(this.state.tasks, task)?.attempts ?? 0) + 1;
    const facts = { performer: 'agent', holder: 'h', because: 'ready' };
    this.append({ type: 'iteration.started', at: this.now, iteration, task, attempt, ...facts });
    return iteration;
  }

  private ended(iteration: number, task: string, outcome: 'succeeded' | 'failed' | 'interrupted'): Event {
    const facts = { performer: 'agent', durationMs: second, excerpt: '', echo: '', because: `it ${outcome}` };
    const failure = { kind: outcome === 'failed' ? ('process' as const) : ('stopped' as const), detail: 'exit code 3' };
    const wait = outcome === 'failed' ? { waitUntil: this.now + 2 * second, waitFor: 'backoff' as const } : {};
    const how = outcome === 'succeeded' ? {} : { failure, ...wait };
    return { type: 'iteration.ended', at: this.now, iteration, task, outcome, ...facts, ...how };
  }

  /** A reviewer's good answer. */
  answers(task: string, confidence: number, ...issues: readonly ReviewIssue[]): this {
    const iteration = this.begin(task);
    this.now += second;
    const at = this.now;
    this.append(
      this.ended(iteration, task, 'succeeded'),
      { type: 'review.answered', at, iteration, task, answer: { confidence, issues }, because: 'by the schema' },
      { type: 'task.closed', at, task, iteration, verified: true, because: 'answered' },
    );
    return this;
  }

  mends(task: string): this {
    const iteration = this.begin(task);
    this.now += second;
    const closed = { type: 'task.closed', at: this.now, task, iteration, verified: false, because: 'claimed' } as const;
    this.append(this.ended(iteration, task, 'succeeded'), closed);
    return this;
  }

  fails(task: string): this {
    const iteration = this.begin(task);
    this.now += second;
    this.append(this.ended(iteration, task, 'failed'));
    return this;
  }

  isInterrupted(task: string): this {
    const iteration = this.begin(task);
    this.append(this.ended(iteration, task, 'interrupted'));
    return this;
  }

  blocks(task: string): this {
    this.append({ type: 'task.blocked', at: this.now, task, because: '3 attempts' });
    return this;
  }

  skips(task: string): this {
    this.append({ type: 'task.skipped', at: this.now, task, by: 'ada', because: 'as it is' });
    return this;
  }

  reopens(task: string): this {
    this.append({ type: 'task.reopened', at: this.now, task, because: 'retry' });
    return this;
  }

  ends(reason: 'goal_achieved' | 'max_iterations'): this {
    this.append({ type: 'loop.ended', at: this.now, reason, because: 'over' });
    return this;
  }

  ready(): readonly string[] {
    return readyTasks(this.state.tasks, 1_000).map(task => task.id);
  }

  status(task: string): string {
    return findTask(this.state.tasks, task)?.status ?? 'unknown';
  }

  /** As a new process sees it. */
  refolded(): State {
    return this.events.reduce(evolve, initialState);
  }
}
