// Writes statuses and attempts into a tasks.json by replacing only their literals; an index makes a mark cost its task alone.
import type { TaskStatus } from '../../core/task.ts';
import type { TaskMark } from '../document.ts';
import { scanJson, stringAt } from '../json.ts';
import { type WrittenStatus, writtenStatus } from './tasks-rules.ts';

/** Where each task stands in one text. Treat it as opaque. */
export interface TaskIndex {
  readonly rows: ReadonlyMap<string, number>;
  /** Two numbers per row in document order: where the task's object starts and ends. */
  readonly spans: Int32Array;
}

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A text that is no valid JSON gives an empty index, and so stays as it is. */
export function indexTasks(text: string): TaskIndex {
  const rows = new Map<string, number>();
  const spans: number[] = [];
  let id: string | undefined;
  const fault = scanJson(text, {
    value(path, depth, start, end) {
      if (depth === 3 && path[0] === 'tasks' && path[2] === 'id' && text.startsWith('"', start)) {
        id = stringAt(text, start, end);
      } else if (depth === 2 && path[0] === 'tasks') {
        if (id !== undefined && !rows.has(id)) {
          rows.set(id, spans.length / 2);
          spans.push(start, end);
        }
        id = undefined;
      }
    },
  });
  return fault ? { rows: new Map(), spans: new Int32Array() } : { rows, spans: Int32Array.from(spans) };
}

/** The text with the marks, and its index. The same text comes back when nothing changes. Unknown ids are ignored. */
export function markTasks(
  text: string,
  index: TaskIndex,
  marks: readonly TaskMark[],
): { readonly text: string; readonly index: TaskIndex } {
  const wanted = new Map<number, TaskMark>();
  for (const mark of marks) {
    const row = index.rows.get(mark.id);
    if (row !== undefined) wanted.set(row, mark);
  }
  const splices = [...wanted].flatMap(([row, mark]) => {
    const [start, end] = [index.spans[2 * row]!, index.spans[2 * row + 1]!];
    const task = text.slice(start, end);
    const marked = markedTask(task, mark);
    return marked === task ? [] : [{ start, end, text: marked }];
  });
  if (splices.length === 0) return { text, index };
  splices.sort((one, other) => one.start - other.start);
  return { text: spliced(text, splices), index: { rows: index.rows, spans: shifted(index.spans, splices) } };
}

const statusOf: Readonly<Record<TaskStatus, WrittenStatus>> = {
  pending: 'pending',
  active: 'in_progress',
  done: 'completed',
  blocked: 'blocked',
  skipped: 'blocked',
};

/** What a human left out is blocked for every reader of the seed's format; `skipped` keeps the two apart for us. */
function markedTask(task: string, mark: TaskMark): string {
  const status = mark.status ?? (mark.done ? 'done' : mark.skipped ? 'skipped' : 'pending');
  const isBlocked = status === 'blocked' || status === 'skipped';
  const members = membersOf(task);
  const edit = new TaskEdit(task, members);
  const written = members.get('status');
  const before = written === undefined ? 'pending' : writtenStatus.get(stringAt(task, written.start, written.end));
  if (before !== statusOf[status]) edit.set('status', `"${statusOf[status]}"`);
  if (mark.attempts !== undefined) edit.set('attempts', String(mark.attempts), '0');
  edit.set('blocked', String(isBlocked), 'false');
  edit.set('skipped', String(status === 'skipped'), 'false');
  return edit.text();
}

interface Member {
  readonly keyStart: number;
  readonly start: number;
  readonly end: number;
}

function membersOf(task: string): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  let keyStart = 0;
  scanJson(task, {
    key(_path, depth, offset) {
      if (depth === 1) keyStart = offset;
    },
    value(path, depth, start, end) {
      if (depth === 1) members.set(path[0] as string, { keyStart, start, end });
    },
  });
  return members;
}

class TaskEdit {
  private readonly task: string;
  private readonly members: ReadonlyMap<string, Member>;
  private readonly splices: Splice[] = [];
  private added = '';

  constructor(task: string, members: ReadonlyMap<string, Member>) {
    this.task = task;
    this.members = members;
  }

  /** A key that is missing is added, unless the value is the one that a missing key stands for. */
  set(key: string, literal: string, whenMissing?: string): void {
    const member = this.members.get(key);
    if (member === undefined) {
      if (literal !== whenMissing) this.added += `${this.styled(key)}${literal}`;
    } else if (this.task.slice(member.start, member.end) !== literal) {
      this.splices.push({ start: member.start, end: member.end, text: literal });
    }
  }

  text(): string {
    const at = this.anchor().end;
    if (this.added !== '') this.splices.push({ start: at, end: at, text: this.added });
    this.splices.sort((one, other) => one.start - other.start || one.end - other.end);
    return spliced(this.task, this.splices);
  }

  /** New keys stand behind the status, or behind the id where there is no status. */
  private anchor(): Member {
    return this.members.get('status') ?? this.members.get('id')!;
  }

  /** Separator, key and colon as the anchor has them. */
  private styled(key: string): string {
    const { keyStart, start, end } = this.anchor();
    const colon = this.task.slice(this.task.lastIndexOf('"', start - 1) + 1, start);
    const before = /[\s,]*$/.exec(this.task.slice(Math.max(0, keyStart - styleCharsMax), keyStart))![0];
    // The first member has no comma before it; the one after it shows the style.
    const separator = before.includes(',') ? before : /^[\s,]*/.exec(this.task.slice(end, end + styleCharsMax))![0];
    return `${separator.includes(',') ? separator : ', '}"${key}"${colon}`;
  }
}

const styleCharsMax = 1000; // more space than this between two members is no style

function spliced(text: string, splices: readonly Splice[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const splice of splices) {
    pieces.push(text.slice(at, splice.start), splice.text);
    at = splice.end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

/** Tasks do not overlap and stand in order, so that each change moves every later bound, and its own end. */
function shifted(spans: Int32Array, splices: readonly Splice[]): Int32Array {
  const moved = spans.slice();
  let at = 0;
  let shift = 0;
  for (let bound = 0; bound < spans.length; bound++) {
    while (at < splices.length && splices[at]!.end <= spans[bound]!) {
      const { start, end, text } = splices[at]!;
      shift += text.length - (end - start);
      at++;
    }
    moved[bound] = spans[bound]! + shift;
  }
  return moved;
}
