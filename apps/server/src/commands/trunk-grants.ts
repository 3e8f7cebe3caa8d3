import { isIP } from 'node:net';
import { locate, systemRandom, systemResolver, TransportError } from '@trunkline/sip';
import { sql } from 'kysely';
import { type Database, type EngineTx, forWorkspace } from '../foundation/database/database.ts';
import { isUniqueViolation } from '../foundation/database/errors.ts';
import { toId } from '../foundation/values/ids.ts';
import { claimAddresses, isGivenUp } from '../lines/trunks/granted-addresses.ts';
import type { TrunkRow } from '../lines/trunks/trunk.ts';
import { hostOf, plainNetwork, sharingNow } from '../lines/trunks/trunk-grants.ts';
import { CommandRefused, workspaceNamed } from './workspace-named.ts';

/** What an operator grants. */
export interface TrunkGrant {
  /** The workspace's name, or its ID. */
  workspace: string;
  /** A host, an IP address, or a network such as 203.0.113.0/24. */
  address: string;
  /** The carrier there tells its customers by name or password: others may be granted it too. */
  byName: boolean;
}

/** What came of a grant. */
export interface Granted {
  /** Where it leads now. */
  addresses: string[];
  /** Why that is nowhere. */
  fault?: string;
  /** Whose the address was by where calls went alone: each workspace, and its grant. */
  taken: string[];
}

/** Where a host leads, as IP addresses. Rejects with a `TransportError` if it leads nowhere now. @param host with a port, or without */
export type Addresses = (host: string) => Promise<string[]>;

/**
 * Grants an address to a workspace: its trunks may call there, and be called from there. Unless it is by name, no other
 * workspace may from then on, under any name. Throws `CommandRefused`.
 * @param addresses as the DNS tells
 */
export async function grantTrunks(
  database: Database,
  { workspace, address: wanted, byName }: TrunkGrant,
  now: Date,
  addresses: Addresses = addressesOf,
): Promise<Granted> {
  const address = readAddress(wanted);
  const { ips, fault } = isNetwork(address) ? { ips: [] } : await whereTo(address + (portOf(wanted) ?? ''), addresses);
  return sayingWhoHasIt(database, async (tx) => {
    // One operator after the other, and none beside a trunk that is being made.
    await sql`select from installation for update`.execute(tx.db);
    const workspaceId = await workspaceNamed(tx, workspace);
    if (!byName) await refuseByName(tx, workspaceId, address);
    const taken = byName ? [] : await takeLearnt(tx, workspaceId, address);
    await refuseTaken(tx, { workspaceId, address, byName, ips });
    await sql`
      insert into trunk_grants (workspace_id, address, by_name, by_operator, created_at)
      values (${workspaceId}, ${address}, ${byName}, true, ${now})
      on conflict (workspace_id, address) do update set by_name = excluded.by_name, by_operator = true`.execute(tx.db);
    await claimAddresses(tx, ips, { workspaceId, address }, true);
    await shareNumbersOf(tx, { workspaceId, workspace });
    await checkAtOnce(tx, workspaceId, now);
    return { addresses: isNetwork(address) ? [address] : ips, ...(fault !== undefined && { fault }), taken };
  });
}

/** Takes a grant back: what names that address calls nobody any more. Throws `CommandRefused`. */
export async function revokeTrunks(
  database: Database,
  { workspace, address: wanted }: Omit<TrunkGrant, 'byName'>,
  now: Date,
): Promise<void> {
  const address = readAddress(wanted);
  await sayingWhoHasIt(database, async (tx) => {
    await sql`select from installation for update`.execute(tx.db);
    const workspaceId = await workspaceNamed(tx, workspace);
    const { rows } = await sql`
      delete from trunk_grants where workspace_id = ${workspaceId} and address = ${address} returning address`.execute(
      tx.db,
    );
    if (rows.length === 0) throw new CommandRefused(`${workspace} is not granted ${address}.`);
    await shareNumbersOf(tx, { workspaceId, workspace, isRevoked: true });
    await checkAtOnce(tx, workspaceId, now);
  });
}

