// The prompt of one round of an interview: whom to ask about what, and which file ends the round.
import type { LiveIteration, State } from '../../core/state.ts';
import { allTasks, findTask } from '../../core/task.ts';
import { stripControls } from '../../text/text.ts';
import type { Problem } from '../../documents/document.ts';
import { humanSection, type PromptText, refusalSection } from '../iteration-prompt.ts';
import { assembled, type Facts, projectValues } from '../project/project-sections.ts';
import { lastRoundTemplate } from '../project/templates.ts';
import { fillTemplate, type TemplateValues } from '../template.ts';

const sectionNames = ['guidance', 'ending', 'refusals', 'notices', 'tasks'] as const;
const valueNames = ['project_name', 'artefacts', 'spec', 'iteration', 'max_iterations', 'attempt'] as const;

/** What a template of one's own may name. */
export const interviewPlaceholders: readonly string[] = [...valueNames, 'round', 'total_rounds', ...sectionNames];

export function interviewProblems(template: string): readonly Problem[] {
  return fillTemplate(template, Object.fromEntries(interviewPlaceholders.map(name => [name, '']))).problems;
}

const earlierRound = `## Not yet

Write no tasks.json in this round: that is the work of the last one.
`.trim();

/** A person is at the terminal and the screen is not read, so a file ends the round. */
function endingText({ artefacts, spec }: TemplateValues, doneFile: string, isLast: boolean): string {
  const saved = isLast ? `\`${spec}\` and \`${artefacts}/tasks.json\` are saved` : `\`${spec}\` is saved`;
  return [
    '## How this round ends',
    '',
    `Ralph reads nothing of what stands on the screen. When ${saved}, write one or two sentences about what you changed into`,
    `\`${doneFile}\`. As soon as that file is there the round is over and you are ended: write it last, and whole. Do not leave`,
    'this session before.',
  ].join('\n');
}

/** Unusual things that Ralph saw in the spec, for the person to know. */
function noticeText(notices: string): string {
  const clean = stripControls(notices).trim();
  return clean === '' ? '' : `## Tell the person first\n\n${clean}`;
}

/** `facts.notices`: sentences of ours about the spec. `facts.doneFile`: where it is not done.md beside the spec. */
export function interviewPrompt(state: State, live: LiveIteration, template: string, facts: Facts = {}): PromptText {
  const task = findTask(state.tasks, live.task);
  if (task === undefined) return { text: '', stableHash: '' };
  const rounds = [...allTasks(state.tasks)].reduce((most, { round = 0 }) => Math.max(most, round), 1);
  const round = task.round ?? rounds;
  const { task_id: _id, task_title: _title, ...common } = projectValues(state, live, task, facts);
  const values: TemplateValues = { ...common, round: String(round), total_rounds: String(rounds) };
  const isLast = round === rounds;
  const wanted = { ...values, project_json: JSON.stringify(values['project_name']) };
  const tasks = isLast ? fillTemplate(lastRoundTemplate.trim(), wanted).text : earlierRound;
  const doneFile = facts['doneFile'] ?? `${values['artefacts']}/done.md`;
  return assembled(
    template,
    values,
    { name: 'guidance', text: humanSection(state, live) },
    { name: 'ending', text: endingText(values, doneFile, isLast) },
    [
      { name: 'refusals', text: refusalSection(state, task) },
      { name: 'notices', text: noticeText(facts['notices'] ?? '') },
      { name: 'tasks', text: tasks },
    ],
  );
}
