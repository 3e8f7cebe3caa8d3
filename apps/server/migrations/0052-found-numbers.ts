import { type Kysely, sql } from 'kysely';

const indexes = `
-- Only calls that arrive bear it: whoever is called pays nothing for it.
create index calls_from_number on calls (workspace_id, from_number, id) where direction = 'inbound';
-- It holds all opt-outs. Only who reads a page says so: no claim is led to it.
create index do_not_call_listed on do_not_call (workspace_id, created_at, phone_number) where created_at > 'epoch';
`;

/** Calls of a person, and pages of opt-outs, are read along an index. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(indexes).execute(db);
}
