import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Sounds that agents play, and which agent plays which. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sounds (
      workspace_id uuid not null references workspaces,
      id uuid not null,
      name text not null,
      duration_ms integer not null,
      size_bytes bigint not null,
      created_at timestamptz not null,
      primary key (workspace_id, id)
    )`.execute(db);
  await sql`create index sounds_created_at on sounds (workspace_id, created_at, id)`.execute(db);
  await sql`
    create table agent_sounds (
      workspace_id uuid not null,
      agent_id uuid not null,
      sound_id uuid not null,
      primary key (workspace_id, agent_id, sound_id),
      foreign key (workspace_id, agent_id) references agents on delete cascade,
      foreign key (workspace_id, sound_id) references sounds
    )`.execute(db);
  await sql`create index agent_sounds_sound on agent_sounds (workspace_id, sound_id)`.execute(db);
  for (const table of ['sounds', 'agent_sounds']) await sql.raw(tenancy(table)).execute(db);
}
