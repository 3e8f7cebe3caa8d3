import { type Kysely, sql } from 'kysely';

const tables = `
-- By turns of their workspaces, the longest due of each first.
drop index erasures_due;
create index erasures_due on erasures (workspace_id, due_at) where status = 'running';
-- The erasure that waits until the file is gone.
alter table call_recordings add column erasure_id uuid;
update call_recordings r set erasure_id = (
  select id from erasures e where e.workspace_id = r.workspace_id and e.status = 'running' order by due_at limit 1)
where status = 'deleted' and erased_at is null;
-- What is told of the run is emptied with it, though the number may stand nowhere in it.
alter table workflow_runs add column is_erased boolean;
create index sip_calls_workspace on sip_calls (workspace_id, room_id);
-- Of calls that retention has deleted, which were placed more than a day ago.
delete from simulator_calls s
where ended_at is not null and placed_at < (select max(placed_at) - interval '1 day' from simulator_calls)
  and not exists (select from calls c where c.id = s.room_id);
`;

/** Erasures go on by turns, wait for their own recordings, and read the SIP calls of their workspace alone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`select set_config('trunkline.engine', 'on', true)`).execute(db);
  await sql.raw(tables).execute(db);
}
