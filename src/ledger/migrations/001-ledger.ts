// Version 1 of the ledger: loops, events that can only be added, leases, the mailbox and snapshots.
import { type Kysely, sql } from 'kysely';

export async function up(database: Kysely<unknown>): Promise<void> {
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
