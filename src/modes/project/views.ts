// Files of project mode beside its tasks.json: state.json, obstacles.json and results.md, all made from the ledger.

import type { Event, EventOf } from '../../core/event.ts';
import { obstaclesAfter, obstaclesClosed, obstaclesMetIn } from '../../core/memory.ts';
import { waitingFor } from '../../core/next.ts';
import type { Obstacle, State } from '../../core/state.ts';
import { allTasks, proofWords, type Task } from '../../core/task.ts';
import { plural } from '../../text/format.ts';
import { oneLine, stripControls } from '../../text/text.ts';
import { endingOf } from '../../views/ending.ts';
import type { ModeView, ViewFile } from '../mode.ts';

const hidden = /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** The same values; what a reader could not see is written as an escape. */
const jsonText = (value: unknown): string =>
  `${JSON.stringify(value, null, 2).replace(hidden, character =>
    character
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )}\n`;

/** obstacles.json, field for field as seed 002 has it. */
export const obstaclesText = (obstacles: readonly Obstacle[]): string =>
  jsonText({
    obstacles: obstacles.map(({ id, task, message, resolved, iteration }) => ({
      id,
      task_id: task,
      message,
      resolved,
      iteration,
    })),
  });

/** Grows with the iterations, and with nothing else. */
export class ProjectView implements ModeView {
  private readonly folder: string;
  private readonly project: string | undefined;
  private readonly entries: StateEntry[] = [];
  private readonly completedIn = new Map<string, number>();
  /** As the state has them, bounded. */
  private recent: readonly Obstacle[] = [];
  /** All of them: obstacles.json forgets none. */
  private readonly obstacles = new Map<string, Obstacle>();
  /** It was over, or waited, before: a results.md of this loop may lie there. */
  private wasStill = false;
  private at = 0;

  /** Beside the document only in a folder that is ours: elsewhere a state.json may be somebody's own. */
  constructor({ document, folder }: { readonly document: string; readonly folder: string }) {
    this.project = /\/\.artefacts\/([^/]+)\/[^/]+$/.exec(document)?.[1];
    this.folder = this.project === undefined ? folder : document.replace(/\/[^/]*$/, '');
  }

  add(event: Event, state: State): void {
    this.at = event.at;
    if (event.type === 'iteration.ended') this.ended(event);
    else if (event.type === 'task.closed') this.closed(event);
    else if (event.type === 'task.reopened') this.completedIn.delete(event.task);
    else if (event.type === 'checkpoint.made') this.saved(event, state);
    else if (['loop.ended', 'loop.paused', 'escalation.raised'].includes(event.type)) this.wasStill = true;
  }

  private ended(event: EventOf<'iteration.ended'>): void {
    this.addObstacles(obstaclesAfter(this.recent, event));
    this.entries.push({
      iteration: event.iteration,
      task_id: event.task,
      status: 'attempted',
      summary: summaryOf(event),
      files_modified: [],
      obstacles: obstaclesMetIn(this.recent, event),
    });
  }

  private closed({ task, iteration }: EventOf<'task.closed'>): void {
    this.addObstacles(obstaclesClosed(this.recent, task, iteration));
    for (const [id, one] of this.obstacles) {
      const isOver = one.task === task && one.iteration !== iteration && !one.resolved;
      if (isOver) this.obstacles.set(id, { ...one, resolved: true });
    }
    this.completedIn.set(task, iteration);
    this.change(iteration, task, () => ({ status: 'completed' }));
  }

  /** Only what the iteration itself changed: other checkpoints are made by people, or around a restore; tasks.json is ours. */
  private saved(
    { iteration, task, files = [] }: EventOf<'checkpoint.made'>,
    { loop: { directory, document } }: State,
  ): void {
    const changed = files.filter(path => `${directory}/${path}` !== document);
    this.change(iteration, task, ({ files_modified }) => ({
      files_modified: [...new Set([...files_modified, ...changed])].sort(),
    }));
  }

