// The whole schema of the ledger's database as one batch: what migrations.ts leads to, without its steps and its library.

/** The names are those of migrations.ts: a later version goes on behind them. */
const migrated = ['001-ledger', '002-agents', '003-workspace', '004-modes', '005-ids'];

export const schemaBatch = `
CREATE TABLE "kysely_migration" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null);
CREATE TABLE "kysely_migration_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not null);
CREATE TABLE "loops" ("loop" text primary key, "name" text not null, "document" text not null, "directory" text not null, "started_at" integer not null, "reason" text, "ended_at" integer);
CREATE TABLE "events" ("cursor" integer primary key autoincrement, "loop" text not null, "seq" integer not null, "at" integer not null, "type" text not null, "body" text not null, "hash" text not null, constraint "events_loop_seq" unique ("loop", "seq"));
CREATE TRIGGER events_never_change BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are only ever added'); END;
CREATE TRIGGER events_never_leave BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are only ever added'); END;
CREATE TABLE "leases" ("loop" text primary key, "token" integer not null, "holder" text, "since" integer not null, "renewed_at" integer not null);
CREATE TABLE "mailbox" ("id" integer primary key autoincrement, "loop" text not null, "at" integer not null, "by" text not null, "version" integer not null, "body" text not null);
CREATE INDEX "mailbox_loop" on "mailbox" ("loop", "id");
CREATE TABLE "snapshots" ("loop" text primary key, "seq" integer not null, "hash" text not null, "version" text not null, "state" text not null);
INSERT INTO kysely_migration_lock VALUES ('migration_lock', 0);
INSERT INTO kysely_migration VALUES ${migrated.map(name => `('${name}', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`).join(', ')}`;
