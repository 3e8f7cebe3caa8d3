import { type Kysely, sql } from 'kysely';

/**
 * Of several workspaces with one number the oldest keeps it; in the others it is suspended, and they are told. A purchase
 * that is under way there is released, and stays due, so that what comes of it is given back.
 */
const changes = `
create temporary table doubled on commit drop as
  select workspace_id, id, status, revision from (
    select *, row_number() over (partition by phone_number order by (status = 'provisioning'), created_at, id) as place
    from phone_numbers where status in ('provisioning', 'active')) as n
  where place > 1;

update phone_numbers n set
  status = case when d.status = 'active' then 'suspended' else 'released' end,
  revision = n.revision + 1, updated_at = clock_timestamp()
from doubled d where n.workspace_id = d.workspace_id and n.id = d.id;

with told as (
  insert into events (workspace_id, resource_id, revision, id, type, data, created_at)
  select n.workspace_id, n.id, n.revision, gen_random_uuid(), 'phone_number.updated', jsonb_build_object(
    'id', 'pn_' || replace(n.id::text, '-', ''), 'phoneNumber', n.phone_number, 'status', n.status,
    'provider', n.provider, 'isCustomerManaged', n.provider = 'sip', 'isInboundReady', false, 'isOutboundReady', false,
    'spaceId', 'ws_' || replace(n.workspace_id::text, '-', ''),
    'createdAt', to_char(n.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updatedAt', to_char(n.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), n.updated_at
  from doubled d join phone_numbers n on n.workspace_id = d.workspace_id and n.id = d.id
  returning workspace_id, resource_id, revision, type)
insert into events_to_hand_over (workspace_id, resource_id, revision, webhook_ids)
select t.workspace_id, t.resource_id, t.revision, w.ids from told t cross join lateral (
  select array_agg(id) as ids from webhooks
  where workspace_id = t.workspace_id and status = 'enabled' and t.type = any(event_types)) as w
where w.ids is not null;

-- Whose number it is: one workspace's of a server, from the purchase or the import on.
create unique index phone_numbers_owner on phone_numbers (phone_number) where status in ('provisioning', 'active');
`;

/** A number is active in one workspace of a server. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`select set_config('trunkline.engine', 'on', true)`).execute(db);
  await sql.raw(changes).execute(db);
}
