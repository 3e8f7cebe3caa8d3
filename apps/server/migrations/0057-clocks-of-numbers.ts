import { type Kysely, sql } from 'kysely';

/**
 * Has the contacts of active campaigns moved to the lanes of all time zones in which their numbers may be: they stand in
 * those that an older version knew.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`select set_config('trunkline.engine', 'on', true)`.execute(db);
  await sql`
    update campaigns set relaning_after = '00000000-0000-0000-0000-000000000000', contacts_added = false
    where status in ('running', 'paused') and callee_time_zone = 'strictest'`.execute(db);
}
