// Review state for people and hooks: `.claude/review-loop-state.yaml` field for field, and the review's figures.
import type { Event } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import { findTask, type TaskStatus } from '../../core/task.ts';
import { isoTime, plural } from '../../text/format.ts';
import { relativePath } from '../../text/step-path.ts';
import { oneLine } from '../../text/text.ts';
import type { ModeView, ViewFile, ViewPlace } from '../mode.ts';
import { type ReviewSettings, reviewSettings, reviewStanding } from './rules.ts';

const errorsMax = 5; // seed 001, part 3
const errorCharsMax = 300;
const nameCharsMax = 200;

/** Signs of life: they change none of the fields, so they are no update. */
const quietEvents: readonly Event['type'][] = ['iteration.heartbeat', 'iteration.spawned', 'usage.recorded'];

/** From the tasks alone; an issue whose reviewers are not all through has no task yet and is pending. */
function issueCounts(state: State): Readonly<Record<TaskStatus | 'total', number>> {
  const { fixes, waiting } = reviewStanding(state);
  const counts = { pending: waiting.length, active: 0, done: 0, blocked: 0, skipped: 0 };
  for (const { status } of fixes) counts[status] += 1;
  return { ...counts, total: fixes.length + waiting.length };
}

const short = (text: string, charsMax = nameCharsMax): string => oneLine(text, charsMax).toWellFormed();

/** Text is JSON, which is YAML as well. */
const yaml = (value: string | number | boolean | null | readonly string[]): string =>
  typeof value === 'object' && value !== null ? `[${value.map(yaml).join(', ')}]` : JSON.stringify(value);

export class ReviewStateView implements ModeView {
  private readonly place: Omit<ViewPlace, 'document'>;
  private readonly errors: string[] = [];
  private failures = 0;
  private fixIterations = 0;
  private invocations = 0;
  private backoffMs = 0;
  private updatedAt = 0;

  constructor(place: Omit<ViewPlace, 'document'>) {
    this.place = place;
  }

  add(event: Event, state: State): void {
    if (!quietEvents.includes(event.type)) this.updatedAt = Math.max(this.updatedAt, event.at);
    if (event.type === 'iteration.started' && event.again !== true) {
      this.invocations += 1;
      if (findTask(state.tasks, event.task)?.spec.completion !== 'findings') this.fixIterations += 1;
    }
    if (event.type !== 'iteration.ended') return;
    if (event.waitFor === 'backoff') this.backoffMs += Math.max(0, (event.waitUntil ?? event.at) - event.at);
    if (event.outcome !== 'failed') return;
    this.failures += 1;
    this.errors.push(short(`iteration ${event.iteration}: ${event.because}`, errorCharsMax));
    if (this.errors.length > errorsMax) this.errors.shift();
  }

  files(state: State): readonly ViewFile[] {
    const isOver = state.control.ended?.reason === 'goal_achieved';
    const metrics = `${JSON.stringify(this.metrics(state), null, 2)}\n`;
    return [
      { path: `${this.place.directory}/.claude/review-loop-state.yaml`, text: isOver ? null : this.stateText(state) },
      { path: `${this.place.folder}/review-metrics.json`, text: metrics },
    ];
  }

  metrics(state: State) {
    const { total, done, blocked } = issueCounts(state);
    return {
      started_at: isoTime(state.loop.startedAt),
      review_rounds: reviewStanding(state).roundsComplete,
      fix_iterations: this.fixIterations,
      total_issues_found: total,
      total_issues_fixed: done,
      total_issues_blocked: blocked,
      subagent_invocations: this.invocations,
      failures: this.failures,
      backoff_delays_total: this.backoffMs / 1_000, // seconds
      success_rate: done / Math.max(1, total),
      elapsed_minutes: Math.max(0, this.updatedAt - state.loop.startedAt) / 60_000,
    };
  }

  private stateText(state: State): string {
    const { limits, promise } = state.settings;
    const review = reviewSettings(state.settings);
    const standing = reviewStanding(state);
    const counts = issueCounts(state);
    const fix = standing.fixes.find(task => task.status === 'active');
    const fields = {
      active: state.control.ended === undefined,
      workflow_name: short(review.workflow ?? ''),
      section_name: short(review.section ?? ''),
      content_path: contentPath(state),
      current_round: standing.round,
      max_rounds: review.roundsMax,
      current_fix_iteration: fix?.attempts ?? 0,
      max_fix_iterations: limits.attemptsPerTaskMax,
      initial_confidence: standing.initialConfidence ?? null,
      current_confidence: standing.currentConfidence ?? null,
      target_confidence: review.targetConfidence,
      total_issues: counts.total,
      pending_count: counts.pending,
      in_progress_count: counts.active,
      fixed_count: counts.done,
      blocked_count: counts.blocked,
      consecutive_failures: state.streaks.errors,
      total_failures: this.failures,
      error_history: this.errors,
      max_consecutive_failures: limits.consecutiveErrorsMax,
      started_at: isoTime(state.loop.startedAt),
      last_updated: isoTime(this.updatedAt),
      completion_promise: short(promise),
    };
    return [
      '---',
      ...Object.entries(fields).map(([name, value]) => `${name}: ${yaml(value)}`),
      '---',
      '# Original prompt (for re-injection)',
      '',
      originalPrompt(state, review),
      '',
    ].join('\n');
  }
}

const contentPath = ({ loop: { document, directory } }: State): string =>
  short(relativePath(directory, document), 4_096);

/** Names and paths stand as JSON texts: none of them can begin a line or close the front matter. */
function originalPrompt(state: State, review: ReviewSettings): string {
  const { section = '', workflow = '', reviewers, roundsMax, targetConfidence } = review;
  const part = section === '' ? '' : `the section ${yaml(short(section))} of `;
  const belongs = workflow === '' ? '' : `, which belongs to the workflow ${yaml(short(workflow))}`;
  return [
    `Review ${part}${yaml(contentPath(state))}${belongs}.`,
    reviewers.length === 1
      ? `Let ${short(reviewers[0] ?? '')} look at it with a fresh context.`
      : `Let ${reviewers.map(role => short(role)).join(', ')} look at it side by side, each with a fresh context.`,
    'Merge what they find, mend every issue in the document one at a time, then let them look again.',
    `Go on until a round finds nothing and nobody is less than ${targetConfidence} % confident, for at most ${plural(roundsMax, 'round')}.`,
    'Say <review-complete>ALL_ISSUES_RESOLVED</review-complete> only when that is so.',
  ].join('\n');
}
