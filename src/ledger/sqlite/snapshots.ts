// Keeps the newest folded state of each loop; losing one costs time, never truth, so no failure leaves this file.
import type { Snapshots } from '../ledger.ts';
import type { Connection } from './connection.ts';

export function snapshotsOf(connection: Connection, warn: (sentence: string) => void): Snapshots {
  return {
    async save(loop, { seq, hash, version, state }) {
      try {
        const sql = `INSERT INTO snapshots (loop, seq, hash, version, state) VALUES (?, ?, ?, ?, ?) ON CONFLICT (loop) DO
          UPDATE SET seq = excluded.seq, hash = excluded.hash, version = excluded.version, state = excluded.state`;
        connection.orThrow(() =>
          connection.statement(sql).run(loop, seq, hash, String(version), JSON.stringify(state)),
        );
      } catch (error) {
        warn(`The snapshot of loop ${loop} was not saved, so the next start takes longer: ${String(error)}`);
      }
    },
    async latest(loop, version) {
      try {
        const sql = `SELECT snapshots.* FROM snapshots JOIN events USING (loop, seq)
          WHERE loop = ? AND version = ? AND events.hash = snapshots.hash`;
        const row = connection.orThrow(() => connection.get(sql, loop, String(version)));
        if (row === undefined) return undefined;
        return {
          seq: Number(row['seq']),
          hash: String(row['hash']),
          version,
          state: JSON.parse(String(row['state'])) as unknown,
        };
      } catch (error) {
        warn(`The snapshot of loop ${loop} cannot be used, so this start takes longer: ${String(error)}`);
        return undefined;
      }
    },
  };
}
