// The door for programs: one function that runs a loop of any mode, loaded when it is called.

import type { TaskSpec } from '../../core/task.ts';
import type { Format } from '../../documents/document.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ModeWord } from '../../modes/registry.ts';
import type { CheckpointRecord } from '../../views/checkpoint-record.ts';
import type { Loops } from '../loops/loops.ts';
import type { LoopOptions } from './options.ts';
import type { LoopPlace, LoopResult } from './result.ts';

/**
 * Runs a loop to its end, its question or your signal. The same goal or document again goes on with the same loop, its
 * counters kept. Throws only a UsageError.
 */
export async function runLoop(options: LoopOptions): Promise<LoopResult> {
  const run = await import('./run.ts');
  return run.runLoop(options);
}

export async function createCheckpoint(place: LoopPlace, label?: string): Promise<CheckpointRecord | undefined> {
  const checkpoints = await import('./result.ts');
  return checkpoints.createCheckpoint(place, label);
}

/** The newest whose files git still holds and whose record is what the ledger says. */
export async function latestCheckpoint(place: LoopPlace): Promise<CheckpointRecord | undefined> {
  const checkpoints = await import('./result.ts');
  return checkpoints.latestCheckpoint(place);
}

export interface LoopsPlace {
  /** RALPH_HOME. */
  readonly home: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Only to look: then a home without a loop is a UsageError, and `send` fails. */
  readonly readOnly?: boolean;
  /** Your own ledger in place of the database in `home`; you close it. */
  readonly ledger?: Ledger;
}

/** The door to look at the loops of a home and to steer them. */
export async function openLoops({ home, environment: env = {}, readOnly, ledger }: LoopsPlace): Promise<Loops> {
  const { LedgerLoops } = await import('../loops/loops.ts');
  const { openLedger } = await import('../app.ts');
  const warn = (): void => {};
  const opened = ledger ?? (await openLedger({ home, env, warn, readOnly, mailToOlder: true }));
  return new LedgerLoops({ ledger: opened, home, env, warn, isBorrowed: ledger !== undefined });
}

export interface TaskToAdd {
  readonly title: string;
  readonly description?: string;
  readonly criteria?: readonly string[];
  /** Ids of tasks that come first. */
  readonly dependsOn?: readonly string[];
  /** Unless told, the next one of the document's own kind. */
  readonly id?: string;
}

/** The door to edit documents. */
export interface Documents {
  /** One task more, in the document's own format; everything else in it stays as it was. A loop that works on it takes it up by itself. */
  add(document: string, task: TaskToAdd): Promise<TaskSpec>;
}

export const documents: Documents = {
  async add(document, { title, description = '', criteria = [], dependsOn = [], id }) {
    const { addToFile, checkedTask } = await import('../tasks.ts');
    const task = await checkedTask({ title, criteria, dependsOn }, async () => description);
    return addToFile(document, task, { id, mayLackCriteria: false });
  },
};

/** How the documents of a mode are read and marked, without any file: `parse(mark(text, marks)) = apply(parse(text), marks)`. */
export async function formatsOf(mode: ModeWord): Promise<readonly Format[]> {
  const { openMode } = await import('../../modes/registry.ts');
  return (await openMode(mode)).formats;
}
