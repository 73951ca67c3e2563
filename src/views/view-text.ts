// Texts of status.json and report.json: what a task or an iteration says is written out once, and again when it changed.
import type { State } from '../core/state.ts';
import type { Task } from '../core/task.ts';
import type { IterationView, LoopHistory } from './loop.ts';
import type { Metrics } from './metrics.ts';
import { itemOf, reportOf } from './report.ts';
import { iterationStatus, statusOf } from './status.ts';

/** Rows of a list in such a text: several of them may be one piece. */
type Rows = Readonly<Record<string, readonly string[]>>;

const indented = (value: unknown, indent: string): string =>
  JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);
const rowText = (row: unknown): string => `    ${indented(row, '    ')}`;

/** As JSON.stringify(value, null, 2) writes it, with these rows in the place of what the value has. */
function textWith(value: object, rows: Rows): string {
  const members = Object.entries({ ...value }).map(([name, member]) => {
    const list = rows[name]?.filter(row => row !== '');
    if (list === undefined) return member === undefined ? undefined : `  "${name}": ${indented(member, '  ')}`;
    return list.length === 0 ? `  "${name}": []` : `  "${name}": [\n${list.join(',\n')}\n  ]`;
  });
  return `{\n${members.filter(member => member !== undefined).join(',\n')}\n}\n`;
}

export class ViewText {
  /** A table of tasks copies only the chunk in which one changed. */
  private readonly chunks = new WeakMap<readonly Task[], string>();
  private readonly iterations = new WeakMap<IterationView, string>();
  /** How many tasks and iterations were written out so far. */
  written = 0;

  status(state: State, history: LoopHistory, more: object): string {
    const status = { ...statusOf(state, history), ...more };
    return textWith(status, { iterations: history.iterations.map(one => this.iteration(state, one)) });
  }

  report(state: State, history: LoopHistory, metrics: Metrics): string {
    const report = reportOf({ state, history, metrics, items: [] });
    const items = [...state.tasks.chunks.map(chunk => this.chunk(chunk)), ...report.items.map(rowText)];
    const iterations = history.iterations.map(one => this.performed(state, one));
    return textWith(report, { items, iterations });
  }

  private chunk(tasks: readonly Task[]): string {
    const known = this.chunks.get(tasks);
    if (known !== undefined) return known;
    this.written += tasks.length;
    const text = tasks.map(task => rowText(itemOf(task))).join(',\n');
    this.chunks.set(tasks, text);
    return text;
  }

  private iteration(state: State, one: IterationView): string {
    const known = this.iterations.get(one);
    if (known !== undefined) return known;
    this.written += 1;
    const text = rowText(iterationStatus(state.loop.id, one));
    this.iterations.set(one, text);
    return text;
  }

  /** The row of the status with what the report says beyond it. */
  private performed(state: State, one: IterationView): string {
    const { task, performer } = one;
    const row = this.iteration(state, one).slice(0, -'\n    }'.length);
    return `${row},\n      "task": ${JSON.stringify(task)},\n      "performer": ${JSON.stringify(performer)}\n    }`;
  }
}
