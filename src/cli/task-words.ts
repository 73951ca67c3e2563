// Task words: what a task waits for, in words and as data, and the line that has a document worked on.
import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import type { Subject } from '../app/task-subject.ts';
import type { Written } from '../app/tasks.ts';
import type { State } from '../core/state.ts';
import { dependentsOf, findTask, levelOf, proofWords, type Task, type TaskTable } from '../core/task.ts';
import { someOf } from '../text/format.ts';
import { shellWord, visible } from '../text/text.ts';
import type { Flags } from './context.ts';

/** The dependencies that keep it from starting. */
function unmetOf(table: TaskTable, task: Task): readonly string[] {
  if (task.status !== 'pending' && task.status !== 'blocked') return [];
  return task.spec.dependsOn.filter(id => findTask(table, id)?.status !== 'done');
}

type Loop = Pick<NonNullable<Subject['loop']>, 'state' | 'isAlive'> | undefined;

/** Unfinished, and no process works on it. */
export const isOrphaned = (loop: Loop): boolean =>
  loop !== undefined && !loop.isAlive && loop.state.control.ended === undefined;

/** Its iteration was cut (a crash, a kill -9): the next run records that. */
export const isCut = ({ status }: Task, loop: Loop): boolean => status === 'active' && isOrphaned(loop);

export const doneWords = (task: Task): string =>
  `${proofWords(task)}${task.closedBy === undefined ? '' : ` by ${task.closedBy}`}`;

/** Why nobody works on it now; '' when somebody does, has, or could at once. */
export function waitWords(table: TaskTable, task: Task, loop: Loop): string {
  const state = loop?.state;
  const live = state?.live.find(one => one.task === task.id);
  if (isCut(task, loop))
    return live === undefined
      ? 'to be checked at the next ralph resume'
      : `iteration ${live.iteration} was cut, not running`;
  if (live !== undefined) return `iteration ${live.iteration}, ${live.performer}`;
  if (state?.claims.open.some(one => one.task === task.id)) return 'being checked';
  if (task.status === 'done') return levelOf(task) === 'proven' || task.verified === undefined ? '' : doneWords(task);
  if (task.status === 'skipped') return '';
  if (task.openQuestion !== undefined) return `waits for your answer to ${task.openQuestion}`;
  if (task.blockedBecause !== undefined) return task.blockedBecause;
  const unmet = unmetOf(table, task);
  if (unmet.length > 0) return `waits for ${someOf(unmet)}`;
  return task.missing === true ? 'gone from the document' : '';
}

/** What becomes of those that wait for a task that is left out. */
export function unreadyWords(state: State, id: string): readonly string[] {
  const left = dependentsOf(state.tasks, id);
  return left.length === 0 ? [] : [`  Not ready without it: ${someOf(left)}. The loop asks when nothing else is left.`];
}

/** One task for programs. */
export function taskJson(table: TaskTable, task: Task): Flags {
  return {
    id: task.id,
    title: task.spec.title,
    status: task.status,
    attempts: task.attempts,
    verified: task.status === 'done' ? (task.verified ?? null) : null,
    level: task.status === 'done' ? task.level : undefined,
    dependsOn: task.spec.dependsOn,
    waitsFor: unmetOf(table, task),
    question: task.openQuestion ?? null,
    blockedBecause: task.blockedBecause ?? null,
  };
}

/** What was written, and the line that takes it back. */
export function undoWords(directory: string, path: string, written: Written): string {
  const word = (of: string): string => shellWord(visible(relative(directory, of)));
  if (written.type === 'replaced')
    return `  Undo: mv ${word(written.kept)} ${word(realpathSync(path))}   # the file that was there`;
  return written.type === 'made' ? `  Undo: rm ${word(path)}` : `  ${word(path)} was the same before: nothing changed.`;
}

/** A project is executed by its name; everything else is run by its file. */
export function runWords(directory: string, path: string): string {
  const file = visible(relative(directory, path));
  const project = /^\.artefacts\/([^/]+)\/tasks\.json$/.exec(file)?.[1];
  if (project !== undefined) return `ralph execute ${project}`;
  return `ralph run ${/[^\w./+-]/.test(file) ? JSON.stringify(file) : file}`;
}
