import { type Kysely, sql } from 'kysely';

const changes = `
alter table calls add column workflow_run_id uuid, add column variables jsonb;
-- One call per attempt of a run: an attempt is committed before it is placed.
create unique index calls_run_attempt on calls (workspace_id, workflow_run_id, attempt) where workflow_run_id is not null;
-- Calls whose end was asked for and has not come.
create index calls_end_requested on calls (server_id) where ended_at is null and end_requested_at is not null;
`;

/** Calls of workflow runs, and ends that are asked for by a row. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}
