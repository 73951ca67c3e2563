// Notes in Needs_Action about a plan that cannot go on: which plan it is, what happened, how far it is, what a person can do.
import type { State } from '../../../core/state.ts';
import { progress, type TaskSpec } from '../../../core/task.ts';
import type { Problem } from '../../../documents/document.ts';
import { plural } from '../../../text/format.ts';
import { relativePath } from '../../../text/step-path.ts';
import { endingOf } from '../../../views/ending.ts';
import type { ViewFile } from '../../mode.ts';
import { currentStep, stepNumber, type Trouble } from './dashboard.ts';
import { frontMatter, inline, noteLink, quotation } from './markdown.ts';
import { fileId, planName, type VaultPaths, vaultPaths } from './paths.ts';

/** A plan that does not run as it is, and what of it can be told. */
export interface BrokenPlan {
  readonly id: string;
  /** Where it lies now. */
  readonly path: string;
  readonly objective?: string | undefined;
}

export function brokenPlanFile(root: string, plan: BrokenPlan, problems: readonly Problem[]): ViewFile {
  const paths = vaultPaths(root);
  return { path: paths.blocked(plan.id), text: brokenText(plan, paths, problems) };
}

const nameOf = ({ loop: { document, directory, projectId } }: State): string =>
  planName(document, directory, fileId(projectId)).replaceAll('`', "'");

const numbered = (lines: readonly string[]): readonly string[] => lines.map((line, at) => `${at + 1}. ${line}`);

/** Our own command lines, as the terminal says them; names of loops hold nothing that could end the code. */
const commandLines = (state: State): readonly string[] =>
  endingOf(state).next.map(line => `   - \`${line.replaceAll('`', "'")}\``);

/** Who does a step, and what it says beyond its title. */
function doerOf({ order, performer, description }: TaskSpec): string {
  if (order?.type === 'mcp') return `the tool ${inline(order.tool)} of the MCP server ${inline(order.server)}`;
  if (order?.type === 'create_file') return `makes the file ${inline(order.path)}`;
  return performer === undefined && description !== '' ? `an agent: ${inline(description)}` : (performer ?? 'an agent');
}

function troubleText({ task, what, details }: Trouble): readonly string[] {
  const title =
    task === undefined
      ? []
      : [`**Step ${stepNumber(task.id)}:** ${inline(task.spec.title)}  `, `**By:** ${doerOf(task.spec)}  `];
  const attempts =
    task === undefined || task.attempts === 0 ? [] : [`**Attempts:** ${plural(task.attempts, 'attempt')}  `];
  const said = details.filter(one => one !== '' && !inline(what).includes(inline(one)));
  const errors = said.flatMap(one => ['', quotation(one)]);
  return [...title, ...attempts, `**Error:** ${inline(what)}`, ...errors, ''];
}

/** Which plan it is, as a reader of the vault finds it. */
function planLines(paths: VaultPaths, path: string, objective: string | undefined): readonly string[] {
  const name = path.split('/').at(-1) ?? path;
  return [
    `**Plan:** ${objective === undefined ? 'its objective cannot be read' : inline(objective)}  `,
    `**File:** ${noteLink(name)}  `,
    `**Lies in:** ${inline(relativePath(paths.root, path))}`,
  ];
}

const ofState = (paths: VaultPaths, { loop }: State): readonly string[] => planLines(paths, loop.document, loop.goal);
const linkOf = ({ loop: { document } }: State): string => noteLink(document.split('/').at(-1) ?? document);

/** A note with its front matter, the same fields in the same order as seed 004 has them. */
const note = (fields: Parameters<typeof frontMatter>[0], title: string, lines: readonly string[]): string =>
  [frontMatter(fields), '', `# ${title}`, '', ...lines, ''].join('\n');

interface NoteParts {
  readonly paths: VaultPaths;
  readonly answers: readonly string[];
}

export function blockedText(state: State, found: readonly Trouble[], { paths, answers }: NoteParts): string {
  if (state.control.ended?.reason === 'goal_achieved') return leftOutText(state, paths);
  const first = found.find(one => one.task !== undefined)?.task;
  const step = first === undefined ? currentStep(state) : stepNumber(first.id);
  const [question] = state.questions.open;
  const fields = { plan_id: fileId(state.loop.projectId), step_num: step, severity: 'high', action_required: true };
  return note(fields, `Plan blocked at step ${step}`, [
    ...ofState(paths, state),
    '',
    ...found.flatMap(troubleText),
    '## Recovery',
    '',
    ...numbered([
      `Look at the step in ${linkOf(state)} and at what was tried: \`ralph explain ${state.loop.name}\``,
      question?.kind === 'effect'
        ? 'Look where its effect would show: only you can see whether it happened'
        : 'Mend the cause. An edit of the plan itself needs a new approval: `ralph plan approve`',
      question === undefined ? 'Reopen the loop; its counters stay:' : 'Answer the question:',
    ]),
    ...(question?.options ?? []).map((option, at) => `   - ${at + 1}: ${inline(option.text)}`),
    ...commandLines(state),
    `4. Go on: \`ralph plan run ${nameOf(state)}\` (a running \`ralph plan watch\` does it by itself)`,
    ...answers,
  ]);
}

/** Over, and nothing of it was done. */
function leftOutText(state: State, paths: VaultPaths): string {
  const fields = { plan_id: fileId(state.loop.projectId), step_num: 0, severity: 'medium', action_required: true };
  return note(fields, 'Plan left out: nothing of it was done', [
    ...ofState(paths, state),
    '',
    `Every step of ${linkOf(state)} was left out, so it was not put into Done, and its loop is over.`,
    '',
    '## Recovery',
    '',
    ...numbered([
      'Not wanted any more: delete the plan, or move it away, and this note with it',
      'Wanted after all: give it a `plan_id` of its own, untick its boxes, and approve it anew: `ralph plan approve FILE`',
    ]),
  ]);
}

export function escalatedText(state: State, paths: VaultPaths): string {
  const { done, total, skipped, blocked } = progress(state.tasks);
  const id = fileId(state.loop.projectId);
  const { iterationsMax } = state.settings.limits;
  const isByIterations = state.control.ended?.reason === 'max_iterations';
  const fields = { plan_id: id, severity: 'medium', action_required: true, max_iterations_reached: isByIterations };
  return note(fields, `Plan escalated: ${isByIterations ? 'all iterations are used up' : 'a limit is used up'}`, [
    ...ofState(paths, state),
    '',
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
      `Read how far ${linkOf(state)} is, and which step used up the attempts`,
      'Do what is left by hand, or give the same loop more room; its counters stay:',
    ]),
    ...commandLines(state),
    `3. Then go on: \`ralph plan run ${nameOf(state)}\``,
  ]);
}

const problemsMax = 200; // as many as lint tells

function brokenText({ id, path, objective }: BrokenPlan, paths: VaultPaths, problems: readonly Problem[]): string {
  const lines = problems.slice(0, problemsMax).map(({ message, line, fix }) => {
    const place = line === undefined ? '' : `line ${line}: `;
    return `- ${place}${inline(`${message}${fix === undefined ? '' : ` ${fix}`}`)}`;
  });
  const left = problems.length - lines.length;
  const fields = { plan_id: fileId(id), step_num: 0, severity: 'high', action_required: true };
  return note(fields, 'Plan blocked: it cannot run as it is', [
    ...planLines(paths, path, objective),
    '',
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