  private addObstacles(recent: readonly Obstacle[]): void {
    if (recent === this.recent) return;
    for (const one of recent) this.obstacles.set(one.id, one);
    this.recent = recent;
  }

  private change(iteration: number, task: string | undefined, to: (entry: StateEntry) => Partial<StateEntry>): void {
    const at = this.entries.findLastIndex(entry => entry.iteration === iteration);
    const entry = this.entries[at];
    if (entry !== undefined && entry.task_id === task) this.entries[at] = { ...entry, ...to(entry) };
  }

  /** Entries are only ever appended: one whose proof is still open waits, and those after it with it. */
  private shown(state: State): readonly StateEntry[] {
    const open = unsettledIterations(state);
    const first = open.size === 0 ? -1 : this.entries.findIndex(({ iteration }) => open.has(iteration));
    return first < 0 ? this.entries : this.entries.slice(0, first);
  }

  private results(state: State): readonly ViewFile[] {
    const path = `${this.folder}/results.md`;
    const waits = state.control.paused !== undefined || waitingFor(state, this.at)?.kind === 'human';
    const stands = state.control.ended !== undefined || (waits && state.live.length === 0);
    if (!stands) return this.wasStill ? [{ path, text: null }] : [];
    const project = this.project ?? state.loop.name;
    const { entries, completedIn } = this;
    const obstacles = [...this.obstacles.values()];
    return [{ path, text: resultsMarkdown(state, { project, entries, obstacles, completedIn }) }];
  }

  files(state: State): readonly ViewFile[] {
    return [
      { path: `${this.folder}/state.json`, text: jsonText(this.shown(state)) },
      { path: `${this.folder}/obstacles.json`, text: obstaclesText([...this.obstacles.values()]) },
      ...this.results(state),
    ];
  }
}

/** An entry of state.json, field for field as seed 002 has it. */
interface StateEntry {
  readonly iteration: number;
  readonly task_id: string;
  readonly status: 'completed' | 'attempted';
  readonly summary: string;
  readonly files_modified: readonly string[];
  readonly obstacles: readonly string[];
}

const summaryCharsMax = 300;

const short = (text: string): string => oneLine(text, summaryCharsMax);

const claim = /^\W{0,6}task\s+\S+\s+(?:is\s+)?(?:complete|completed|done)\W{0,4}$/i;

/** The last paragraph that is neither report nor claim; an excerpt may begin in the middle of a report. */
function saidIn(excerpt: string): string {
  const close = excerpt.lastIndexOf('</report>');
  const open = excerpt.lastIndexOf('<report>', close);
  const before = close < 0 ? excerpt : open < 0 ? '' : excerpt.slice(0, open);
  const after = close < 0 ? '' : excerpt.slice(close + '</report>'.length);
  const paragraphs = `${before}\n\n${after}`
    .split('\n')
    .filter(line => !claim.test(line) && !line.trim().startsWith('<promise>'))
    .join('\n')
    .split(/\n\s*\n/);
  return paragraphs.findLast(part => part.trim() !== '') ?? '';
}

/** The agent's own account where it gave one, else its last words, else why it ended. */
function summaryOf(event: EventOf<'iteration.ended'>): string {
  const { report, failure, excerpt, because } = event;
  const told = report?.completed.join('; ') ?? '';
  if (failure !== undefined) return short(told === '' ? because : `${told} (${because})`);
  return short(told) || short(saidIn(excerpt)) || short(report?.pending.join('; ') ?? '') || short(because);
}

/** Its claim is still to be proven, or what it changed is still to be looked at: not to be written yet. */
function unsettledIterations(state: State): ReadonlySet<number> {
  if (state.control.ended !== undefined) return new Set();
  const saved = state.checkpoints.due.filter(due => due.task !== undefined);
  return new Set([...state.claims.open, ...saved].map(({ iteration }) => iteration));
}

// results.md: what was done, which files changed, what remains, why it stopped and what to do next.