/** All grants, a line each: the workspace, the address, and what is its alone by it. */
export async function listGrants(database: Database): Promise<string[]> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ id: string; workspace: string; address: string; by_name: boolean; ips: string[] }>`
      select w.id, w.name as workspace, g.address, g.by_name, array_remove(array_agg(host(a.ip) order by a.ip), null) as ips
      from trunk_grants g join workspaces w on w.id = g.workspace_id
      left join trunk_grant_addresses a on a.workspace_id = g.workspace_id and a.address = g.address and ${isGivenUp} is not true
      group by w.id, w.name, g.address, g.by_name order by w.name, g.address`.execute(db),
  );
  return rows.map(({ id, workspace, address, by_name, ips }) => {
    const alone = ips.length > 0 ? `  ${ips.join(', ')}` : '';
    return `${toId('ws', id)}  ${workspace}  ${address}${by_name ? '  by name' : alone}`;
  });
}

const isNetwork = (address: string) => isIP(address.split('/')[0]!) !== 0;

/** As grants are kept. */
function readAddress(text: string): string {
  const [base = '', bits, ...rest] = text.trim().toLowerCase().split('/');
  const family = isIP(base);
  if (family !== 0 && rest.length === 0) {
    if (bits === undefined) return plainNetwork(base);
    if (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)) return plainNetwork(`${base}/${bits}`);
  }
  const host = hostOf(text.trim());
  if (bits === undefined && isIP(host) !== 0) return host;
  if (bits === undefined && /^([a-z0-9-]+\.)*(?!\d+$)[a-z0-9-]+$/.test(host)) return host;
  throw new CommandRefused('--address must be a host such as sip.carrier.example, an IP address, or a network.');
}

/** Who else is told by name there isn't known here: they are seen once this one is no longer. */
async function refuseByName({ db }: EngineTx, workspaceId: string, address: string): Promise<void> {
  const { rows } = await sql`
    select from trunk_grants where workspace_id = ${workspaceId} and address = ${address} and by_name`.execute(db);
  if (rows.length > 0) throw new CommandRefused(`${address} is granted --by-name. Revoke that first.`);
}

interface Wanted {
  workspaceId: string;
  address: string;
  byName: boolean;
  ips: readonly string[];
}

/** Refuses what is another workspace's, and names it: the operator decides. */
async function refuseTaken(tx: EngineTx, { workspaceId, address, byName, ips }: Wanted): Promise<void> {
  const networks = [...ips, ...(isNetwork(address) ? [address] : [])];
  const { rows } = await sql<{ workspace: string; address: string; ip: string | null }>`
    with networks as (select distinct wanted from unnest(${networks}::inet[]) as wanted),
    held as (
      select workspace_id, address, null::inet as ip from trunk_grants
      where address = ${address} and not (by_name and ${byName})
      union all select workspace_id, address, ip from trunk_grant_addresses join networks on ip && wanted
        join trunk_grants using (workspace_id, address) where not (by_name and ${byName}) and ${isGivenUp} is not true
      union all select workspace_id, address, wanted from trunk_grants join networks on true
      where not (by_name and ${byName}) and case when address ~ ${IPV4} or address ~ ':' then address::inet && wanted else false end)
    select w.name as workspace, h.address, host(h.ip) as ip from held h join workspaces w on w.id = h.workspace_id
    where h.workspace_id <> ${workspaceId} limit 1`.execute(tx.db);
  const [held] = rows;
  if (!held) return;
  const where = held.ip === null ? '' : ` (${held.ip})`;
  throw new CommandRefused(
    `${address}${where} is ${held.workspace}'s by its grant of ${held.address}. If the carrier tells its customers by name or password, grant ` +
      `it to both with --by-name, to ${held.workspace} first; else revoke that.`,
  );
}

/** What PostgreSQL reads as an IPv4 address or network; a host may be named by digits too. */
const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4 = `^${OCTET}(\\.${OCTET}){3}(/(3[0-2]|[12]?[0-9]))?$`;

/** Runs a change of grants again if a number was imported elsewhere meanwhile: then it is refused in words. */
const sayingWhoHasIt = <T>(database: Database, change: (tx: EngineTx) => Promise<T>): Promise<T> =>
  database.inEngine(change).catch((error) => {
    if (!isUniqueViolation(error, 'phone_numbers_owner')) throw error;
    return database.inEngine(change);
  });

