import { type Kysely, sql } from 'kysely';

const walls = ['simulator_calls', 'simulator_numbers'].map(
  (table) => `
alter table ${table} enable row level security;
alter table ${table} force row level security;
create policy engine on ${table} using ((select current_setting('trunkline.engine', true)) = 'on');`,
);

/** What the simulated provider keeps belongs to no workspace, so none sees it: a room is a call of some workspace. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const wall of walls) await sql.raw(wall).execute(db);
}