interface ResultFacts {
  readonly project: string;
  readonly entries: readonly StateEntry[];
  readonly obstacles: readonly Obstacle[];
  /** The iteration that completed each task, in this loop. */
  readonly completedIn: ReadonlyMap<string, number>;
}

const filesShownMax = 500;
const lineCharsMax = 500;
const hiddenInText = /[\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Others' words stay words: one line, no markup, nothing that a reader could not see. */
function plain(text: string): string {
  return visible(oneLine(text, lineCharsMax).replace(/[\\<[\]*`]/g, '\\$&'));
}

const visible = (text: string): string =>
  text.replace(hiddenInText, character => `\\u{${character.codePointAt(0)?.toString(16)}}`);

/** A path as code; one that would end the code early is told as words. */
const pathOf = (path: string): string => (/[`\n\r]/.test(path) ? plain(path) : `\`${visible(stripControls(path))}\``);

function doneLine(task: Task, { entries, completedIn }: ResultFacts): string {
  const iteration = completedIn.get(task.id);
  const where = iteration === undefined ? '' : ` in iteration ${iteration}`;
  const summary = entries.find(one => one.iteration === iteration)?.summary ?? '';
  const said = summary === '' ? '' : `: ${plain(summary)}`;
  return `- **${plain(task.id)}** ${plain(task.spec.title)} (completed${where}, ${proofWords(task)})${said}`;
}

const statusWords: Readonly<Record<Task['status'], string>> = {
  pending: 'pending',
  active: 'in_progress',
  done: 'completed',
  blocked: 'blocked',
  skipped: 'blocked, left out by a person',
};

function openLine(task: Task): string {
  const attempts = task.attempts === 0 ? '' : `, ${plural(task.attempts, 'attempt')}`;
  const why = (task.blockedBecause ?? task.rejection ?? '').split('\n')[0] ?? '';
  const reason = why === '' ? '' : `: ${plain(why)}`;
  return `- **${plain(task.id)}** ${plain(task.spec.title)} (${statusWords[task.status]}${attempts})${reason}`;
}

function fileLines(entries: readonly StateEntry[]): readonly string[] {
  const files = [...new Set(entries.flatMap(one => one.files_modified))].sort();
  const left = files.length - filesShownMax;
  return [
    ...files.slice(0, filesShownMax).map(path => `- ${pathOf(path)}`),
    ...(left > 0 ? [`- and ${left} more`] : []),
  ];
}

const section = (title: string, lines: readonly string[], none = 'Nothing.'): readonly string[] => [
  '',
  `## ${title}`,
  '',
  ...(lines.length === 0 ? [none] : lines),
];

function resultsMarkdown(state: State, facts: ResultFacts): string {
  const tasks = [...allTasks(state.tasks)];
  const done = tasks.filter(task => task.status === 'done');
  const open = tasks.filter(task => task.status !== 'done');
  const obstacles = facts.obstacles
    .filter(one => !one.resolved)
    .map(({ id, task, message }) => `- **${id}** (${plain(task)}) ${plain(message)}`);
  const { sentence, next } = endingOf(state);
  const outcome =
    open.length === 0
      ? 'All tasks are completed.'
      : `${state.control.ended === undefined ? 'Execution waits' : 'Execution has halted'}: ${done.length} of ${tasks.length} tasks are completed.`;
  const lines = [
    `# Results of ${plain(facts.project)}`,
    '',
    outcome,
    '',
    `Reason: ${plain(sentence)}`,
    ...section(
      'Changes',
      done.map(task => doneLine(task, facts)),
      'No task was completed.',
    ),
    ...section('Files modified', fileLines(facts.entries), 'None that Ralph knows of.'),
    ...section('Remaining', open.map(openLine)),
    ...(obstacles.length === 0 ? [] : section('Obstacles that are not resolved', obstacles)),
    ...section(
      'What to do next',
      next.map(command => `    ${visible(stripControls(command))}`),
    ),
  ];
  return `${lines.join('\n')}\n`;
}
