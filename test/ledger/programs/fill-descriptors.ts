// Uses up all file descriptors after opening a ledger, then appends and opens a second one: fill-descriptors.ts PATH
import { openSync } from 'node:fs';
import { openSqliteLedger } from '../../../src/ledger/sqlite.ts';

const path = process.argv[2]!;
const options = { path, version: '1', boot: 'boot', isAlive: () => true, now: Date.now, warn: () => {} };
const opened = await openSqliteLedger(options);
if (!opened.ok) throw new Error(opened.failure.detail);
const event = { type: 'guidance.given', at: 1, text: 'one', by: 'ann', because: 'told' } as const;
try {
  for (;;) openSync('/dev/null', 'r');
} catch (error) {
  process.stdout.write(`${(error as NodeJS.ErrnoException).code}\n`);
}
const appended = await opened.ledger.store.append('a', 0, [event]);
const second = await openSqliteLedger(options);
process.stdout.write(`${appended.ok ? 'ok' : appended.failure.kind}\n${second.ok ? 'ok' : second.failure.kind}\n`);
