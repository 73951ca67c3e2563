// Version 2: events that an older Ralph cannot fold (told guidance, handoffs, new failures), so that it says so instead of failing.
import { type Kysely, sql } from 'kysely';

/** A snapshot can always be made anew; one of an older state would lack what this version folds. */
export async function up(database: Kysely<unknown>): Promise<void> {
  await sql`DELETE FROM snapshots`.execute(database);
}
