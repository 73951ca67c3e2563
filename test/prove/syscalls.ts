// Crash points enumerated rather than sampled: SIGKILL at the k-th call of each system call that makes a run durable.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Undisturbed } from './crashes.ts';
import { makeStage, type Stage } from './stage.ts';
import { checkFinished, checkNobodyLeft, LawBroken } from './verdict.ts';

/** Calls of the main thread, where SQLite and the spool write; `threads`: also of those that write documents and views. */
export interface CrashPoint {
  readonly call: string;
  readonly threads: boolean;
  /** 1 for the first call; with `threads` each thread counts for itself. */
  readonly count: number;
  /** Only calls on this file of RALPH_HOME. */
  readonly file?: string;
}

export function tracing(stage: Stage, { call, threads, count, file }: CrashPoint): readonly string[] {
  const only = file === undefined ? [] : ['-P', join(stage.home, file)];
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=${count}`];
  return ['strace', ...(threads ? ['-f'] : []), '-qq', '-o', '/dev/null', ...only, ...inject];
}

const calls: readonly Omit<CrashPoint, 'count'>[] = [
  { call: 'pwrite64', threads: false },
  { call: 'fsync', threads: false },
  { call: 'fdatasync', threads: false },
  { call: 'ftruncate', threads: false },
  { call: 'link', threads: false },
  { call: 'unlink', threads: false },
  { call: 'rename', threads: false },
  { call: 'rename', threads: true },
  { call: 'fsync', threads: true },
];

/** Every point of one undisturbed run; threads are few and take turns, so three calls of each cover them. */
export async function crashPoints(stories: number): Promise<readonly CrashPoint[]> {
  const stage = makeStage(stories);
  try {
    const log = join(stage.folder, 'trace');
    const names = [...new Set(calls.map(({ call }) => call))].join(',');
    const before = ['strace', '-qq', '-e', `trace=${names}`, '-e', 'signal=none', '-o', log];
    const { code, errors } = await stage.run('prd-works', { before }).ended;
    if (code !== 0) throw new LawBroken(`the traced run ended with ${code}: ${errors}`);
    const lines = readFileSync(log, 'latin1').split('\n');
    return calls.flatMap(one => {
      const count = one.threads ? 3 : lines.filter(line => line.startsWith(`${one.call}(`)).length;
      return Array.from({ length: count }, (_, at) => ({ ...one, count: at + 1 }));
    });
  } finally {
    stage.remove();
  }
}

/** True when the kill hit; the next run must reach the same end either way. */
export async function crashAt(point: CrashPoint, like: Undisturbed): Promise<boolean> {
  const stage = makeStage(like.stories);
  try {
    const { signal } = await stage.run('prd-works', { before: tracing(stage, point) }).ended;
    await checkNobodyLeft(stage, await stage.ledger());
    const { code, errors } = await stage.run().ended;
    if (code !== 0) throw new LawBroken(`the run after the crash ended with ${code}: ${errors}`);
    await checkFinished(stage, like.stories, like.documentText);
    return signal === 'SIGKILL';
  } finally {
    stage.remove();
  }
}
