import { type Kysely, sql } from 'kysely';

const columns = `
alter table campaigns
  add column recent_ends integer[] not null default '{}',
  add column pause_reason text check (pause_reason in ('calls_failing'));
`;

/** Campaigns count their latest ends, and say why they have paused themselves. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(columns).execute(db);
}
