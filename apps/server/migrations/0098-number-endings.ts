import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Finds the numbers that end as those do which callers with a password may call, each few seconds. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index phone_numbers_ending on phone_numbers (right(phone_number, 6)) where status = 'active'`.execute(
    db,
  );
}
