import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Sentences of scripts that are the same for everybody: their sound is made once, and lies in the object store. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table speech_sounds (
      workspace_id uuid not null references workspaces,
      digest text not null,
      size_bytes bigint not null,
      used_at timestamptz not null,
      primary key (workspace_id, digest)
    )`.execute(db);
  await sql`create index speech_sounds_used_at on speech_sounds (workspace_id, used_at)`.execute(db);
  await sql.raw(tenancy('speech_sounds')).execute(db);
}
