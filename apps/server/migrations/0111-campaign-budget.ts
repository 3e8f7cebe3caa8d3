import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

const columns = `
-- What a campaign may spend, and how long its calls have talked that have ended.
alter table campaigns add column budget_calls integer, add column budget_minutes integer,
  add column talk_ms bigint not null default 0;
`;

const reasons = `
alter table campaigns drop constraint campaigns_pause_reason_check;
alter table campaigns add constraint campaigns_pause_reason_check
  check (pause_reason in ('calls_failing', 'agent_failing', 'budget_reached'));
`;

/** Campaigns that pause themselves once they have spent their budget. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(columns + reasons).execute(db);
}
