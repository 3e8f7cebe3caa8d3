import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/**
 * Which addresses a workspace may call and be called from. What trunks name already is granted to their workspaces; if
 * there are several, by name, since nobody knows yet what is whose alone. From the second workspace on only the operator grants more.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table trunk_grants (
      workspace_id uuid not null references workspaces,
      address text not null,
      by_name boolean not null default false,
      created_at timestamptz not null,
      primary key (workspace_id, address)
    )`.execute(db);
  await sql`
    create table trunk_grant_addresses (
      ip inet primary key,
      workspace_id uuid not null,
      address text not null,
      foreign key (workspace_id, address) references trunk_grants on delete cascade
    )`.execute(db);
  await sql.raw(tenancy('trunk_grants')).execute(db);
  await sql.raw(tenancy('trunk_grant_addresses')).execute(db);
  await sql`alter table installation add column trunks_granted_since timestamptz`.execute(db);
  await sql`
    with named as (
      select workspace_id, rtrim(lower(regexp_replace(uri, '^(?:sips?:)?(?:\\[([^]]*)\\]|([^:;]*)).*$', '\\1\\2', 'i')), '.') as address
      from trunks cross join lateral unnest(array[termination_url, outbound_proxy]) as uri where uri is not null
      union select workspace_id, lower(entry) from trunks cross join lateral unnest(ip_allowlist) as entry)
    insert into trunk_grants (workspace_id, address, by_name, created_at)
    select n.workspace_id, n.address, (select count(*) from workspaces) > 1, w.created_at
    from named n join workspaces w on w.id = n.workspace_id`.execute(db);
  await sql`
    update installation set trunks_granted_since = (select max(created_at) from workspaces)
    where (select count(*) from workspaces) > 1`.execute(db);
}
