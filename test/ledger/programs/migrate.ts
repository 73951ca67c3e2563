// Opens a ledger with the schema that has one more migration and prints the outcome: migrate.ts PATH
import { openSqliteLedger } from '../../../src/ledger/sqlite.ts';
import { nextSchema } from '../next-schema.ts';

const path = process.argv[2]!;
const warn = (): void => {};
const opened = await openSqliteLedger({
  path,
  version: '2',
  boot: 'boot',
  isAlive: () => false,
  now: Date.now,
  warn,
  schema: nextSchema,
});
process.stdout.write(opened.ok ? 'ok\n' : `${opened.failure.kind}: ${opened.failure.detail}\n`);
if (opened.ok) await opened.ledger.store.close();
