import { sql } from 'kysely';
import type { EngineTx } from '../database/database.ts';
import type { RunRow } from './run.ts';

/** Writes new runs. */
export async function insertRuns({ db }: Pick<EngineTx, 'db'>, runs: readonly RunRow[]): Promise<void> {
  if (runs.length === 0) return;
  await sql`
    insert into workflow_runs
    select * from json_populate_recordset(null::workflow_runs, ${JSON.stringify(runs)}::json)`.execute(db);
}
