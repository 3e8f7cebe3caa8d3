import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tables = `
-- Which server registers with a trunk, and how that stands. A row that is old is free for the next server.
create table trunk_registrations (
  workspace_id uuid not null,
  trunk_id uuid not null,
  server_id uuid not null,
  lease_until timestamptz not null,
  standing text not null default 'registering' check (standing in ('registering', 'registered', 'failed')),
  message text,
  registered_at timestamptz,
  primary key (workspace_id, trunk_id),
  foreign key (workspace_id, trunk_id) references trunks on delete cascade
) with (fillfactor = 50);
${tenancy('trunk_registrations')}
`;

/** Registrations with trunks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
}
