// Version 5: events with ids where 0.4 read sentences, and four new names of events, which an older Ralph cannot fold.
import { type Kysely, sql } from 'kysely';

/** A snapshot can always be made anew; one of an older state would lack what this version folds. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`DELETE FROM snapshots`.execute(database);
}