/**
 * Notes which numbers of a workspace others could have too. Refuses the change of its grants if another has one of them.
 * Those on a trunk that nobody may call over now stay as they are, and so nobody takes one until it is granted anew; for the
 * same reason a revoked grant frees none.
 */
async function shareNumbersOf(
  tx: EngineTx,
  { workspaceId, workspace, isRevoked = false }: { workspaceId: string; workspace: string; isRevoked?: boolean },
): Promise<void> {
  // A number that is being put on a trunk holds the trunk's row, and one that is imported that of the workspace.
  await sql`select from workspaces where id = ${workspaceId} for no key update`.execute(tx.db);
  const there = forWorkspace(tx, workspaceId);
  const { rows: trunks } = await sql<TrunkRow>`
    select * from trunks where workspace_id = ${workspaceId} order by id for update`.execute(tx.db);
  const isShared = await sharingNow(there);
  const [ids, shared] = [trunks.map(({ id }) => id), trunks.map((trunk) => isShared(trunk) ?? null)];
  const changed = sql`phone_numbers n join unnest(${ids}::uuid[], ${shared}::boolean[]) as t (id, shared)
    on n.workspace_id = ${workspaceId} and n.trunk_id = t.id and n.status <> 'released' and n.shared <> t.shared
    and (t.shared or not ${isRevoked})`;
  const { rows: taken } = await sql<{ phone_number: string; holder: string }>`
    select n.phone_number, w.name as holder from ${changed}
    join phone_numbers other on other.phone_number = n.phone_number and other.shared and other.workspace_id <> n.workspace_id
      and other.status in ('provisioning', 'active')
    join workspaces w on w.id = other.workspace_id
    where t.shared order by n.phone_number limit 1`.execute(tx.db);
  if (taken[0]) {
    const { phone_number: number, holder } = taken[0];
    throw new CommandRefused(
      `${holder} has ${number} too, at carriers that workspaces share. If it is ${workspace}'s, first run: trunkline-server move-number ` +
        `--number ${number} --workspace '${workspace}'. Else ${workspace} must release it first.`,
    );
  }
  await sql`
    update phone_numbers set shared = not shared where workspace_id = ${workspaceId}
      and id in (select n.id from ${changed})`.execute(tx.db);
}

/** Has a server look at once whether the trunks of a workspace may call. */
async function checkAtOnce(tx: EngineTx, workspaceId: string, now: Date): Promise<void> {
  await sql`
    update trunks set due_at = ${now}
    where workspace_id = ${workspaceId} and (status = 'active' or reason = 'not_granted')`.execute(tx.db);
}

/** The port that stands behind a host, with its colon. */
const portOf = (wanted: string) => /:\d+(?=;|$)/.exec(wanted.trim())?.[0];

async function whereTo(host: string, addresses: Addresses): Promise<{ ips: string[]; fault?: string }> {
  try {
    return { ips: await addresses(host) };
  } catch (error) {
    if (error instanceof TransportError) return { ips: [], fault: error.message };
    throw error;
  }
}

/**
 * What is granted as an address is no longer that of others, as far as only their calls led there. Answers whose it was. A name
 * takes nothing so: where it leads is up to whoever has it.
 */
async function takeLearnt({ db }: EngineTx, workspaceId: string, address: string): Promise<string[]> {
  if (isIP(address) === 0) return [];
  const { rows } = await sql<{ workspace: string; address: string }>`
    delete from trunk_grant_addresses a using workspaces w, trunk_grants g
    where a.ip = ${address}::inet and a.seen_at is not null and a.workspace_id <> ${workspaceId} and w.id = a.workspace_id
      and g.workspace_id = a.workspace_id and g.address = a.address and not g.by_name
    returning w.name as workspace, a.address`.execute(db);
  return rows.map((row) => `${row.workspace}'s (${row.address})`);
}

/** Over each transport: the records of SRV differ. */
async function addressesOf(host: string): Promise<string[]> {
  const located = await Promise.allSettled(
    (['udp', 'tcp', 'tls'] as const).map((transport) => locate(`sip:${host}`, transport, systemResolver, systemRandom)),
  );
  const targets = located.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (targets.length === 0) throw (located[0] as PromiseRejectedResult).reason;
  return [...new Set(targets.map(({ address }) => plainNetwork(address)))];
}
