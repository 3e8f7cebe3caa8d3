import { type Kysely, sql } from 'kysely';

const changes = `
select set_config('trunkline.engine', 'on', true);
alter table campaigns add column relaning_after uuid,
  add column callee_time_zone text not null default 'campaign' check (callee_time_zone in ('strictest', 'campaign'));
update campaigns set callee_time_zone = 'strictest' where status = 'draft';
alter table campaigns alter column callee_time_zone set default 'strictest';

alter table campaign_lanes drop constraint campaign_lanes_workspace_id_campaign_id_timezone_key;
alter table campaign_lanes rename column timezone to timezones;
alter table campaign_lanes
  alter column timezones type text[] using case when timezones = '' then '{}'::text[] else array[timezones] end,
  add column is_own boolean not null default false,
  add column has_common_hour boolean not null default true;
update campaign_lanes set is_own = timezones <> '{}';
alter table campaign_lanes add unique (workspace_id, campaign_id, is_own, timezones);
`;

/**
 * Makes a lane of a set of time zones. What is under way stays as it was: its lanes with a zone have that of the person or
 * of a country with one clock, which come to the same.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}
