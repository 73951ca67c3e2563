// The vault's files about one plan: how far it is, what needs a person, and what was done, all from the ledger.
import type { Event, EventOf } from '../../../core/event.ts';
import type { State } from '../../../core/state.ts';
import { progress } from '../../../core/task.ts';
import type { Problem } from '../../../documents/document.ts';
import { isoTime } from '../../../text/format.ts';
import { takeCharacters } from '../../../text/text.ts';
import { sentenceOf } from '../../../views/timeline.ts';
import type { ModeView, ViewFile } from '../../mode.ts';
import { currentStep, isCarriedOut, planStatus, stepNumber, troubles } from './dashboard.ts';
import { frontMatter, inline } from './markdown.ts';
import { blockedText, brokenText, escalatedText } from './needs-action.ts';
import { fileId, type VaultPaths, vaultPaths } from './paths.ts';

const logLinesMax = 1_000;
const errorCharsMax = 2_000;

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

export class VaultView implements ModeView {
  private readonly paths: VaultPaths;
  private readonly fileName: string;
  private readonly errors = new Map<string, string>();
  private readonly lines: string[] = [];
  private linesLeft = 0;
  private action = 'initialized';
  private actedAt = 0;

  constructor(root: string, fileName: string) {
    this.paths = vaultPaths(root);
    this.fileName = fileName;
  }

  add(event: Event): void {
    const action = actionOf(event);
    if (action !== undefined) {
      this.action = action;
      this.actedAt = event.at;
    }
    if (event.type === 'iteration.ended' && event.failure !== undefined)
      this.errors.set(event.task, takeCharacters(event.failure.detail, errorCharsMax));
    if (!logged.has(event.type)) return;
    this.lines.push(`- ${isoTime(event.at)} ${inline(sentenceOf(event))}`);
    if (this.lines.length <= logLinesMax) return;
    this.lines.shift();
    this.linesLeft += 1;
  }

  files(state: State): readonly ViewFile[] {
    const id = state.projectId;
    const isBegun = state.iterations > 0 || state.escalations.length > 0 || state.ended !== undefined;
    const isUnderWay = isBegun && !isCarriedOut(state);
    const found = troubles(state, this.errors);
    const isEscalated = planStatus(state) === 'escalated';
    return [
      { path: this.paths.state(id), text: isUnderWay ? this.stateText(state) : null },
      { path: this.paths.blocked(id), text: found.length > 0 ? blockedText(state, found, this.fileName) : null },
      { path: this.paths.escalated(id), text: isEscalated ? escalatedText(state, this.fileName) : null },
      { path: this.paths.log(id), text: this.logText(state) },
    ];
  }

  private stateText(state: State): string {
    const { iterationsMax } = state.settings.limits;
    const remaining = iterationsMax === null ? 'unlimited' : Math.max(0, iterationsMax - state.iterations);
    const step = currentStep(state);
    const at = isoTime(this.actedAt);
    const status = planStatus(state);
    const { done, total } = progress(state.tasks);
    return [
      frontMatter({
        plan_id: fileId(state.projectId),
        current_step: step,
        iterations_remaining: remaining,
        last_action: this.action,
        last_action_timestamp: at,
        loop_start_time: isoTime(state.startedAt),
        status,
      }),
      '',
      `# ${fileId(state.projectId)}: ${status}`,
      '',
      `**Objective:** ${inline(state.goal)}  `,
      `**Step:** ${step} of ${total}, ${done} done  `,
      `**Iterations left:** ${remaining}${iterationsMax === null ? '' : ` of ${iterationsMax}`}  `,
      `**Last:** ${this.action}, ${at}`,
      '',
      `Made from the ledger of loop ${state.name}; what is written here by hand is lost. See why: \`ralph explain ${state.name}\``,
      '',
    ].join('\n');
  }

  private logText(state: State): string {
    const left =
      this.linesLeft === 0 ? [] : [`(${this.linesLeft} older lines: \`ralph events ${state.name}\` has them)`];
    return [`# Log of ${fileId(state.projectId)}`, '', inline(state.goal), '', ...left, ...this.lines, ''].join('\n');
  }
}

/** A plan that has no loop, because it cannot be one. */
export function brokenPlanFile(root: string, id: string, problems: readonly Problem[]): ViewFile {
  return { path: vaultPaths(root).blocked(id), text: brokenText(id, problems) };
}
