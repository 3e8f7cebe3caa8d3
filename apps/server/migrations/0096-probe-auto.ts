import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Trunks that are made from now on have their password checked, if they have one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table trunks drop constraint trunks_probe_check,
    add constraint trunks_probe_check check (probe in ('auto', 'options', 'register', 'none')),
    alter column probe set default 'auto'`.execute(db);
}
