// The files of project mode beside its tasks.json: state.json, obstacles.json and results.md, all made from the ledger.
import type { Event, EventOf } from '../../core/event.ts';
import { waitingFor } from '../../core/next.ts';
import { type Obstacle, obstaclesAfter, obstaclesClosed, obstaclesMetIn } from '../../core/obstacles.ts';
import type { State } from '../../core/state.ts';
import type { ModeView, ViewFile } from '../mode-view.ts';
import { type StateEntry, summaryOf, unsettledIterations } from './project-entries.ts';
import { resultsMarkdown } from './project-results.ts';

const hidden = /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** The same values; what a reader could not see is written as an escape. */
const jsonText = (value: unknown): string =>
  `${JSON.stringify(value, null, 2).replace(hidden, character =>
    [...Array(character.length).keys()]
      .map(at => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )}\n`;

/** Grows with the iterations, and with nothing else. */
export class ProjectView implements ModeView {
  private readonly folder: string;
  private readonly project: string | undefined;
  private readonly entries: StateEntry[] = [];
  private readonly places = new Map<number, number>();
  private readonly completedIn = new Map<string, number>();
  /** As the state has them, bounded. */
  private recent: readonly Obstacle[] = [];
  /** All of them: obstacles.json forgets none. */
  private readonly obstacles = new Map<string, Obstacle>();
  /** It was over, or stood still, before: a results.md of this loop may lie there. */
  private stood = false;
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
    else if (['loop.ended', 'loop.paused', 'escalation.raised'].includes(event.type)) this.stood = true;
  }

  private ended(event: EventOf<'iteration.ended'>): void {
    this.keep(obstaclesAfter(this.recent, event));
    this.places.set(event.iteration, this.entries.length);
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
    this.keep(obstaclesClosed(this.recent, task, iteration));
    for (const [id, one] of this.obstacles) {
      const isOver = one.task === task && one.iteration !== iteration && !one.resolved;
      if (isOver) this.obstacles.set(id, { ...one, resolved: true });
    }
    this.completedIn.set(task, iteration);
    this.change(iteration, entry => (entry.task_id === task ? { ...entry, status: 'completed' } : entry));
  }

  /** Only what the iteration itself changed: other checkpoints are made by people, or around a restore; tasks.json is ours. */
  private saved({ iteration, task, files = [] }: EventOf<'checkpoint.made'>, { directory, document }: State): void {
    const theirs = files.filter(path => `${directory}/${path}` !== document);
    this.change(iteration, entry =>
      entry.task_id === task
        ? { ...entry, files_modified: [...new Set([...entry.files_modified, ...theirs])].sort() }
        : entry,
    );
  }

  private keep(recent: readonly Obstacle[]): void {
    if (recent === this.recent) return;
    for (const one of recent) this.obstacles.set(one.id, one);
    this.recent = recent;
  }

  private change(iteration: number, to: (entry: StateEntry) => StateEntry): void {
    const place = this.places.get(iteration);
    const entry = place === undefined ? undefined : this.entries[place];
    if (place !== undefined && entry !== undefined) this.entries[place] = to(entry);
  }

  /** Entries are only ever appended: one whose proof is still open waits, and those after it with it. */
  private shown(state: State): readonly StateEntry[] {
    const open = unsettledIterations(state);
    const first = open.size === 0 ? -1 : this.entries.findIndex(({ iteration }) => open.has(iteration));
    return first < 0 ? this.entries : this.entries.slice(0, first);
  }

  private results(state: State): readonly ViewFile[] {
    const path = `${this.folder}/results.md`;
    const waits = state.paused !== undefined || waitingFor(state, this.at)?.what === 'a human';
    const stands = state.ended !== undefined || (waits && state.live.length === 0);
    if (!stands) return this.stood ? [{ path, text: null }] : [];
    const project = this.project ?? state.name;
    const { entries, completedIn } = this;
    const facts = { project, entries, obstacles: [...this.obstacles.values()], completedIn };
    return [{ path, text: resultsMarkdown(state, facts) }];
  }

  files(state: State): readonly ViewFile[] {
    const obstacles = [...this.obstacles.values()].map(({ id, task, message, resolved, iteration }) => ({
      id,
      task_id: task,
      message,
      resolved,
      iteration,
    }));
    return [
      { path: `${this.folder}/state.json`, text: jsonText(this.shown(state)) },
      { path: `${this.folder}/obstacles.json`, text: jsonText({ obstacles }) },
      ...this.results(state),
    ];
  }
}
