import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/**
 * A number is one workspace's where callers of several may come from, and at a carrier that is a workspace's alone its own
 * matter. What trunks name that were granted with the same words alone is such a carrier.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table phone_numbers add column shared boolean not null default true`.execute(db);
  await sql`
    with named as (
      select workspace_id, id, rtrim(lower(regexp_replace(uri, '^(?:sips?:)?(?:\\[([^]]*)\\]|([^:;]*)).*$', '\\1\\2', 'i')), '.') as address
      from trunks cross join lateral unnest(array[termination_url, outbound_proxy]) as uri where uri is not null
      union all select workspace_id, id, lower(entry) from trunks cross join lateral unnest(ip_allowlist) as entry)
    update phone_numbers p set shared = false from trunks t
    where t.workspace_id = p.workspace_id and t.id = p.trunk_id and not t.inbound_digest and not exists (
      select from named n where n.workspace_id = t.workspace_id and n.id = t.id and not exists (
        select from trunk_grants g where g.workspace_id = n.workspace_id and g.address = n.address and not g.by_name))`.execute(
    db,
  );
  await sql`drop index phone_numbers_owner`.execute(db);
  await sql`
    create unique index phone_numbers_owner on phone_numbers (phone_number)
    where shared and status in ('provisioning', 'active')`.execute(db);
  await sql`create index phone_numbers_called on phone_numbers (phone_number) where status = 'active'`.execute(db);
}
