import { isIP } from 'node:net';
import { type Networks, parseNetworks } from '@trunkline/sip';
import { sql } from 'kysely';
import type { Database, Tx } from '../../foundation/database/database.ts';
import type { GrantedAddresses } from '../telephony/sip/signalling.ts';
import { covers } from './trunk-grants.ts';

interface Grant {
  workspaceId: string;
  address: string;
  byName: boolean;
}

interface Book {
  since: Date | null;
  grants: Map<string, Grant[]>;
  /** Networks that are one workspace's alone. */
  closed: { workspaceId: string; networks: Networks }[];
  /** Whose alone an address is, since a host that is granted to it led there first. */
  owners: Map<string, string>;
}

/** For so long what is granted is not read again, in milliseconds. */
const KEPT_MS = 5000;

/** On a server with one workspace all. What is granted is kept for some seconds; an address is claimed before it is called first. */
export function grantedAddresses(database: Database, now: () => number = () => performance.now()): GrantedAddresses {
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
    const { since, ...known } = await (book && now() - readAt < KEPT_MS ? book : read());
    if (since === null) return addresses;
    const name = host.toLowerCase().replace(/\.$/, '');
    const own = known.grants.get(workspaceId) ?? [];
    const grant = own.find(({ address }) => covers(address, name));
    if (!grant) return [];
    const isTaken = (address: string) =>
      known.closed.some((each) => each.workspaceId !== workspaceId && each.networks.has(address));
    const isOwn = (address: string) => own.some((each) => covers(each.address, address));
    const open = addresses.filter((address) => isOwn(address) || !isTaken(address));
    const unclaimed = open.filter((address) => !known.owners.has(address) && !isOwn(address));
    const owners = grant.byName || unclaimed.length === 0 ? known.owners : await claim(unclaimed, grant);
    return open.filter((address) => isOwn(address) || (owners.get(address) ?? workspaceId) === workspaceId);
  };

  async function claim(ips: string[], grant: Grant): Promise<Book['owners']> {
    await database.inEngine((tx) => claimAddresses(tx, ips, grant));
    return (await read()).owners;
  }
}

/** Notes that addresses are a workspace's alone, as far as they are nobody's. */
export async function claimAddresses(
  { db }: Tx,
  ips: readonly string[],
  { workspaceId, address }: Pick<Grant, 'workspaceId' | 'address'>,
): Promise<void> {
  await sql`
    insert into trunk_grant_addresses (ip, workspace_id, address, seen_at)
    select distinct ip, workspace_id, address, now()
    from trunk_grants cross join unnest(${ips}::inet[]) as ip
    where workspace_id = ${workspaceId} and address = ${address} and not by_name
    order by ip on conflict do nothing`.execute(db);
}

async function readBook({ db }: Tx): Promise<Book> {
  const installation = await sql<{ since: Date | null }>`
    select trunks_granted_since as since from installation`.execute(db);
  const { since } = installation.rows[0]!;
  const book: Book = { since, grants: new Map(), closed: [], owners: new Map() };
  if (since === null) return book;
  const grants = await sql<Grant>`
    select workspace_id as "workspaceId", address, by_name as "byName" from trunk_grants`.execute(db);
  const owners = await sql<{ ip: string; workspace_id: string }>`
    select host(ip) as ip, workspace_id from trunk_grant_addresses`.execute(db);
  for (const grant of grants.rows) {
    const { workspaceId, address, byName } = grant;
    const all = book.grants.get(workspaceId);
    if (all) all.push(grant);
    else book.grants.set(workspaceId, [grant]);
    if (!byName && isIP(address.split('/')[0]!) !== 0)
      book.closed.push({ workspaceId, networks: parseNetworks([address]) });
  }
  for (const { ip, workspace_id } of owners.rows) book.owners.set(ip, workspace_id);
  return book;
}
