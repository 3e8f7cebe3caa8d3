import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tables = `
create table trunks (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  termination_url text not null,
  transport text not null check (transport in ('auto', 'udp', 'tcp', 'tls')),
  outbound_proxy text,
  username text,
  password text,
  -- The number that the password was encrypted for, where it came from one; null where it was encrypted for the trunk.
  password_of uuid,
  auth_username text,
  from_user text,
  from_domain text,
  register boolean not null default false,
  register_expires_seconds integer not null default 3600,
  ip_allowlist text[] not null default '{}',
  probe text not null default 'options' check (probe in ('options', 'register', 'none')),
  max_channels integer,
  calls_per_second double precision not null default 1,
  number_format text not null default 'e164_plus'
    check (number_format in ('e164_plus', 'e164', 'national', 'international_prefix')),
  country text,
  dial_prefix text,
  caller_id_header text not null default 'from' check (caller_id_header in ('from', 'pai', 'ppi', 'rpid')),
  codecs text[] not null default '{PCMU,PCMA}',
  media_encryption text not null default 'none' check (media_encryption in ('none')),
  headers jsonb not null default '{}',
  status text not null default 'paused' check (status in ('active', 'paused')),
  reason text default 'unchecked',
  message text,
  status_since timestamptz not null,
  paused_by_number_id uuid,
  paused_by_pool_id uuid,
  checked_at timestamptz,
  -- When it is to be checked next.
  due_at timestamptz,
  -- The next free slot of its pace: moved by the claims that give starts, under its lock.
  next_start_at timestamptz not null default 'epoch',
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status = 'active') = (reason is null)),
  primary key (workspace_id, id)
) with (fillfactor = 50);
create unique index trunks_identity on trunks (workspace_id, lower(termination_url), transport, coalesce(username, ''));
create index trunks_due on trunks (due_at) where due_at is not null;

-- How calls over a trunk fare: apart from it, since ends of calls write it, and claims lock the trunk before the calls.
create table trunk_health (
  workspace_id uuid not null,
  trunk_id uuid not null,
  -- The last calls in a row whose numbers it didn't know, or that brought no sound; at most ten and three.
  unknown_calls uuid[] not null default '{}',
  silent_calls uuid[] not null default '{}',
  -- Answers in a row that it had no room for, less those that it had again.
  full_answers smallint not null default 0,
  slowed_since timestamptz,
  slowed_until timestamptz,
  primary key (workspace_id, trunk_id),
  foreign key (workspace_id, trunk_id) references trunks on delete cascade
) with (fillfactor = 50);

alter table phone_numbers add column trunk_id uuid,
  add foreign key (workspace_id, trunk_id) references trunks;
create index phone_numbers_trunk on phone_numbers (workspace_id, trunk_id) where trunk_id is not null;

alter table calls add column trunk_id uuid, add column sip_reason text, add column release_cause smallint,
  add column codec text, add column packets_received integer, add column packets_lost integer;
-- Calls that are up over a trunk, found by its key alone, as those of a number are.
create index calls_live_trunk on calls (trunk_id) where ended_at is null and trunk_id is not null;
`;

/** One trunk for numbers with the same address, transport and username: that of the number that fared best last. */
const moveConfigs = `
create temporary table moved on commit drop as
  select distinct on (workspace_id, lower(sip_termination_url), coalesce(sip_transport, 'auto'), coalesce(sip_username, ''))
    gen_random_uuid() as made_id, n.*
  from phone_numbers n where provider = 'sip' and status <> 'released' and sip_termination_url is not null
  order by workspace_id, lower(sip_termination_url), coalesce(sip_transport, 'auto'), coalesce(sip_username, ''),
    trunk_valid desc nulls last, updated_at desc, id;

insert into trunks (workspace_id, id, termination_url, transport, username, password, password_of, ip_allowlist, status,
  reason, status_since, checked_at, due_at, created_at, updated_at)
select workspace_id, made_id, sip_termination_url, coalesce(sip_transport, 'auto'), sip_username, sip_password,
  case when sip_password is not null then id end, coalesce(sip_ip_allowlist, '{}'),
  case when trunk_valid then 'active' else 'paused' end,
  case when trunk_valid then null when trunk_detail = 'password_unreadable' then 'unreadable'
    when trunk_detail in ('unreachable', 'dns_failure', 'tls_failure', 'credentials_rejected', 'no_prober') then trunk_detail
    else 'unchecked' end,
  coalesce(trunk_checked_at, updated_at), trunk_checked_at, coalesce(due_at, updated_at), created_at, updated_at
from moved;
insert into trunk_health (workspace_id, trunk_id) select workspace_id, made_id from moved;

update phone_numbers n set trunk_id = m.made_id, due_at = null from moved m
where n.workspace_id = m.workspace_id and n.provider = 'sip' and n.status <> 'released'
  and lower(n.sip_termination_url) = lower(m.sip_termination_url)
  and coalesce(n.sip_transport, 'auto') = coalesce(m.sip_transport, 'auto')
  and coalesce(n.sip_username, '') = coalesce(m.sip_username, '');
update phone_numbers set due_at = null where provider = 'sip';

-- Every address that was let in for one of the numbers.
update trunks t set ip_allowlist = (select coalesce(array_agg(distinct a.address), '{}') from (
  select unnest(n.sip_ip_allowlist) as address from phone_numbers n
  where n.workspace_id = t.workspace_id and n.trunk_id = t.id limit 100) as a);

update calls c set trunk_id = n.trunk_id from phone_numbers n
where c.ended_at is null and n.workspace_id = c.workspace_id and n.id = c.phone_number_id and n.trunk_id is not null;

alter table phone_numbers drop column sip_termination_url, drop column sip_username, drop column sip_password,
  drop column sip_transport, drop column sip_ip_allowlist, drop column trunk_checked_at, drop column trunk_valid,
  drop column trunk_detail;
`;

/** Trunks as a resource: what imported numbers said of theirs, each once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  // As every loop that serves all workspaces: the policies would hide the rows of all from the statements below.
  await sql.raw(`select set_config('trunkline.engine', 'on', true)`).execute(db);
  await sql.raw(moveConfigs).execute(db);
  for (const table of ['trunks', 'trunk_health']) await sql.raw(tenancy(table)).execute(db);
}
