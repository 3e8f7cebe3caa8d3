import { type Kysely, sql } from 'kysely';

const changes = `
drop index calls_live_phone_number;
create index calls_live_phone_number on calls (phone_number_id) where ended_at is null;
`;

/** Finds the live calls of a number by its key alone, so that no plan can read those of its workspace instead. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}
