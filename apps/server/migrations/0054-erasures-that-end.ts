import { type Kysely, sql } from 'kysely';

const columns = `
alter table erasures
  -- How many files could not be deleted so far, by kind, and since when they are all that is tried again.
  add column remaining jsonb,
  add column files_since timestamptz,
  -- Since when each try has failed, and why it was given up.
  add column failing_since timestamptz,
  add column failure_code text check (failure_code in ('files_left', 'internal_error')),
  drop constraint erasures_status_check,
  drop constraint erasures_waits_for_check,
  add constraint erasures_status_check check (status in ('running', 'completed', 'failed')),
  add constraint erasures_waits_for_check check (waits_for in ('call', 'upload', 'recording', 'file', 'keys', 'retry')),
  add check ((status = 'failed') = (failure_code is not null));
`;

/** An erasure that can't be finished goes as far as it can, says what is left, and ends. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(columns).execute(db);
}
