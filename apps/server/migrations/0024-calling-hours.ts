import { type Kysely, sql } from 'kysely';

const changes = `
alter table workspaces add column quiet_windows jsonb, add column holidays text[] not null default '{}';
alter table campaigns add column calling_windows jsonb, add column holidays text[] not null default '{}';
`;

/** Several windows a week, quiet windows of the same form, and dates on which nobody is called. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}
