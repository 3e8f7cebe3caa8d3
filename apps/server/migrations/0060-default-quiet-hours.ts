import { type Kysely, sql } from 'kysely';

/**
 * Quiet hours that nobody has set, and who is free of them. Workspaces that exist keep what they have. A lane of a campaign
 * keeps a second window, of the calls that are free of them; null while it is the same.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table workspaces
      add column quiet_hours_are_default boolean not null default false,
      add column trusted_numbers bigint[] not null default '{}'`.execute(db);
  await sql`
    alter table campaign_lanes
      add column free_opens_at timestamptz,
      add column free_closes_at timestamptz,
      add column free_has_common_hour boolean`.execute(db);
}
