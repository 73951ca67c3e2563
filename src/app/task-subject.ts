// Task subjects: whose tasks are meant, a loop's as its ledger has them, or those of a document that no loop works on yet.
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { State } from '../core/state.ts';
import { addTasks, allTasks, emptyTable, findTask, type Task, type TaskSpec, type TaskTable } from '../core/task.ts';
import { identify, knownTasks } from '../core/task-identity.ts';
import { lenient } from '../documents/document.ts';
import type { Ledger, LoopRow } from '../ledger/ledger.ts';
import { findDocument } from '../modes/find-document.ts';
import { openMode } from '../modes/registry.ts';
import { UsageError } from '../text/errors.ts';
import { nearest } from '../text/similarity.ts';
import { visible } from '../text/text.ts';
import { stateOf } from './app.ts';
import { readDocument } from './documents.ts';
import { findLoop, isRunning } from './loops/find.ts';
import { readTaskFile } from './tasks.ts';

/** Where tasks are looked for. */
export interface TaskPlace {
  readonly directory: string;
  readonly home: string;
  /** Undefined before the first loop. */
  readonly ledger: Ledger | undefined;
}

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

/** What was written into the document since the loop last read it; a broken document is not ours to complain about. */
async function unreadTasks({ document, directory }: LoopRow, state: State): Promise<readonly TaskSpec[]> {
  const mode = await openMode(state.settings.mode);
  if (mode.hasBacklog !== true) return [];
  const parsed = await readDocument({ mode, path: document, directory, options: lenient });
  if (!parsed.ok) return [];
  const { specs } = identify(knownTasks(state.tasks), parsed.document.tasks);
  return specs.filter(task => findTask(state.tasks, task.id) === undefined);
}

export async function ofLoop(ledger: Ledger, row: LoopRow): Promise<Subject & Required<Pick<Subject, 'loop'>>> {
  const { state } = await stateOf(ledger, row.loop);
  const { tasks: table } = state;
  const { goal } = state.loop;
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

async function named({ directory, ledger }: TaskPlace, word: string): Promise<Subject> {
  if (word.includes('\0')) throw new UsageError('The name holds a NUL character.');
  const path = resolve(directory, word);
  if (isFile(path)) {
    const real = realpathSync(path);
    const [row] = (await ledger?.store.loops({ document: real })) ?? [];
    return ledger === undefined || row === undefined ? ofFile(real) : ofLoop(ledger, row);
  }
  const missing = `There is no file ${JSON.stringify(visible(word.slice(0, 200)))}`;
  if (ledger === undefined) throw new UsageError(`${missing}, and no loop yet.`, 'Name a file.');
  const isPath = /[/\\]|\.(?:json|md|ya?ml)$/i.test(word);
  const row = await findLoop(ledger, word, directory, false).catch((error: unknown) => {
    if (!isPath || !(error instanceof UsageError)) throw error;
    throw new UsageError(`${missing}, and no loop is called so.`, 'Name another file; all loops: ralph loops list');
  });
  return ofLoop(ledger, row);
}

/** The newest loop of this folder, or undefined. */
async function loopHere({ directory, ledger }: TaskPlace): Promise<LoopRow | undefined> {
  try {
    return ledger === undefined ? undefined : await findLoop(ledger, undefined, directory, true);
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

/** The document that `ralph run` alone would take. */
async function documentHere({ directory, home }: TaskPlace): Promise<string> {
  return (await findDocument({ directory, home, flags: { dryRun: true } })).path;
}

/** Where a task is added: the file that was named, else the list of the loop that works here, else the one that `ralph run` would take. */
export async function targetOf(place: TaskPlace, file: string | undefined): Promise<string> {
  if (file !== undefined) {
    if (file.includes('\0')) throw new UsageError('The file name holds a NUL character.');
    try {
      return realpathSync(resolve(place.directory, file));
    } catch {
      throw new UsageError(
        `There is no file ${JSON.stringify(visible(file.slice(0, 200)))}.`,
        'Name one that is there: --file PRD.json',
      );
    }
  }
  const row = await loopHere(place);
  if (place.ledger === undefined || row === undefined || row.reason !== null) return documentHere(place);
  const { mode } = (await stateOf(place.ledger, row.loop)).state.settings;
  const { hasBacklog = false } = await openMode(mode);
  return hasBacklog ? row.document : documentHere(place);
}

/** `word`: a file, or a loop's name; without one the newest loop of this folder, else its document. */
export async function subjectOf(place: TaskPlace, word: string | undefined): Promise<Subject> {
  if (word !== undefined) return named(place, word);
  const row = await loopHere(place);
  return place.ledger === undefined || row === undefined
    ? ofFile(await documentHere(place))
    : ofLoop(place.ledger, row);
}

/** Unknown ids are refused with the one that was probably meant. */
export function taskIn(subject: Subject, id: string): Task {
  const task = findTask(subject.table, id);
  if (task !== undefined) return task;
  if (subject.unread.some(one => one.id === id)) {
    const isOver = subject.loop?.state.control.ended !== undefined;
    throw new UsageError(
      `${id} stands in ${visible(basename(subject.path))}, but loop ${subject.loop?.row.name ?? ''} ${isOver ? 'ended before it was written' : 'has not read it yet'}.`,
      isOver
        ? 'A new loop takes it up; until then take it out of the file instead.'
        : 'It does before its next iteration; until then take it out of the file instead.',
    );
  }
  const meant = nearest(
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
