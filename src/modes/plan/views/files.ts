// The vault's files about one plan: how far it is, what needs a person, and what was done, all from the ledger.
import type { Event, EventOf } from '../../../core/event.ts';
import type { State } from '../../../core/state.ts';
import { progress } from '../../../core/task.ts';
import type { Problem } from '../../../documents/document.ts';
import { isoTime, plural } from '../../../text/format.ts';
import { takeCharacters } from '../../../text/text.ts';
import { endingOf } from '../../../views/ending.ts';
import { sentenceOf } from '../../../views/timeline.ts';
import type { ModeView, ViewFile } from '../../mode.ts';
import { currentStep, isCarriedOut, planStatus, stepNumber, type Trouble, troubles } from './dashboard.ts';
import { frontMatter, inline, noteLink, quotation } from './markdown.ts';
import { fileId, planName, type VaultPaths, vaultPaths } from './paths.ts';

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
    const id = state.loop.projectId;
    const isBegun = state.iterations.begun > 0 || state.questions.open.length > 0 || state.control.ended !== undefined;
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

/** A plan that has no loop, because it cannot be one. */
export function brokenPlanFile(root: string, id: string, problems: readonly Problem[]): ViewFile {
  return { path: vaultPaths(root).blocked(id), text: brokenText(id, problems) };
}

// The notes in Needs_Action about a plan that cannot go on: what happened, how far it is, what a person can do.

const nameOf = ({ loop: { document, directory, projectId } }: State): string =>
  planName(document, directory, fileId(projectId)).replaceAll('`', "'");

const numbered = (lines: readonly string[]): readonly string[] => lines.map((line, at) => `${at + 1}. ${line}`);

/** Our own command lines, as the terminal says them; names of loops hold nothing that could end the code. */
const commandLines = (state: State): readonly string[] =>
  endingOf(state).next.map(line => `   - \`${line.replaceAll('`', "'")}\``);

function troubleText({ task, what, detail }: Trouble): readonly string[] {
  const title = task === undefined ? [] : [`**Step ${stepNumber(task.id)}:** ${inline(task.spec.title)}  `];
  const attempts =
    task === undefined || task.attempts === 0 ? [] : [`**Attempts:** ${plural(task.attempts, 'attempt')}  `];
  const isSaid = detail === '' || inline(what).includes(inline(detail));
  return [...title, ...attempts, `**Error:** ${inline(what)}`, ...(isSaid ? [] : ['', quotation(detail)]), ''];
}

/** A note with its front matter, the same fields in the same order as seed 004 has them. */
const note = (fields: Parameters<typeof frontMatter>[0], title: string, lines: readonly string[]): string =>
  [frontMatter(fields), '', `# ${title}`, '', ...lines, ''].join('\n');

function blockedText(state: State, found: readonly Trouble[], fileName: string): string {
  if (state.control.ended?.reason === 'goal_achieved') return leftOutText(state, fileName);
  const first = found.find(one => one.task !== undefined)?.task;
  const step = first === undefined ? currentStep(state) : stepNumber(first.id);
  const [question] = state.questions.open;
  const fields = { plan_id: fileId(state.loop.projectId), step_num: step, severity: 'high', action_required: true };
  return note(fields, `Plan blocked at step ${step}`, [
    `**Plan:** ${inline(state.loop.goal)}`,
    '',
    ...found.flatMap(troubleText),
    '## Recovery',
    '',
    ...numbered([
      `Look at the step in ${noteLink(fileName)} and at what was tried: \`ralph explain ${state.loop.name}\``,
      question?.kind === 'effect'
        ? 'Look where its effect would show: only you can see whether it happened'
        : 'Mend the cause. An edit of the plan itself needs a new approval: `ralph plan approve`',
      question === undefined ? 'Reopen the loop; its counters stay:' : 'Answer the question:',
    ]),
    ...(question?.options ?? []).map((option, at) => `   - ${at + 1}: ${inline(option.text)}`),
    ...commandLines(state),
    `4. Go on: \`ralph plan run ${nameOf(state)}\` (a running \`ralph plan watch\` does it by itself)`,
  ]);
}

/** Over, and nothing of it was done. */
function leftOutText(state: State, fileName: string): string {
  const fields = { plan_id: fileId(state.loop.projectId), step_num: 0, severity: 'medium', action_required: true };
  return note(fields, 'Plan left out: nothing of it was done', [
    `**Plan:** ${inline(state.loop.goal)}`,
    '',
    `Every step of ${noteLink(fileName)} was left out, so it was not put into Done, and its loop is over.`,
    '',
    '## Recovery',
    '',
    ...numbered([
      'Not wanted any more: delete the plan, or move it away, and this note with it',
      'Wanted after all: give it a `plan_id` of its own, untick its boxes, and approve it anew: `ralph plan approve FILE`',
    ]),
  ]);
}

function escalatedText(state: State, fileName: string): string {
  const { done, total, skipped, blocked } = progress(state.tasks);
  const id = fileId(state.loop.projectId);
  const { iterationsMax } = state.settings.limits;
  const isByIterations = state.control.ended?.reason === 'max_iterations';
  const fields = { plan_id: id, severity: 'medium', action_required: true, max_iterations_reached: isByIterations };
  return note(fields, `Plan escalated: ${isByIterations ? 'all iterations are used up' : 'a limit is used up'}`, [
    `**Plan:** ${inline(state.loop.goal)}  `,
    `**Iterations used:** ${state.iterations.begun}${iterationsMax === null ? '' : ` of ${iterationsMax}`}  `,
    `**Why:** ${inline(state.control.ended?.because ?? '')}`,
    '',
    '## Progress',
    '',
    `- Completed: ${done} of ${plural(total, 'step')}${skipped > 0 ? `, ${skipped} left out` : ''}${blocked > 0 ? `, ${blocked} given up` : ''}`,
    `- Current step: ${currentStep(state)}`,
    `- Every attempt: [[Logs/Plan_Execution/${id}]]`,
    '',
    '## Next actions',
    '',
    ...numbered([
      `Read how far ${noteLink(fileName)} is, and which step used up the attempts`,
      'Do what is left by hand, or give the same loop more room; its counters stay:',
    ]),
    ...commandLines(state),
    `3. Then go on: \`ralph plan run ${nameOf(state)}\``,
  ]);
}

const problemsMax = 50;

function brokenText(id: string, problems: readonly Problem[]): string {
  const lines = problems.slice(0, problemsMax).map(({ message, line, fix }) => {
    const place = line === undefined ? '' : `line ${line}: `;
    return `- ${place}${inline(`${message}${fix === undefined ? '' : ` ${fix}`}`)}`;
  });
  const left = problems.length - lines.length;
  const fields = { plan_id: fileId(id), step_num: 0, severity: 'high', action_required: true };
  return note(fields, 'Plan blocked: it cannot run as it is', [
    `**Error:** ${plural(problems.length, 'problem')}`,
    '',
    ...lines,
    ...(left > 0 ? [`- and ${left} more`] : []),
    '',
    '## Recovery',
    '',
    ...numbered([
      'Do what is said above. Where the text is wrong, mend it where it lies: `ralph plan lint FILE` lists all that is left',
      'Until then nothing more of it is done. A running `ralph plan watch` looks again as soon as the file is saved',
    ]),
  ]);
}
