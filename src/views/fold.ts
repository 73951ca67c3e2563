// LoopFold: the one fold of a loop's events. It gives the state and the history, of which LoopView, status.json and report.json are made.

import type { Event, EventOf, Usage } from '../core/event.ts';
import { assessHealth, type Health } from '../core/health.ts';
import { phaseNow } from '../core/scheduling.ts';
import { addUsage } from '../core/spend.ts';
import { initialState, noUsage, type State } from '../core/state.ts';
import { allTasks } from '../core/task.ts';
import type { Report } from '../messages/report.ts';
import type { Evidence } from '../messages/tool-reports.ts';
import { evolve } from '../modes/evolve.ts';
import { type Accepted, type IterationView, type LoopHistory, reportedUsage } from './loop.ts';
import { MetricsView } from './metrics.ts';
import { itemOf, type LoopReport, reportOf } from './report.ts';
import { type LoopStatus, statusOf } from './status.ts';
import { ViewText } from './view-text.ts';
import { isByReport } from './words.ts';

const errorsMax = 100;

/** No event is kept as a whole: with their words ten thousand iterations would weigh tens of megabytes. */
interface Draft {
  readonly started: Pick<EventOf<'iteration.started'>, 'iteration' | 'task' | 'performer' | 'at'>;
  /** Of the work that it went on with. */
  readonly phase: string;
  readonly closed: string[];
  readonly errors: string[];
  usage?: Usage;
  checkpoint?: string;
  health: Health['state'];
  ended?: Pick<EventOf<'iteration.ended'>, 'at' | 'outcome' | 'report' | 'handoff'>;
  /** As it is now; undefined when something changed since it was made. */
  view: IterationView | undefined;
}

/** Keep one to go on from where it was. One that begins with a state of its own knows no history before that. */
export class LoopFold {
  state: State;
  private readonly drafts = new Map<number, Draft>();
  private readonly errors: string[] = [];
  private readonly checks: LoopHistory['checks'][number][] = [];
  private readonly accepted: Accepted[] = [];
  private readonly evidence = new Map<string, readonly Evidence[]>();
  /** What a person was asked to accept, by the findings. */
  private readonly doubts = new Map<string, string>();
  private readonly metrics = new MetricsView();
  private readonly text = new ViewText();
  private lastReport: Report | undefined;

  constructor(state = initialState) {
    this.state = state;
  }

  add(event: Event): void {
    this.state = evolve(this.state, event);
    this.metrics.add(event);
    if (event.type === 'iteration.started') this.begin(event);
    if (event.type === 'check.ended') {
      const { iteration, task, check, passed } = event;
      this.checks.push({ iteration, task, check, passed });
    }
    this.said(event);
    const draft =
      'iteration' in event && typeof event.iteration === 'number' ? this.drafts.get(event.iteration) : undefined;
    if (draft === undefined) return;
    draft.view = undefined;
    if (event.type === 'usage.recorded') draft.usage = addUsage(draft.usage ?? noUsage, event.usage);
    else if (event.type === 'task.closed') draft.closed.push(event.task);
    else if (event.type === 'checkpoint.made') draft.checkpoint = event.checkpoint;
    else if (event.type === 'check.ended' && !event.passed) draft.errors.push(event.because);
    else if (event.type === 'iteration.ended') this.end(draft, event);
  }

  history(): LoopHistory {
    const { errors, checks, metrics, accepted } = this;
    const isReported = isByReport(this.state);
    const iterations = [...this.drafts.values()].map(draft => {
      draft.view ??= iterationView(draft, isReported);
      return draft.view;
    });
    const reported = isReported ? this.lastReport : undefined;
    const counts = { ...metrics.counts };
    const evidence = Object.fromEntries(this.evidence);
    return {
      iterations,
      checks: [...checks],
      accepted: [...accepted],
      evidence,
      errors: [...errors],
      counts,
      reported,
    };
  }

  status(): LoopStatus {
    return statusOf(this.state, this.history());
  }

  report(): LoopReport {
    const { state } = this;
    const items = [...allTasks(state.tasks)].map(itemOf);
    return reportOf({ state, history: this.history(), metrics: this.metrics.metrics(), items });
  }

  /** The text of status.json, with what only its writer knows. */
  statusText(more: object): string {
    return this.text.status(this.state, this.history(), more);
  }

  reportText(): string {
    return this.text.report(this.state, this.history(), this.metrics.metrics());
  }

  /** What agents and people say of the work. */
  private said(event: Event): void {
    if (event.type === 'escalation.raised') this.asked(event);
    else if (event.type === 'work.accepted') this.agreed(event);
    else if (event.type === 'iteration.reported' && event.report.type === 'done')
      this.evidence.set(event.task, event.report.evidence);
  }

  private asked({ escalation: { kind, findings = [], context } }: EventOf<'escalation.raised'>): void {
    if (kind === 'tamper' && findings.length > 0) this.doubts.set(findings.join('\n'), context);
  }

  private agreed({ task, by, at, findings }: EventOf<'work.accepted'>): void {
    const what = this.doubts.get(findings.join('\n'));
    if (what !== undefined) this.accepted.push({ task, by, at, what });
  }

  private begin({ iteration, task, performer, at }: EventOf<'iteration.started'>): void {
    const phase = isByReport(this.state) ? phaseNow(this.state) : 'implementing';
    const started = { iteration, task, performer, at };
    this.drafts.set(iteration, { started, phase, closed: [], errors: [], health: 'healthy', view: undefined });
  }

  private end(draft: Draft, event: EventOf<'iteration.ended'>): void {
    const { at, outcome, report, handoff } = event;
    draft.ended = { at, outcome, report, handoff };
    draft.health = assessHealth(this.state, event.at).state;
    this.lastReport = event.report ?? this.lastReport;
    if (event.outcome !== 'failed') return;
    draft.errors.push(event.because);
    this.errors.push(`iteration ${event.iteration}: ${event.because}`);
    if (this.errors.length > errorsMax) this.errors.shift();
  }
}

function iterationView({ started, ended, closed, ...draft }: Draft, isReported: boolean): IterationView {
  const { iteration, task, performer, at } = started;
  const report = ended?.report;
  const isClosed = closed.length > 0;
  const tasks = isReported ? { done: [], open: [] } : { done: closed, open: isClosed ? [] : [task] };
  return {
    iteration,
    task,
    performer,
    startedAt: at,
    endedAt: ended?.at,
    outcome: ended?.outcome,
    phase: report?.phase ?? (isClosed ? 'complete' : draft.phase),
    completed: [...tasks.done, ...(report?.completed ?? [])],
    pending: report?.pending ?? tasks.open,
    errors: [...draft.errors],
    checkpoint: draft.checkpoint,
    usage: reportedUsage(draft.usage),
    handoff: ended?.handoff,
    health: draft.health,
  };
}
