import { type Kysely, sql } from 'kysely';

/** The row of a deleted batch stays, so that its calls still say what placed them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table batches drop constraint batches_workspace_id_id_fkey').execute(db);
}
