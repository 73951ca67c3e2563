// Commands of other processes: rows that anyone may add and that leave in the append of what was decided on them.
import { commandVersion } from '../../core/command.ts';
import type { Mail, Mailbox } from '../ledger.ts';
import type { Connection } from './connection.ts';
import type { Pulse } from './pulse.ts';

export function mailboxOf(connection: Connection, pulse: Pulse): Mailbox {
  return {
    async send(loop, by, body, at) {
      const sql = 'INSERT INTO mailbox (loop, at, "by", version, body) VALUES (?, ?, ?, ?, ?)';
      const values = [loop, at, by, commandVersion, JSON.stringify(body)] as const;
      const id = connection.orThrow(() => Number(connection.statement(sql).run(...values).lastInsertRowid));
      pulse.beat('mailed');
      return id;
    },
    async waiting(loop) {
      const rows = connection.orThrow(() => connection.all('SELECT * FROM mailbox WHERE loop = ? ORDER BY id', loop));
      return rows.map(
        (row): Mail => ({
          id: Number(row['id']),
          loop,
          at: Number(row['at']),
          by: String(row['by']),
          version: Number(row['version']),
          body: JSON.parse(String(row['body'])) as unknown,
        }),
      );
    },
    watch: changed =>
      pulse.listen(change => {
        if (change !== 'appended') changed();
      }),
  };
}
