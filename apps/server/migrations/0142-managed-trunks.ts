import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** Trunks that are made at a provider, one for each workspace, and which numbers are to be put on them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table trunks
      add column managed_by text check (managed_by in ('twilio', 'telnyx')),
      add column managed_id text,
      add column origin_uris text[] not null default '{}',
      add column making_until timestamptz`.execute(db);
  await sql`create unique index trunks_managed on trunks (workspace_id, managed_by) where managed_by is not null`.execute(
    db,
  );
  await sql`alter table phone_numbers add column connects boolean not null default false`.execute(db);
}
