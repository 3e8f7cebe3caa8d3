import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/**
 * Drafts that call again whom an ended campaign has not reached. Their contacts are there before they start: nobody is taken
 * from their lists.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table campaigns add column redial_of uuid`.execute(db);
  await sql`create index campaigns_redial_of on campaigns (workspace_id, redial_of) where redial_of is not null`.execute(
    db,
  );
}
