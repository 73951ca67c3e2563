// The prompt of one task of a project: the user's template, how to claim, and what the past has taught.
import type { LiveIteration, State } from '../../core/state.ts';
import { findTask, type Task } from '../../core/task.ts';
import type { Problem } from '../../documents/document.ts';
import { humanSection, type PromptText, protocolSection, refusalSection } from '../iteration-prompt.ts';
import {
  assembled,
  diffText,
  type Facts,
  obstacleText,
  projectValues,
  type Section,
  stateText,
  taskText,
} from './project-sections.ts';
import { fillTemplate } from '../template.ts';

const sectionNames = ['guidance', 'protocol', 'task', 'refusals', 'obstacles', 'state', 'diff'] as const;
const valueNames = ['project_name', 'artefacts', 'spec', 'iteration', 'max_iterations', 'attempt'] as const;

/** What a template of one's own may name. */
export const executePlaceholders: readonly string[] = [...valueNames, 'task_id', 'task_title', ...sectionNames];

/** What is wrong with a template of one's own: nothing is started with it. */
export function executeProblems(template: string): readonly Problem[] {
  return fillTemplate(template, Object.fromEntries(executePlaceholders.map(name => [name, '']))).problems;
}

function sectionsOf(state: State, live: LiveIteration, task: Task, facts: Facts): readonly Section[] {
  return [
    { name: 'task', text: taskText(task, state, live) },
    { name: 'refusals', text: refusalSection(state, task) },
    { name: 'obstacles', text: obstacleText(state.obstacles, task.id) },
    { name: 'state', text: stateText(state, task.id) },
    { name: 'diff', text: diffText(facts['diff'] ?? '') },
  ];
}

export function executePrompt(state: State, live: LiveIteration, template: string, facts: Facts = {}): PromptText {
  const task = findTask(state.tasks, live.task);
  const protocol = { name: 'protocol', text: protocolSection(state) };
  if (task === undefined) return assembled('', {}, { name: 'guidance', text: '' }, protocol, []);
  return assembled(
    template,
    projectValues(state, live, task, facts),
    { name: 'guidance', text: humanSection(state, live) },
    protocol,
    sectionsOf(state, live, task, facts),
  );
}
