// The floor of every look at a history: a fresh Node that reads each row of a ledger once.
import { DatabaseSync } from 'node:sqlite';

const database = new DatabaseSync(process.argv[2], { readOnly: true });
let bytes = 0;
for (const { body } of database.prepare('SELECT body FROM events ORDER BY loop, seq').iterate()) {
  bytes += JSON.stringify(JSON.parse(body)).length;
}
console.log(bytes);
