// Migrations of the ledger's database, by name and in order: one per version.
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Loops, events that can only be added, leases, the mailbox and snapshots. */
async function createTables(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema
    .createTable('loops')
    .addColumn('loop', 'text', column => column.primaryKey())
    .addColumn('name', 'text', column => column.notNull())
    .addColumn('document', 'text', column => column.notNull())
    .addColumn('directory', 'text', column => column.notNull())
    .addColumn('started_at', 'integer', column => column.notNull())
    .addColumn('reason', 'text')
    .addColumn('ended_at', 'integer')
    .execute();
  await schema
    .createTable('events')
    .addColumn('cursor', 'integer', column => column.primaryKey().autoIncrement())
    .addColumn('loop', 'text', column => column.notNull())
    .addColumn('seq', 'integer', column => column.notNull())
    .addColumn('at', 'integer', column => column.notNull())
    .addColumn('type', 'text', column => column.notNull())
    .addColumn('body', 'text', column => column.notNull())
    .addColumn('hash', 'text', column => column.notNull())
    .addUniqueConstraint('events_loop_seq', ['loop', 'seq'])
    .execute();
  await sql`CREATE TRIGGER events_never_change BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are only ever added'); END`.execute(database);
  await sql`CREATE TRIGGER events_never_leave BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are only ever added'); END`.execute(database);
  await schema
    .createTable('leases')
    .addColumn('loop', 'text', column => column.primaryKey())
    .addColumn('token', 'integer', column => column.notNull())
    .addColumn('holder', 'text') // null: released, kept so that the token goes on growing
    .addColumn('since', 'integer', column => column.notNull())
    .addColumn('renewed_at', 'integer', column => column.notNull())
    .execute();
  await schema
    .createTable('mailbox')
    .addColumn('id', 'integer', column => column.primaryKey().autoIncrement())
    .addColumn('loop', 'text', column => column.notNull())
    .addColumn('at', 'integer', column => column.notNull())
    .addColumn('by', 'text', column => column.notNull())
    .addColumn('version', 'integer', column => column.notNull())
    .addColumn('body', 'text', column => column.notNull())
    .execute();
  await schema.createIndex('mailbox_loop').on('mailbox').columns(['loop', 'id']).execute();
  await schema
    .createTable('snapshots')
    .addColumn('loop', 'text', column => column.primaryKey())
    .addColumn('seq', 'integer', column => column.notNull())
    .addColumn('hash', 'text', column => column.notNull())
    .addColumn('version', 'text', column => column.notNull())
    .addColumn('state', 'text', column => column.notNull())
    .execute();
}

/** A snapshot can always be made anew; one of an older state would lack what this version folds. */
const newEvents: Migration = {
  up: async (database: Kysely<unknown>) => void (await sql`DELETE FROM snapshots`.execute(database)),
};

/** Versions with events that an older Ralph cannot fold are versions of their own, so that it says so instead of failing. */
export const migrations: Readonly<Record<string, Migration>> = {
  '001-ledger': { up: createTables },
  '002-agents': newEvents, // told guidance, handoffs, new failures
  '003-workspace': newEvents, // checkpoints, restores, commits and doubts
  '004-modes': newEvents, // actions, approvals and reviews
  '005-ids': newEvents, // ids where 0.4 read sentences, and four new names of events
};
