// Measures a long life: a million events folded from the ledger, what the state then weighs, and the resume from a snapshot.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Event } from '../../src/core/event.ts';
import { initialState, noUsage, type State } from '../../src/core/state.ts';
import { replay, saveSnapshot, snapshotEvery } from '../../src/engine/replay.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { evolve } from '../../src/modes/evolve.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import type { BenchRow } from './row.ts';

const foldLimit = 3;
const memoryLimit = 1.5;
const resumeLimit = { full: 0.1, quick: 0.25 }; // unpacking the snapshot costs its tasks, not its events
const taskCount = 10_000;
const version = 'bench';
const loop = 'long';
const taskOf = (iteration: number): string => `US-${iteration % taskCount}`;

function firstEvents(): readonly Event[] {
  const tasks = Array.from({ length: taskCount }, (_, at) => ({
    id: `US-${at}`,
    title: `Story ${at}`,
    description: 'A story.',
    criteria: ['it is there'],
    dependsOn: [],
    done: false,
    skipped: false,
  }));
  const settings = defaultSettings('prd');
  const place = { document: 'PRD.json', directory: '.', projectId: '', taskId: '' };
  return [
    { type: 'loop.started', at: 1, loop, name: loop, goal: 'Go on.', ...place, settings, by: 'bench' },
    { type: 'tasks.loaded', at: 1, tasks, hash: 'h', because: `${taskCount} tasks read` },
  ];
}

/** What an ordinary iteration without success leaves; every seventh fails. */
function eventsOfIteration(iteration: number): readonly Event[] {
  const at = 1_000 * iteration;
  const task = taskOf(iteration);
  const common = { iteration, task, performer: 'command' };
  const excerpt = `Looked at ${task} for the ${iteration}th time, changed three files, and two tests are still red.`;
  const failure = { kind: 'process' as const, detail: `exit 1 in attempt ${iteration}` };
  const failed = iteration % 7 === 0;
  const because = 'no claim';
  const usage = { ...noUsage, inputTokens: 1_200 + (iteration % 9), outputTokens: 300, costUsdMicros: 1 };
  return [
    { type: 'iteration.started', at, ...common, holder: 'bench', attempt: 1, because: 'the next ready task' },
    { type: 'iteration.spawned', at: at + 3, iteration, pid: 4_000 + iteration, startTime: String(at), host: 'bench' },
    { type: 'usage.recorded', at: at + 700, ...common, usage },
    {
      type: 'iteration.ended',
      at: at + 900,
      ...common,
      outcome: failed ? 'failed' : 'succeeded',
      durationMs: 900,
      because: 'the agent ended after 0.9 s',
      excerpt,
      echo: excerpt,
      ...(failed ? { failure } : {}),
    },
    { type: 'signal.read', at: at + 900, iteration, task, signal: 'promise', text: 'DONE', accepted: false, because },
  ];
}

async function fill(ledger: Ledger, count: number): Promise<void> {
  const holder = { id: 'bench', pid: process.pid, startTime: '1', host: 'bench', boot: 'bench', version };
  const leased = await ledger.store.lease(loop, holder);
  if (!leased.ok) throw new Error('the lease of a new loop is free');
  let seq = 0;
  let batch = [...firstEvents()];
  for (let iteration = 1; seq < count; iteration += 1) {
    batch.push(...eventsOfIteration(iteration));
    if (batch.length < 5_000 && seq + batch.length < count) continue;
    const events = batch.slice(0, count - seq);
    const appended = await ledger.store.append(loop, seq, events, { token: leased.lease.token });
    if (!appended.ok) throw new Error(appended.failure.detail);
    seq = appended.seq;
    batch = [];
  }
  await ledger.store.release(leased.lease);
}

