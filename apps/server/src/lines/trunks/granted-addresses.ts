import { isIP } from 'node:net';
import { type Networks, parseNetworks } from '@trunkline/sip';
import { sql } from 'kysely';
import type { Database, Tx } from '../../foundation/database/database.ts';
import type { GrantedAddresses } from '../telephony/sip/grant-targets.ts';
import { coverage, covers } from './trunk-grants.ts';

interface Grant {
  workspaceId: string;
  address: string;
  byName: boolean;
}

interface Book {
  /** Whether addresses must be granted: there are several workspaces. */
  isStrict: boolean;
  workspaces: Map<string, { grants: Grant[]; covers: (address: string) => boolean }>;
  /** Networks that are one workspace's alone, or of some that are told by name. */
  closed: { workspaceId: string; byName: boolean; networks: Networks }[];
  /** The grant of the host that led to an address first; `isStale` if that should be noted again. */
  owners: Map<string, Grant & { isStale: boolean }>;
  /** Grants of which no more addresses are noted. */
  full: Set<string>;
}

export interface GrantedAddressesOptions {
  /** Milliseconds of a clock that only goes forward. */
  now: () => number;
  /** Nothing is noted. */
  isReadOnly: boolean;
}

/** For so long what is granted is not read again, in milliseconds. */
const KEPT_MS = 5000;

/** On a server with one workspace all. What is granted is kept for some seconds; an address is claimed before it is called first. */
export function grantedAddresses(
  database: Database,
  { now = () => performance.now(), isReadOnly = false }: Partial<GrantedAddressesOptions> = {},
): GrantedAddresses {
  let book: Promise<Book> | undefined;
  let readAt = 0;
  const read = () => {
    const before = book;
    readAt = now();
    const reading = database.inEngine(readBook).catch((error) => {
      readAt = Number.NEGATIVE_INFINITY;
      if (before) return before;
      throw error;
    });
    book = reading;
    return reading;
  };

  return async (workspaceId, host, addresses) => {
    const name = host?.toLowerCase().replace(/\.$/, '');
    const isFresh = book !== undefined && now() - readAt < KEPT_MS;
    let known = await (isFresh ? book! : read());
    const find = () => known.workspaces.get(workspaceId)?.grants.find(({ address }) => covers(address, name!));
    // It may have been granted a moment ago.
    if (name !== undefined && !find() && isFresh) known = await read();
    const grant = name === undefined ? undefined : find();
    if (name !== undefined && !grant) return known.isStrict ? [] : addresses;
    const isOwn = known.workspaces.get(workspaceId)?.covers ?? (() => false);
    const isToldByName = grant?.byName ?? true;
    const isTaken = (address: string) =>
      known.closed.some(
        (each) => each.workspaceId !== workspaceId && !(each.byName && isToldByName) && each.networks.has(address),
      );
    const unclaimed = addresses.filter((address) => !known.owners.has(address) && !isOwn(address) && !isTaken(address));
    const stale = addresses.filter((address) => {
      const owner = known.owners.get(address);
      return owner?.isStale && owner.workspaceId === workspaceId;
    });
    const claims = grant && unclaimed.length > 0 && !known.full.has(keyOf(grant));
    if (!isReadOnly && (claims || (grant && stale.length > 0))) {
      await database.inEngine(async (tx) => {
        await seeAddresses(tx, stale, workspaceId);
        if (claims) await claimAddresses(tx, unclaimed, grant);
      });
      known = await read();
    }
    if (!known.isStrict) return addresses;
    const isOpen = (address: string) => {
      const owner = known.owners.get(address);
      const isShared = owner === undefined || owner.workspaceId === workspaceId || (owner.byName && isToldByName);
      return isShared && !isTaken(address);
    };
    return addresses.filter((address) => isOwn(address) || isOpen(address));
  };
}

const keyOf = ({ workspaceId, address }: Pick<Grant, 'workspaceId' | 'address'>) => `${workspaceId} ${address}`;

/** A name may lead elsewhere each minute; of so many addresses it is noted. */
const MOST_ADDRESSES = 256;

/** What only calls led to is given up if none has for so many days. */
const LEARNT_DAYS = 30;
/** Whether a row of `trunk_grant_addresses` is given up. */
export const isGivenUp = sql<boolean>`seen_at < clock_timestamp() - make_interval(days => ${LEARNT_DAYS})`;

/**
 * Notes that a granted host leads to addresses, as far as no other did before: whose they are then hangs on that grant.
 * @param isGranting as the operator grants it: it is not given up then
 */
export async function claimAddresses(
  { db }: Tx,
  ips: readonly string[],
  { workspaceId, address }: Pick<Grant, 'workspaceId' | 'address'>,
  isGranting = false,
): Promise<void> {
  await sql`delete from trunk_grant_addresses where ${isGivenUp}`.execute(db);
  await sql`
    insert into trunk_grant_addresses as a (ip, workspace_id, address, seen_at)
    select ip, workspace_id, address, case when not ${isGranting} then clock_timestamp() end
    from trunk_grants g cross join (select distinct unnest(${ips}::inet[]) as ip) as led
    where workspace_id = ${workspaceId} and address = ${address}
      and (select count(*) from trunk_grant_addresses a
        where a.workspace_id = g.workspace_id and a.address = g.address) < ${MOST_ADDRESSES}
    order by ip on conflict (ip) do update set address = excluded.address, seen_at = null
    where ${isGranting} and a.seen_at is not null and a.workspace_id = excluded.workspace_id`.execute(db);
}

/** Notes that addresses of a workspace, which calls led to, are still led to. */
async function seeAddresses({ db }: Tx, ips: readonly string[], workspaceId: string): Promise<void> {
  await sql`
    update trunk_grant_addresses set seen_at = clock_timestamp()
    where ip = any(${ips}::inet[]) and workspace_id = ${workspaceId} and seen_at is not null`.execute(db);
}

async function readBook({ db }: Tx): Promise<Book> {
  const installation = await sql<{ since: Date | null }>`
    select trunks_granted_since as since from installation`.execute(db);
  const isStrict = installation.rows[0]!.since !== null;
  const grants = await sql<Grant>`
    select workspace_id as "workspaceId", address, by_name as "byName" from trunk_grants`.execute(db);
  const owners = await sql<{ ip: string } & Grant & { isStale: boolean }>`
    select host(ip) as ip, workspace_id as "workspaceId", address, by_name as "byName",
      coalesce(seen_at < clock_timestamp() - interval '1 day', false) as "isStale"
    from trunk_grant_addresses join trunk_grants using (workspace_id, address)
    where ${isGivenUp} is not true`.execute(db);
  const book: Book = { isStrict, workspaces: new Map(), closed: [], owners: new Map(), full: new Set() };
  for (const grant of grants.rows) {
    const { workspaceId, address, byName } = grant;
    const all = book.workspaces.get(workspaceId)?.grants;
    if (all) all.push(grant);
    else book.workspaces.set(workspaceId, { grants: [grant], covers: () => false });
    if (isIP(address.split('/')[0]!) !== 0)
      book.closed.push({ workspaceId, byName, networks: parseNetworks([address]) });
  }
  for (const each of book.workspaces.values()) each.covers = coverage(each.grants.map(({ address }) => address));
  const noted = new Map<string, number>();
  for (const { ip, ...owner } of owners.rows) {
    book.owners.set(ip, owner);
    const count = (noted.get(keyOf(owner)) ?? 0) + 1;
    noted.set(keyOf(owner), count);
    if (count >= MOST_ADDRESSES) book.full.add(keyOf(owner));
  }
  return book;
}
