// The door for programs: one function that runs a loop of any mode, loaded when it is called.

import type { Format } from '../../documents/document.ts';
import type { ModeName } from '../../modes/rules.ts';
import type { CheckpointRecord } from '../../views/checkpoint-record.ts';
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

/** A mode may read documents of several kinds, told apart by their names. */
const kinds: { readonly [Name in ModeName]?: readonly string[] } = {
  prd: ['PRD.json', 'tasks.yaml'],
  project: ['tasks.json', 'spec.md'],
};

/** How the documents of a mode are read and marked, without any file: `parse(mark(text, marks)) = apply(parse(text), marks)`. */
export async function formatsOf(mode: ModeName): Promise<readonly Format[]> {
  const { openMode } = await import('../../modes/registry.ts');
  const modes = await Promise.all((kinds[mode] ?? ['']).map(name => openMode(mode, name)));
  return modes.flatMap(one => one.formats);
}
