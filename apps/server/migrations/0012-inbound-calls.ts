import { type Kysely, sql } from 'kysely';

const changes = `
-- An inbound call may find no agent.
alter table calls alter column agent_id drop not null;
comment on column calls.from_number is '0 where an inbound caller withheld the number';
-- One live call a person still, but any number of callers at one of our numbers.
drop index calls_live_number;
create unique index calls_live_number on calls (workspace_id, to_number, (case when direction = 'inbound' then id end))
  nulls not distinct where ended_at is null;
`;

/** Calls that arrive. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}
