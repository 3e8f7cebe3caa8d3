import { type Kysely, sql } from 'kysely';

const table = `
-- One row: what tells this database from an older copy of itself.
create table installation (
  singleton boolean primary key default true check (singleton),
  id uuid not null default gen_random_uuid(),
  system_identifier text,
  timeline integer,
  watermark bigint not null default 0,
  witnessed boolean not null default false,
  held_at timestamptz,
  held_reason text
);
insert into installation default values;
`;

/** Keeps what a restored database is known by. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(table).execute(db);
}
