import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** When a trunk was last made whole at its provider. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table trunks add column made_at timestamptz`.execute(db);
}
