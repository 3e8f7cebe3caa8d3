import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** Whether sound over a trunk is encrypted, and what that of a call was encrypted with. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table trunks drop constraint trunks_media_encryption_check`.execute(db);
  await sql`
    alter table trunks
      add constraint trunks_media_encryption_check check (media_encryption in ('none', 'preferred', 'required')),
      add column keys_in_clear boolean not null default false`.execute(db);
  await sql`alter table calls add column encrypted_with text, add column packets_undeciphered integer`.execute(db);
  await sql`alter table sip_calls add column encrypted_with text, add column packets_undeciphered integer`.execute(db);
}
