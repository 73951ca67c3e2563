// The vault's files about one plan: how far it is, what needs a person, and what was done, all from the ledger.
import type { Event, EventOf } from '../../../core/event.ts';
import type { State } from '../../../core/state.ts';
import { progress } from '../../../core/task.ts';
import { isoTime } from '../../../text/format.ts';
import { takeCharacters } from '../../../text/text.ts';
import { sentenceOf } from '../../../views/timeline.ts';
import type { ModeView, ViewFile } from '../../mode.ts';
import { answerSection } from './answers.ts';
import { currentStep, isCarriedOut, planStatus, stepNumber, type Trouble, troubles } from './dashboard.ts';
import { frontMatter, inline } from './markdown.ts';
import { blockedText, escalatedText } from './notes.ts';
import { fileId, type VaultPaths, vaultPaths } from './paths.ts';

const logLinesMax = 1_000;
const errorCharsMax = 2_000;
/** Of a step; each attempt has one, and retries are few. */
const errorsMax = 10;

/** Each attempt and each decision. */
const logged: ReadonlySet<Event['type']> = new Set([
  'loop.started',
  'approval.given',
  'iteration.started',
  'action.intended',
  'iteration.ended',
  'check.ended',
  'task.closed',
  'task.blocked',
  'task.skipped',
  'task.reopened',
  'escalation.raised',
  'escalation.answered',
  'guidance.given',
  'limits.changed',
  'stop.asked',
  'loop.paused',
  'loop.resumed',
  'loop.ended',
]);

type EventText = { readonly [Type in Event['type']]?: (event: EventOf<Type>) => string | undefined };

/** The last action in words of ours; events that are none are not in it. */
const actions: EventText = {
  'loop.started': () => 'initialized',
  'approval.given': () => 'approved',
  'iteration.started': ({ task, attempt }) => `started step ${stepNumber(task)}, attempt ${attempt}`,
  'iteration.ended': ({ outcome, task }) =>
    outcome === 'succeeded' ? undefined : `${outcome} at step ${stepNumber(task)}`,
  'task.closed': ({ task }) => `completed step ${stepNumber(task)}`,
  'task.blocked': ({ task }) => `gave up step ${stepNumber(task)}`,
  'task.skipped': ({ task }) => `left out step ${stepNumber(task)}`,
  'task.reopened': ({ task }) => `reopened step ${stepNumber(task)}`,
  'escalation.raised': ({ escalation }) => `asked ${escalation.id}`,
  'escalation.answered': ({ id }) => `was answered ${fileId(id)}`,
  'loop.resumed': () => 'resumed',
  'loop.ended': ({ reason }) => `ended (${reason})`,
};

const actionOf = (event: Event): string | undefined =>
  (actions[event.type] as ((event: Event) => string | undefined) | undefined)?.(event);

/** Why an attempt came to nothing: the agent or action failed, or what it claimed was not believed. */
function errorOf(event: Event): string | undefined {
  if (event.type === 'iteration.ended') return event.failure?.detail;
  if (event.type === 'check.ended' && !event.passed) return `the check ${event.check} failed: ${event.detail}`;
  if (event.type === 'signal.read' && !event.accepted) return event.because;
  return event.type === 'proof.screened' && event.refused ? event.because : undefined;
}

/** Of whoever writes the notes. */
export interface NoteFacts {
  /** Whether agents are kept from the notes; undefined: nobody knows. */
  readonly areConfined?: (() => boolean) | undefined;
  /** Why what a person ticked was not taken. */
  readonly remark?: string | undefined;
}

export class VaultView implements ModeView {
  private readonly paths: VaultPaths;
  private readonly facts: NoteFacts;
  private readonly errors = new Map<string, readonly string[]>();
  private readonly lines: string[] = [];
  private linesLeft = 0;
  private action = 'initialized';
  private actedAt = 0;

  constructor(root: string, facts: NoteFacts = {}) {
    this.paths = vaultPaths(root);
    this.facts = facts;
  }

  add(event: Event): void {
    const action = actionOf(event);
    if (action !== undefined) {
      this.action = action;
      this.actedAt = event.at;
    }
    this.noteError(event);
    if (event.type === 'task.reopened') this.errors.delete(event.task);
    if (!logged.has(event.type)) return;
    this.lines.push(`- ${isoTime(event.at)} ${inline(sentenceOf(event))}`);
    if (this.lines.length <= logLinesMax) return;
    this.lines.shift();
    this.linesLeft += 1;
  }

  private noteError(event: Event): void {
    const detail = errorOf(event);
    const { task, iteration } = { task: undefined, iteration: undefined, ...event };
    if (detail === undefined || task === undefined) return;
    const error = `Iteration ${iteration}: ${takeCharacters(detail, errorCharsMax)}`;
    this.errors.set(task, [...(this.errors.get(task) ?? []), error].slice(-errorsMax));
  }

  files(state: State): readonly ViewFile[] {
    const id = state.loop.projectId;
    const isBegun = state.iterations.begun > 0 || state.questions.open.length > 0 || state.control.ended !== undefined;
    const isUnderWay = isBegun && !isCarriedOut(state);
    const found = troubles(state, this.errors);
    const isEscalated = planStatus(state) === 'escalated';
    return [
      { path: this.paths.state(id), text: isUnderWay ? this.stateText(state) : null },
      { path: this.paths.blocked(id), text: found.length > 0 ? this.blockedText(state, found) : null },
      { path: this.paths.escalated(id), text: isEscalated ? escalatedText(state, this.paths) : null },
      { path: this.paths.log(id), text: this.logText(state) },
    ];
  }

  private blockedText(state: State, found: readonly Trouble[]): string {
    const { areConfined, remark } = this.facts;
    const { open } = state.questions;
    const answers = state.control.ended || open.length === 0 ? [] : answerSection(open, areConfined?.(), remark);
    return blockedText(state, found, { paths: this.paths, answers });
  }

  private stateText(state: State): string {
    const { iterationsMax } = state.settings.limits;
    const remaining = iterationsMax === null ? 'unlimited' : Math.max(0, iterationsMax - state.iterations.begun);
    const step = currentStep(state);
    const at = isoTime(this.actedAt);
    const status = planStatus(state);
    const { done, total } = progress(state.tasks);
    return [
      frontMatter({
        plan_id: fileId(state.loop.projectId),
        current_step: step,
        iterations_remaining: remaining,
        last_action: this.action,
        last_action_timestamp: at,
        loop_start_time: isoTime(state.loop.startedAt),
        status,
      }),
      '',
      `# ${fileId(state.loop.projectId)}: ${status}`,
      '',
      `**Objective:** ${inline(state.loop.goal)}  `,
      `**Step:** ${step} of ${total}, ${done} done  `,
      `**Iterations left:** ${remaining}${iterationsMax === null ? '' : ` of ${iterationsMax}`}  `,
      `**Last:** ${this.action}, ${at}`,
      '',
      `Made from the ledger of loop ${state.loop.name}; what is written here by hand is lost. See why: \`ralph explain ${state.loop.name}\``,
      '',
    ].join('\n');
  }

  private logText(state: State): string {
    const left =
      this.linesLeft === 0 ? [] : [`(${this.linesLeft} older lines: \`ralph events ${state.loop.name}\` has them)`];
    return [
      `# Log of ${fileId(state.loop.projectId)}`,
      '',
      inline(state.loop.goal),
      '',
      ...left,
      ...this.lines,
      '',
    ].join('\n');
  }
}
