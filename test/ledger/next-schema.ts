// The schema of a version that does not exist yet, to try migrations on.

import type { Schema } from '../../src/ledger/sqlite/create.ts';
import { currentSchema } from '../../src/ledger/sqlite.ts';

export const nextSchema: Schema = {
  version: currentSchema.version + 1,
  readableFrom: currentSchema.version + 1,
  migrations: async () => {
    const { sql } = await import('kysely');
    return {
      ...(await currentSchema.migrations()),
      '999-labels': {
        up: async database => {
          await database.schema.alterTable('loops').addColumn('label', 'text').execute();
          await database.schema.createTable('labels').addColumn('label', 'text').execute();
          await sql`INSERT INTO labels SELECT hash FROM events`.execute(database);
        },
      },
    };
  },
};
