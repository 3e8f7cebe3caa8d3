import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

const changes = `
-- Whose a call is: of what kind, and its ID there. No CHECK holds the kinds: an owner names its own.
alter table calls add column owner_kind text, add column owner_id uuid;
update calls c set owner_id = coalesce(contact_id, workflow_run_id, id), owner_kind = case
  when direction = 'inbound' then 'arrival'
  when contact_id is not null then 'contact'
  when workflow_run_id is not null then 'run'
  when exists (select from test_calls t where t.workspace_id = c.workspace_id and t.room_id = c.id) then 'test_call'
  else 'intent' end;
alter table calls alter column owner_kind set not null, alter column owner_id set not null,
  drop column contact_id, drop column workflow_run_id;
-- One call per attempt of its owner: an attempt is committed before it is placed. IDs of two kinds are never the same.
create unique index calls_owner_attempt on calls (workspace_id, owner_id, attempt);
`;

/** Says of each call whose it is by a kind and an ID, instead of by which of several columns is not null. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The policies would hide the rows of all workspaces from an update.
  await sql`select set_config('trunkline.engine', 'on', true)`.execute(db);
  await sql.raw(changes).execute(db);
}
