import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Lets the agent of a call change what is the call's, by the call's token: no key has made that change. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table audit_log alter column key_id drop not null`.execute(db);
}
