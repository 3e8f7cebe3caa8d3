import { type Kysely, sql } from 'kysely';

const columns = `
-- What the call's two sides said, redacted: kept after its end, for some days.
alter table sip_calls add column messages json;
create index sip_calls_messages on sip_calls (ended_at) where messages is not null;
`;

/** The messages of calls over SIP. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(columns).execute(db);
}
