// The document as the simulated world has it: agents may edit it behind our back.
import type { TaskSpec } from '../../src/core/task.ts';
import type { Loaded, Saved, TaskSource } from '../../src/documents/document.ts';
import type { Random } from './random.ts';

export class SimulatedDocument implements TaskSource {
  tasks: readonly TaskSpec[];
  /** How often a save fails, by which chances. */
  unwritable: { readonly chances: Random; readonly probability: number } | undefined;
  private added = 0;
  private version = 1;
  private seen = 0;

  constructor(tasks: readonly TaskSpec[]) {
    this.tasks = tasks;
  }

  /** A new process has read nothing yet. */
  restart(): void {
    this.seen = 0;
  }

  private get hash(): string {
    return `v${this.version}`;
  }

  async load(): Promise<Loaded> {
    if (this.seen === this.version) return { type: 'unchanged' };
    this.seen = this.version;
    return {
      type: 'loaded',
      document: { project: 'sim', goal: 'sim', tasks: this.tasks, notices: [] },
      hash: this.hash,
    };
  }

  async save(marks: readonly { id: string; done: boolean; skipped: boolean }[]): Promise<Saved> {
    if (this.unwritable?.chances.is(this.unwritable.probability)) {
      return { type: 'failed', problems: [{ message: 'it cannot be written' }] };
    }
    const known = this.seen === this.version;
    this.tasks = this.tasks.map(task => {
      const mark = marks.find(one => one.id === task.id);
      return mark === undefined ? task : { ...task, done: mark.done, skipped: mark.skipped };
    });
    this.version += 1;
    if (known) this.seen = this.version;
    return { type: 'saved', hash: this.hash };
  }

  async instructions(): Promise<string> {
    return 'work';
  }

  /** A person adds a story, rewords one, or flips a status. */
  meddle(chances: Random): void {
    const one = chances.pick(this.tasks);
    const what = chances.whole(1, 3);
    if (what === 1 && this.added < 3) {
      this.added += 1;
      const facts = { title: 'new', description: 'do it', criteria: ['done'], dependsOn: [], skipped: false };
      this.tasks = [...this.tasks, { id: `N${this.added}`, done: chances.is(0.2), ...facts }];
    } else {
      const edited =
        what === 2
          ? { ...one, title: `title ${chances.whole(1, 99)}` }
          : { ...one, done: false, skipped: !one.skipped };
      this.tasks = this.tasks.map(task => (task === one ? edited : task));
    }
    this.version += 1;
  }

  /** An agent calls its task done, and sometimes another one too. */
  edit(task: string, chances: Random): void {
    const other = chances.is(0.3) ? chances.pick(this.tasks).id : task;
    this.tasks = this.tasks.map(one => (one.id === task || one.id === other ? { ...one, done: true } : one));
    this.version += 1;
  }
}

/** A backlog whose dependencies only point backwards, so that it has no cycle. */
export function backlog(chances: Random): readonly TaskSpec[] {
  const count = chances.whole(1, 6);
  return Array.from({ length: count }, (_, at) => ({
    id: `T${at + 1}`,
    title: `task ${at + 1}`,
    description: 'do it',
    criteria: ['done'],
    dependsOn: at > 0 && chances.is(0.4) ? [`T${chances.whole(1, at)}`] : [],
    done: chances.is(0.05),
    skipped: false,
  }));
}
