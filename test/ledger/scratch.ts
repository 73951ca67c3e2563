// A folder of its own for each test of the ledger, and the ledger opened in it.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { type Opened, openSqliteLedger, type SqliteLedgerOptions } from '../../src/ledger/sqlite.ts';
import { boot } from '../contracts/store.ts';

export interface Scratch {
  readonly folder: string;
  readonly path: string;
  files(): readonly string[];
  write(name: string, bytes: Uint8Array): void;
  remove(): void;
}

export function inScratch(): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-store-'));
  return {
    folder,
    path: join(folder, 'ralph.db'),
    files: () => readdirSync(folder).sort(),
    write: (name, bytes) => writeFileSync(join(folder, name), bytes),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function open(path: string, more: Partial<SqliteLedgerOptions> = {}): Promise<Opened> {
  const warn = (sentence: string): void => {
    throw new Error(sentence);
  };
  return openSqliteLedger({ path, version: '1.0.0', boot, isAlive: () => true, now: () => 1_000_000, warn, ...more });
}

export async function opened(path: string, more: Partial<SqliteLedgerOptions> = {}): Promise<Ledger> {
  const result = await open(path, more);
  if (!result.ok) throw new Error(`${result.failure.kind}: ${result.failure.detail}`);
  return result.ledger;
}
