// The last word about a project, results.md: what was done, which files changed, what remains, why it stopped and what to do next.
import type { Obstacle } from '../../core/obstacles.ts';
import type { State } from '../../core/state.ts';
import { allTasks, type Task } from '../../core/task.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';
import { endingOf } from '../../views/ending.ts';
import type { StateEntry } from './project-entries.ts';

export interface ResultFacts {
  readonly project: string;
  readonly entries: readonly StateEntry[];
  readonly obstacles: readonly Obstacle[];
  /** The iteration that completed each task, in this loop. */
  readonly completedIn: ReadonlyMap<string, number>;
}

const filesShownMax = 500;
const lineCharsMax = 500;
const hidden = /[\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Others' words stay words: one line, no markup, nothing that a reader could not see. */
function plain(text: string): string {
  return takeCharacters(stripControls(text).replace(/\s+/g, ' ').trim(), lineCharsMax)
    .replace(/[\\<[\]*`]/g, '\\$&')
    .replace(hidden, character => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** A path as code; one that would end the code early is told as words. */
const pathOf = (path: string): string => (/[`\n\r]/.test(path) ? plain(path) : `\`${plainPath(path)}\``);
const plainPath = (path: string): string =>
  stripControls(path).replace(hidden, character => `\\u{${character.codePointAt(0)?.toString(16)}}`);

const proofOf = (task: Task): string =>
  task.verified === undefined ? 'before this loop' : task.verified ? 'checked' : "on the agent's word, unverified";

function doneLine(task: Task, { entries, completedIn }: ResultFacts): string {
  const iteration = completedIn.get(task.id);
  const where = iteration === undefined ? '' : ` in iteration ${iteration}`;
  const summary = entries.find(one => one.iteration === iteration)?.summary ?? '';
  const said = summary === '' ? '' : `: ${plain(summary)}`;
  return `- **${plain(task.id)}** ${plain(task.title)} (completed${where}, ${proofOf(task)})${said}`;
}

const statusWords: Readonly<Record<Task['status'], string>> = {
  pending: 'pending',
  active: 'in_progress',
  done: 'completed',
  blocked: 'blocked',
  skipped: 'blocked, left out by a person',
};

function openLine(task: Task): string {
  const attempts = task.attempts === 0 ? '' : `, ${task.attempts} attempt${task.attempts === 1 ? '' : 's'}`;
  const why = (task.parked ?? task.rejection ?? '').split('\n')[0] ?? '';
  const reason = why === '' ? '' : `: ${plain(why)}`;
  return `- **${plain(task.id)}** ${plain(task.title)} (${statusWords[task.status]}${attempts})${reason}`;
}

const listed = (lines: readonly string[], none: string): readonly string[] => (lines.length === 0 ? [none] : lines);

function fileLines(entries: readonly StateEntry[]): readonly string[] {
  const files = [...new Set(entries.flatMap(one => one.files_modified))].sort();
  const left = files.length - filesShownMax;
  return [
    ...files.slice(0, filesShownMax).map(path => `- ${pathOf(path)}`),
    ...(left > 0 ? [`- and ${left} more`] : []),
  ];
}

const section = (title: string, lines: readonly string[]): readonly string[] => ['', `## ${title}`, '', ...lines];

export function resultsMarkdown(state: State, facts: ResultFacts): string {
  const tasks = [...allTasks(state.tasks)];
  const done = tasks.filter(task => task.status === 'done');
  const open = tasks.filter(task => task.status !== 'done');
  const obstacles = facts.obstacles.filter(one => !one.resolved);
  const { sentence, next } = endingOf(state);
  const outcome =
    open.length === 0
      ? 'All tasks are completed.'
      : `${state.ended === undefined ? 'Execution waits' : 'Execution has halted'}: ${done.length} of ${tasks.length} tasks are completed.`;
  const lines = [
    `# Results of ${plain(facts.project)}`,
    '',
    outcome,
    '',
    `Reason: ${plain(sentence)}`,
    ...section(
      'Changes',
      listed(
        done.map(task => doneLine(task, facts)),
        'No task was completed.',
      ),
    ),
    ...section('Files modified', listed(fileLines(facts.entries), 'None that Ralph knows of.')),
    ...section('Remaining', listed(open.map(openLine), 'Nothing.')),
    ...(obstacles.length === 0
      ? []
      : section(
          'Obstacles that are not resolved',
          obstacles.map(({ id, task, message }) => `- **${id}** (${plain(task)}) ${plain(message)}`),
        )),
    ...section(
      'What to do next',
      listed(
        next.map(command => `    ${plainPath(command)}`),
        'Nothing.',
      ),
    ),
  ];
  return `${lines.join('\n')}\n`;
}
