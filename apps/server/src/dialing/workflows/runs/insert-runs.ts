import { type RawBuilder, sql } from 'kysely';
import type { EngineTx } from '../../../foundation/database/database.ts';
import type { RunRow } from './run.ts';

/** Writes new runs. */
export async function insertRuns({ db }: Pick<EngineTx, 'db'>, runs: readonly RunRow[]): Promise<void> {
  if (runs.length > 0) await insertingRuns(runs).execute(db);
}

/** The statement that writes new runs; it may be part of another one. */
export const insertingRuns = (runs: readonly RunRow[]): RawBuilder<unknown> => sql`
  insert into workflow_runs
  select * from json_populate_recordset(null::workflow_runs, ${JSON.stringify(runs)}::json)`;
