import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Keeps no number for who has withheld it, and for a call that no number was chosen for, where 0 stood. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The policies would hide the rows of all workspaces from an update.
  await sql`select set_config('trunkline.engine', 'on', true)`.execute(db);
  await sql`alter table calls alter column from_number drop not null`.execute(db);
  await sql`update calls set from_number = null where from_number = 0`.execute(db);
}
