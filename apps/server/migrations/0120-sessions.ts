import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** Browsers that are signed in, by the digests of their cookies' secrets. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sessions (
      workspace_id uuid not null,
      id uuid not null,
      hash bytea not null unique,
      api_key_id uuid not null,
      address text not null,
      created_at timestamptz not null,
      last_used_at timestamptz not null,
      expires_at timestamptz not null,
      primary key (workspace_id, id),
      foreign key (workspace_id, api_key_id) references api_keys on delete cascade
    )`.execute(db);
  await sql`create index sessions_created_at on sessions (workspace_id, created_at, id)`.execute(db);
  await sql`create index sessions_api_key on sessions (workspace_id, api_key_id, created_at)`.execute(db);
  await sql`create index sessions_expires_at on sessions (expires_at)`.execute(db);
  await sql.raw(tenancy('sessions')).execute(db);
}