/** The least that any reader does: page through the same rows and parse them. */
function parseAll(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const page = database.prepare('SELECT seq, body FROM events WHERE loop = ? AND seq > ? ORDER BY seq LIMIT 1000');
  let seq = 0;
  for (let rows = page.all(loop, seq); rows.length > 0; rows = page.all(loop, seq)) {
    for (const row of rows) {
      JSON.parse(String(row['body']));
      seq = Number(row['seq']);
    }
  }
  database.close();
  return seq;
}

async function timed<Result>(work: () => Promise<Result> | Result): Promise<{ ms: number; result: Result }> {
  const begin = performance.now();
  const result = await work();
  return { ms: performance.now() - begin, result };
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

interface Folded {
  readonly state: State;
  readonly seq: number;
  readonly hash: string;
}

/** In a function of its own, so that nothing but the state lives on when the heap is weighed. */
async function foldTo(ledger: Ledger, from: Folded, until: number): Promise<Folded> {
  let { state, seq, hash } = from;
  while (seq < until) {
    for (const recorded of await ledger.store.read(loop, seq, Math.min(1_000, until - seq))) {
      state = evolve(state, recorded.event);
      ({ seq, hash } = recorded);
    }
  }
  return { state, seq, hash };
}

export async function benchFold(quick: boolean): Promise<readonly BenchRow[]> {
  const count = quick ? 100_000 : 1_000_000;
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-fold-'));
  const path = join(folder, 'ralph.db');
  try {
    const options = { path, version, boot: 'bench', isAlive: () => true, now: Date.now, warn: () => {} };
    const opened = await openSqliteLedger(options);
    if (!opened.ok) throw new Error(opened.failure.detail);
    const { ledger } = opened;
    await fill(ledger, count);
    const floors: number[] = [];
    const folds: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      floors.push((await timed(() => parseAll(path))).ms);
      const full = await timed(() => replay(ledger, loop));
      if (full.result.folded !== count) throw new Error(`${full.result.folded} events were folded`);
      folds.push(full.ms);
    }
    const emptyBytes = heapBytes();
    let kept = await foldTo(ledger, { state: initialState, seq: 0, hash: '' }, count / 10);
    const earlyBytes = heapBytes() - emptyBytes;
    kept = await foldTo(ledger, kept, count - snapshotEvery + 1);
    const lateBytes = heapBytes() - emptyBytes;
    await saveSnapshot(ledger, loop, kept);
    const resumed = await timed(() => replay(ledger, loop));
    if (resumed.result.folded !== snapshotEvery - 1) throw new Error(`${resumed.result.folded} events were folded`);
    await ledger.store.close();
    const [floorMs, foldMs] = [Math.min(...floors), Math.min(...folds)];
    const speed = Math.round(count / foldMs) * 1_000;
    const mb = (bytes: number): string => `${(bytes / 1_000_000).toFixed(2)} MB`;
    const events = count.toLocaleString('en');
    return [
      {
        name: `fold of ${events} events from SQLite / paging and JSON.parse of the same rows`,
        ratio: foldMs / floorMs,
        limit: foldLimit,
        detail: `${(foldMs / 1_000).toFixed(2)} s (${speed.toLocaleString('en')} events/s), floor ${(floorMs / 1_000).toFixed(2)} s; best of ${folds.length} in turn`,
      },
      {
        name: `fold: heap that the state keeps after ${events} events / after a tenth of them`,
        ratio: Math.max(0, lateBytes) / Math.max(1, earlyBytes), // less than before is noise of the collector
        limit: memoryLimit,
        detail: `${mb(lateBytes)} to ${mb(earlyBytes)} with ${taskCount.toLocaleString('en')} tasks`,
      },
      {
        name: `fold: resume of that loop from its snapshot / the full fold`,
        ratio: resumed.ms / foldMs,
        limit: quick ? resumeLimit.quick : resumeLimit.full,
        detail: `${resumed.ms.toFixed(1)} ms for the snapshot and ${resumed.result.folded} events after it, full fold ${foldMs.toFixed(0)} ms`,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
