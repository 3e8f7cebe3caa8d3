import { type Kysely, sql } from 'kysely';

const index = `
create index workflow_runs_turns on workflow_runs (workspace_id, due_at) where due_at is not null and server_id is null;
`;

/** Workspaces take turns with their runs that are due. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(index).execute(db);
}
