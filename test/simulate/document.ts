// The document as the simulated world has it: agents may edit it behind our back.
import type { TaskSpec } from '../../src/core/task.ts';
import type { Loaded, Saved, TaskSource } from '../../src/ports/source.ts';
import type { Random } from './random.ts';

export class SimulatedDocument implements TaskSource {
  tasks: readonly TaskSpec[];
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
