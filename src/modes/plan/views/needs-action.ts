// The notes in Needs_Action about a plan that cannot go on: what happened, how far it is, what a person can do.

import type { State } from '../../../core/state.ts';
import { progress } from '../../../core/task.ts';
import type { Problem } from '../../../documents/document.ts';
import { plural } from '../../../text/format.ts';
import { endingOf } from '../../../views/ending.ts';
import { currentStep, stepNumber, type Trouble } from './dashboard.ts';
import { frontMatter, inline, noteLink, quotation } from './markdown.ts';
import { fileId, planName } from './paths.ts';

const nameOf = ({ document, directory, projectId }: State): string =>
  planName(document, directory, fileId(projectId)).replaceAll('`', "'");

const numbered = (lines: readonly string[]): readonly string[] => lines.map((line, at) => `${at + 1}. ${line}`);

/** Our own command lines, as the terminal says them; names of loops hold nothing that could end the code. */
const commandLines = (state: State): readonly string[] =>
  endingOf(state).next.map(line => `   - \`${line.replaceAll('`', "'")}\``);

function troubleText({ task, what, detail }: Trouble): readonly string[] {
  const title = task === undefined ? [] : [`**Step ${stepNumber(task.id)}:** ${inline(task.title)}  `];
  const attempts =
    task === undefined || task.attempts === 0 ? [] : [`**Attempts:** ${plural(task.attempts, 'attempt')}  `];
  const isSaid = detail === '' || inline(what).includes(inline(detail));
  return [...title, ...attempts, `**Error:** ${inline(what)}`, ...(isSaid ? [] : ['', quotation(detail)]), ''];
}

/** A note with its front matter, the same fields in the same order as seed 004 has them. */
const note = (fields: Parameters<typeof frontMatter>[0], title: string, lines: readonly string[]): string =>
  [frontMatter(fields), '', `# ${title}`, '', ...lines, ''].join('\n');

export function blockedText(state: State, found: readonly Trouble[], fileName: string): string {
  if (state.ended?.reason === 'goal_achieved') return leftOutText(state, fileName);
  const first = found.find(one => one.task !== undefined)?.task;
  const step = first === undefined ? currentStep(state) : stepNumber(first.id);
  const [question] = state.escalations;
  const fields = { plan_id: fileId(state.projectId), step_num: step, severity: 'high', action_required: true };
  return note(fields, `Plan blocked at step ${step}`, [
    `**Plan:** ${inline(state.goal)}`,
    '',
    ...found.flatMap(troubleText),
    '## Recovery',
    '',
    ...numbered([
      `Look at the step in ${noteLink(fileName)} and at what was tried: \`ralph explain ${state.name}\``,
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
  const fields = { plan_id: fileId(state.projectId), step_num: 0, severity: 'medium', action_required: true };
  return note(fields, 'Plan left out: nothing of it was done', [
    `**Plan:** ${inline(state.goal)}`,
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

export function escalatedText(state: State, fileName: string): string {
  const { done, total, skipped, blocked } = progress(state.tasks);
  const id = fileId(state.projectId);
  const { iterationsMax } = state.settings.limits;
  const isByIterations = state.ended?.reason === 'max_iterations';
  const fields = { plan_id: id, severity: 'medium', action_required: true, max_iterations_reached: isByIterations };
  return note(fields, `Plan escalated: ${isByIterations ? 'all iterations are used up' : 'a limit is used up'}`, [
    `**Plan:** ${inline(state.goal)}  `,
    `**Iterations used:** ${state.iterations}${iterationsMax === null ? '' : ` of ${iterationsMax}`}  `,
    `**Why:** ${inline(state.ended?.because ?? '')}`,
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

export function brokenText(id: string, problems: readonly Problem[]): string {
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
