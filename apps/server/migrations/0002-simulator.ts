import { type Kysely, sql } from 'kysely';

const tables = `
-- What the simulated provider knows. Its world is its own: no workspace, no foreign keys.
create table simulator_calls (
  room_id uuid primary key,
  to_number text not null,
  attempt integer not null,
  placed_at timestamptz not null,
  ring_timeout_seconds integer not null,
  max_call_seconds integer not null,
  ended_at timestamptz,
  ended_by text,
  outcome text,
  placements integer not null default 1
);
create table simulator_numbers (
  phone_number text primary key,
  idempotency_key text not null unique,
  bought_at timestamptz not null
);
`;

/** What the simulated provider keeps of its own. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
}
