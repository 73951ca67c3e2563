// Whose tasks are meant: a loop's, as its ledger has them, or those of a document that no loop works on yet.
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, relative, resolve } from 'node:path';
import { stateOf } from '../app/app.ts';
import { findLoop, isRunning } from '../app/loops.ts';
import { findDocument, isInterview, readDocument } from '../app/modes.ts';
import { nearestId, readTaskFile, visible } from '../app/tasks.ts';
import type { State } from '../core/state.ts';
import { addTasks, allTasks, emptyTable, findTask, type Task, type TaskSpec, type TaskTable } from '../core/task.ts';
import { identify, knownTasks } from '../core/task-identity.ts';
import type { Ledger, LoopRow } from '../ledger/ledger.ts';
import { UsageError } from '../text/errors.ts';
import { someOf } from '../text/format.ts';
import type { Context, Flags } from './context.ts';

export interface Subject {
  readonly path: string;
  readonly project: string;
  readonly goal: string;
  readonly table: TaskTable;
  readonly loop?: {
    readonly ledger: Ledger;
    readonly row: LoopRow;
    readonly state: State;
    /** A process works on it. */
    readonly isAlive: boolean;
  };
  /** In the document, but the loop has not read them yet. */
  readonly unread: readonly TaskSpec[];
  readonly notices: readonly string[];
}

const lenient = { allowEmptyCriteria: true, acceptTicked: true } as const;

/** What was written into the document since the loop last read it; a broken document is not ours to complain about. */
async function unreadTasks({ document, directory }: LoopRow, state: State): Promise<readonly TaskSpec[]> {
  const { mode } = state.settings;
  if ((mode !== 'prd' && mode !== 'project') || isInterview(mode, document)) return [];
  const parsed = await readDocument({ mode, path: document, directory, options: lenient });
  if (!parsed.ok) return [];
  const { specs } = identify(knownTasks(state.tasks), parsed.document.tasks);
  return specs.filter(task => findTask(state.tasks, task.id) === undefined);
}

export async function ofLoop(ledger: Ledger, row: LoopRow): Promise<Subject & Required<Pick<Subject, 'loop'>>> {
  const { state } = await stateOf(ledger, row.loop);
  const { goal, tasks: table } = state;
  const unread = await unreadTasks(row, state);
  const isAlive = await isRunning(ledger, row.loop);
  const loop = { ledger, row, state, isAlive };
  return { path: row.document, project: row.name, goal, table, loop, unread, notices: [] };
}

async function ofFile(path: string): Promise<Subject> {
  const { document } = await readTaskFile(path);
  const { project, goal, tasks, notices } = document;
  return { path, project, goal, table: addTasks(emptyTable, tasks), unread: [], notices };
}

const isFile = (path: string): boolean => existsSync(path) && !statSync(path).isDirectory();

async function named(context: Context, word: string): Promise<Subject> {
  if (word.includes('\0')) throw new UsageError('The name holds a NUL character.');
  const path = resolve(context.directory, word);
  const ledger = context.hasLedger() ? await context.ledger() : undefined;
  if (isFile(path)) {
    const real = realpathSync(path);
    const [row] = (await ledger?.store.loops({ document: real })) ?? [];
    return ledger === undefined || row === undefined ? ofFile(real) : ofLoop(ledger, row);
  }
  const missing = `There is no file ${JSON.stringify(visible(word.slice(0, 200)))}`;
  if (ledger === undefined) throw new UsageError(`${missing}, and no loop yet.`, 'Name a file.');
  const isPath = /[/\\]|\.(?:json|md|ya?ml)$/i.test(word);
  const row = await findLoop(ledger, word, context.directory, false).catch((error: unknown) => {
    if (!isPath || !(error instanceof UsageError)) throw error;
    throw new UsageError(`${missing}, and no loop is called so.`, 'Name another file; all loops: ralph loops list');
  });
  return ofLoop(ledger, row);
}

