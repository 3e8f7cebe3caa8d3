import { type Kysely, sql } from 'kysely';

/** What a step has to say that is no error: conditions of a branch that could not be compared. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table workflow_run_steps add column note text`.execute(db);
}
