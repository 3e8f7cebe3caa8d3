import { type Kysely, sql } from 'kysely';

const columns = `
-- Whether who knows its username and password may call from elsewhere.
alter table trunks add column inbound_digest boolean not null default false;
create index trunks_inbound_digest on trunks (id) where inbound_digest;
-- Whose credentials answer a challenge, should another server end the call.
alter table sip_calls add column trunk_id uuid;
-- Whether it registers with trunks, so that servers share them.
alter table servers add column registers boolean not null default false;
`;

/** Calls from elsewhere by digest, calls that another server ends, and registrations that servers share. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(columns).execute(db);
}
