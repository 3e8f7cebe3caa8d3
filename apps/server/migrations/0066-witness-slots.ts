import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

const table = `
-- A slot for each server that runs at the same time as others; it outlives them. Its number rises with what is told to a
-- witness, and is told with it: a row whose number is below that is of a database that has lost something.
create table witness_slots (
  slot smallint primary key,
  server_id uuid not null,
  number bigint not null default 0,
  -- Since when the server's witness can't be written, so that it places nothing.
  unwritten_since timestamptz
) with (fillfactor = 50);
create index witness_slots_server on witness_slots (server_id);
`;

/** Keeps by number how far each server has come. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(table).execute(db);
}