/** The newest loop of this folder, or undefined. */
export async function loopHere(context: Context): Promise<{ ledger: Ledger; row: LoopRow } | undefined> {
  if (!context.hasLedger()) return undefined;
  const ledger = await context.ledger();
  try {
    return { ledger, row: await findLoop(ledger, undefined, context.directory, true) };
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

/** The document that `ralph run` alone would take. */
export async function documentHere(context: Context): Promise<string> {
  const { directory } = context;
  const sought = { directory, home: context.home(), given: undefined, mode: undefined, isDry: true };
  return (await findDocument(sought)).path;
}

/** `word`: a file, or a loop's name; without one the newest loop of this folder, else its document. */
export async function subjectOf(context: Context, word: string | undefined): Promise<Subject> {
  if (word !== undefined) return named(context, word);
  const here = await loopHere(context);
  return here === undefined ? ofFile(await documentHere(context)) : ofLoop(here.ledger, here.row);
}

/** Unknown ids are refused with the one that was probably meant. */
export function taskIn(subject: Subject, id: string): Task {
  const task = findTask(subject.table, id);
  if (task !== undefined) return task;
  if (subject.unread.some(one => one.id === id)) {
    const isOver = subject.loop?.state.ended !== undefined;
    throw new UsageError(
      `${id} stands in ${visible(basename(subject.path))}, but loop ${subject.loop?.row.name ?? ''} ${isOver ? 'ended before it was written' : 'has not read it yet'}.`,
      isOver
        ? 'A new loop takes it up; until then take it out of the file instead.'
        : 'It does before its next iteration; until then take it out of the file instead.',
    );
  }
  const meant = nearestId(
    id,
    [...allTasks(subject.table)].map(one => one.id),
  );
  const where = subject.loop === undefined ? visible(subject.path) : `Loop ${subject.loop.row.name}`;
  const list = `ralph task list${subject.loop === undefined ? '' : ` ${subject.loop.row.name}`}`;
  throw new UsageError(
    `${where} has no task ${JSON.stringify(visible(id.slice(0, 80)))}.`,
    meant === undefined ? `See them: ${list}` : `Did you mean ${meant}? See them all: ${list}`,
  );
}

// What a task waits for, in words and as data: the same in the list and in the account of one task.

/** The dependencies that keep it from starting. */
function unmetOf(table: TaskTable, task: Task): readonly string[] {
  if (task.status !== 'pending' && task.status !== 'blocked') return [];
  return task.dependsOn.filter(id => findTask(table, id)?.status !== 'done');
}

type Loop = { readonly state: State; readonly isAlive: boolean } | undefined;

/** Unfinished, and no process works on it. */
export const isOrphaned = (loop: Loop): boolean =>
  loop !== undefined && !loop.isAlive && loop.state.ended === undefined;

/** Its iteration was cut (a crash, a kill -9): the next run records that. */
export const isCut = ({ status }: Task, loop: Loop): boolean => status === 'active' && isOrphaned(loop);

/** Why nobody works on it now; '' when somebody does, has, or could at once. */
export function waitWords(table: TaskTable, task: Task, loop: Loop): string {
  const state = loop?.state;
  const live = state?.live.find(one => one.task === task.id);
  if (isCut(task, loop))
    return `${live === undefined ? 'its check' : `iteration ${live.iteration}`} was cut, not running`;
  if (live !== undefined) return `iteration ${live.iteration}, ${live.performer}`;
  if (state?.claims.some(one => one.task === task.id)) return 'being checked';
  if (task.status === 'done') return task.verified === false ? 'unverified' : '';
  if (task.status === 'skipped') return '';
  if (task.asked !== undefined) return `waits for your answer to ${task.asked}`;
  if (task.parked !== undefined) return task.parked;
  const unmet = unmetOf(table, task);
  if (unmet.length > 0) return `waits for ${someOf(unmet)}`;
  return task.absent === true ? 'gone from the document' : '';
}

/** One task for programs. */
export function taskJson(table: TaskTable, task: Task): Flags {
  return {
    id: task.id,
    title: task.title,
    status: task.status,
    attempts: task.attempts,
    verified: task.verified ?? null,
    depends_on: task.dependsOn,
    waits_for: unmetOf(table, task),
    question: task.asked ?? null,
    parked: task.parked ?? null,
  };
}

// How a person has a document worked on, as a line that can be typed in this folder.

/** A project is executed by its name; everything else is run by its file. */
export function runWords(directory: string, path: string): string {
  const file = visible(relative(directory, path));
  const project = /^\.artefacts\/([^/]+)\/tasks\.json$/.exec(file)?.[1];
  if (project !== undefined) return `ralph execute ${project}`;
  return `ralph run ${/[^\w./+-]/.test(file) ? JSON.stringify(file) : file}`;
}
