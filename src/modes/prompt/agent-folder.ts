// The `.agent` folder in the folder of work: metrics of the loop and a log that rotates, made from the ledger.
import type { Event } from '../../core/event.ts';
import { isStarted, type State } from '../../core/state.ts';
import { isoTime } from '../../text/format.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';
import { MetricsView } from '../../views/metrics.ts';
import { sentenceOf } from '../../views/timeline.ts';
import type { ModeView, ViewFile } from '../mode.ts';
import { type TriggerReason, triggerOf, triggerOfEnd } from './trigger.ts';

const linesMax = 1_000;
const lineCharsMax = 970; // with its time a thousand: a full log has a million characters
const triggersMax = 200;

/** As in `ralph explain`: what only says that all goes its way is left out. */
const noise: ReadonlySet<Event['type']> = new Set([
  'iteration.heartbeat',
  'iteration.spawned',
  'usage.recorded',
  'tasks.saved',
]);

const counted = ['iterations', 'successes', 'failures', 'errors', 'checkpoints', 'rollbacks'] as const;
const metricNames = [...counted, 'success_rate', 'elapsed_hours'] as const;

/** 2026-01-15T12:00:00.000Z as 20260115_120000, the TIMESTAMP of file names. */
const stampOf = (at: number): string => isoTime(at).slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '_');

/** Views are for nobody's history; what else a user keeps in this folder is theirs. */
const ignored = ['.gitignore', 'logs/', 'metrics/', 'prompts/', 'scratchpad.md', ''].join('\n');

export class AgentFolderView implements ModeView {
  private readonly folder: string;
  private readonly metrics = new MetricsView();
  private readonly triggers: { readonly iteration: number; readonly reason: TriggerReason }[] = [];
  private readonly counts = new Map<TriggerReason, number>();
  private lines: string[] = [];
  private linesBefore: readonly string[] = [];

  constructor(directory: string) {
    this.folder = `${directory}/.agent`;
  }

  add(event: Event, state: State): void {
    this.metrics.add(event);
    if (event.type === 'iteration.started' && !event.again) this.started(event.iteration, event.task, state);
    if (!noise.has(event.type)) this.log(event);
  }

  private started(iteration: number, task: string, state: State): void {
    const reason = triggerOf(state, iteration, task);
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
    this.triggers.push({ iteration, reason });
    if (this.triggers.length > triggersMax) this.triggers.shift();
  }

  private log(event: Event): void {
    if (this.lines.length === linesMax) {
      this.linesBefore = this.lines;
      this.lines = [];
    }
    const words = stripControls(sentenceOf(event)).replaceAll(/[\r\n\u2028\u2029]+/g, ' ');
    this.lines.push(`${isoTime(event.at)} ${takeCharacters(words, lineCharsMax)}\n`);
  }

  private metricsText(state: State): string {
    const metrics = this.metrics.metrics();
    const fields = {
      ...Object.fromEntries(metricNames.map(name => [name, metrics[name]])),
      loop_id: state.loop.id,
      started_at: isoTime(state.loop.startedAt),
      termination_reason: state.control.ended?.reason ?? '',
      /** Why the newest iterations started, and how often each reason was one; at last, what ended the loop. */
      triggers: this.triggers,
      trigger_counts: Object.fromEntries(this.counts),
      end_trigger: (state.control.ended && triggerOfEnd(state.control.ended.reason)) ?? '',
    };
    return `${JSON.stringify(fields, null, 2)}\n`;
  }

  files(state: State): readonly ViewFile[] {
    if (!isStarted(state)) return [];
    const rotated = this.linesBefore.length === 0 ? null : this.linesBefore.join('');
    return [
      { path: `${this.folder}/.gitignore`, text: ignored, once: true },
      { path: `${this.folder}/metrics/metrics_${stampOf(state.loop.startedAt)}.json`, text: this.metricsText(state) },
      { path: `${this.folder}/logs/ralph.log`, text: this.lines.join('') },
      { path: `${this.folder}/logs/ralph.log.1`, text: rotated },
    ];
  }
}
