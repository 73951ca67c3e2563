// Measures how much of the disk's own speed the ledger keeps: durable appends against bare SQLite transactions.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Event } from '../../src/core/event.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite.ts';
import { canonical } from '../../src/text/canonical.ts';
import { type BenchRow, median } from './row.ts';

const rounds = 60;
const rowsPerRound = 30;

function eventAt(index: number): Event {
  const usage = {
    inputTokens: 1200,
    outputTokens: 300,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    costUsdMicros: 5_100,
    estimated: false,
  };
  return {
    type: 'usage.recorded',
    at: 1_700_000_000_000 + index,
    iteration: index,
    performer: 'scripted',
    task: 'US-001',
    usage,
  };
}

/** Rounds take turns, so that a busy disk slows both alike. */
export async function benchStore(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-store-'));
  try {
    const raw = new DatabaseSync(join(folder, 'raw.db'));
    raw.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT NOT NULL)',
    );
    const insert = raw.prepare('INSERT INTO rows (body) VALUES (?)');
    const holder = { id: 'bench', pid: process.pid, startTime: '1', host: 'bench', boot: 'bench', version: '0' };
    const options = {
      path: join(folder, 'ralph.db'),
      version: '0',
      boot: 'bench',
      isAlive: () => true,
      now: Date.now,
      warn: () => {},
    };
    const opened = await openSqliteLedger(options);
    if (!opened.ok) throw new Error(opened.failure.detail);
    const { store } = opened.ledger;
    const leased = await store.lease('loop', holder);
    if (!leased.ok) throw new Error('the lease of a new loop is free');
    const { token } = leased.lease;
    const rawMs: number[] = [];
    const ledgerMs: number[] = [];
    let seq = 0;
    for (let round = 0; round <= rounds; round += 1) {
      const rawStart = performance.now();
      for (let index = 0; index < rowsPerRound; index += 1) insert.run(canonical(eventAt(index)));
      const ledgerStart = performance.now();
      for (let index = 0; index < rowsPerRound; index += 1) {
        const appended = await store.append('loop', seq, [eventAt(index)], { token });
        if (!appended.ok) throw new Error(appended.failure.detail);
        seq = appended.seq;
      }
      const end = performance.now();
      if (round === 0) continue; // warm-up
      rawMs.push(ledgerStart - rawStart);
      ledgerMs.push(end - ledgerStart);
    }
    raw.close();
    await store.close();
    const perSecond = (ms: number): number => Math.round((rowsPerRound * 1_000) / ms);
    const ratio = median(rawMs.map((ms, round) => ms / ledgerMs[round]!));
    const rates = `${perSecond(median(ledgerMs))} durable appends/s, ${perSecond(median(rawMs))} bare single-row transactions/s`;
    const detail = `${rates}; median of ${rounds} rounds in turn`;
    return [{ name: 'durable appends', ratio, limit: 0.6, higherIsBetter: true, detail }];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
