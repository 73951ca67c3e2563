// The version of the database that this code reads and writes, known without loading the migrations.
import type { Migration } from 'kysely/migration';

export interface Schema {
  readonly version: number;
  /** The oldest version whose tables can be read as they are. */
  readonly readableFrom: number;
  /** By name, in order; as many as `version` says. */
  migrations(): Promise<Readonly<Record<string, Migration>>>;
}

export const currentSchema: Schema = {
  version: 5,
  readableFrom: 1,
  migrations: async () => ({
    '001-ledger': await import('../migrations/001-ledger.ts'),
    '002-agents': await import('../migrations/002-agents.ts'),
    '003-workspace': await import('../migrations/003-workspace.ts'),
    '004-modes': await import('../migrations/004-modes.ts'),
    '005-ids': await import('../migrations/005-ids.ts'),
  }),
};
