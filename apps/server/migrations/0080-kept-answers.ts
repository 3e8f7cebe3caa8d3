import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Keeps beside an Idempotency-Key what its answer needs that can't be read again, encrypted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table idempotency_keys add column answer text`.execute(db);
  // By which a change of the encryption key finds them.
  await sql`create index idempotency_keys_answer on idempotency_keys (workspace_id, resource_id) where answer is not null`.execute(
    db,
  );
}
