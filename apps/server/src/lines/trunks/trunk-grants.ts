import { isIP } from 'node:net';
import { parseNetworks } from '@trunkline/sip';
import { sql } from 'kysely';
import type { Database, EngineTx, WorkspaceTx } from '../../foundation/database/database.ts';
import { isUniqueViolation } from '../../foundation/database/errors.ts';
import { plainAddress } from '../../foundation/outbound-http/address-guard.ts';
import { toId } from '../../foundation/values/ids.ts';
import { type ErrorDetail, refuse, ServiceError } from '../../foundation/values/service-error.ts';
import type { TrunkRow } from './trunk.ts';

/** What a trunk names: whom it calls, and who may call over it. */
export type Named = Pick<TrunkRow, 'termination_url' | 'outbound_proxy' | 'ip_allowlist'>;

/** The host of a trunk's address as grants name it: in lower case, an IPv6 address without its brackets. */
export function hostOf(uri: string): string {
  const [, ipv6, name = ''] = /^(?:sips?:)?(?:\[([^\]]*)\]|([^:;]*))/i.exec(uri) ?? [];
  return plainNetwork((ipv6 ?? name).toLowerCase().replace(/\.$/, ''));
}

/** An address or a network, or the IPv4 one that stands in it. */
export function plainNetwork(text: string): string {
  const [address = '', bits] = text.split('/');
  const plain = plainAddress(address);
  if (bits === undefined || plain === address) return plain === address ? text : plain;
  return Number(bits) < 96 ? text : `${plain}/${Number(bits) - 96}`;
}

/** Whether a grant of a host, an address or a network holds for a host, an address or a network. */
export function covers(grant: string, wanted: string): boolean {
  if (grant === wanted) return true;
  const [network = '', prefix] = grant.split('/');
  const [address = '', bits] = wanted.split('/');
  const family = isIP(address);
  if (family === 0 || isIP(network) !== family) return false;
  const longest = family === 4 ? 32 : 128;
  return Number(prefix ?? longest) <= Number(bits ?? longest) && parseNetworks([grant]).has(address);
}

/** Judges by all of some grants whether a host, an address or a network is covered. */
export function coverage(grants: readonly string[]): (wanted: string) => boolean {
  const named = new Set(grants);
  const networks = grants.filter((grant) => isIP(grant.split('/')[0]!) !== 0);
  const all = parseNetworks(networks);
  return (wanted) => {
    if (named.has(wanted)) return true;
    const [address = '', bits] = wanted.split('/');
    return all.has(address) && (bits === undefined || networks.some((grant) => covers(grant, wanted)));
  };
}

/** What of a trunk none of some grants covers: where it stands in the trunk, and the address. */
export function ungranted(trunk: Named, isCovered: (wanted: string) => boolean): { field: string; address: string }[] {
  return namedBy(trunk).filter(({ address }) => !isCovered(address));
}

/** What a trunk names, and where that stands in it. */
function namedBy({ termination_url, outbound_proxy, ip_allowlist }: Named): { field: string; address: string }[] {
  return [
    { field: 'terminationUrl', address: hostOf(termination_url) },
    ...(outbound_proxy ? [{ field: 'outboundProxy', address: hostOf(outbound_proxy) }] : []),
    ...ip_allowlist.map((entry, at) => ({ field: `ipAllowlist/${at}`, address: plainNetwork(entry.toLowerCase()) })),
  ];
}

/** Whether changes of a trunk change what it names. */
export const namesOthers = (changes: Partial<Record<keyof Named, unknown>>): boolean =>
  changes.termination_url !== undefined || changes.outbound_proxy !== undefined || changes.ip_allowlist !== undefined;

/** The addresses that a workspace is granted. @param alone only those that are not granted by name */
async function grantsOf({ db, workspaceId }: WorkspaceTx, alone = false): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select address from trunk_grants where workspace_id = ${workspaceId} and not (by_name and ${alone})`.execute(db);
  return rows.map(({ address }) => address);
}

/** A trunk as far as it says who may call over it. */
type CalledOver = Named & Pick<TrunkRow, 'inbound_digest'>;

/**
 * Judges of a workspace's trunks whether callers of other workspaces may come from where theirs come: by what is granted
 * to it by name, or from anywhere, with a password. Undefined if whom a trunk calls is not granted: nobody calls over it.
 */
export async function sharingNow(tx: WorkspaceTx): Promise<(trunk: CalledOver) => boolean | undefined> {
  const [isGranted, isAlone] = [coverage(await grantsOf(tx)), coverage(await grantsOf(tx, true))];
  return (trunk) => {
    if (ungranted({ ...trunk, ip_allowlist: [] }, isGranted).length > 0) return undefined;
    return trunk.inbound_digest || ungranted(trunk, isAlone).some(({ address }) => isGranted(address));
  };
}

/** The same where numbers are put on a trunk: on one that nobody calls over they are in nobody's way. */
export async function sharing(tx: WorkspaceTx, callsOut: boolean): Promise<(trunk: CalledOver) => boolean> {
  if (!callsOut) return () => true;
  const isShared = await sharingNow(tx);
  return (trunk) => isShared(trunk) ?? false;
}

/**
 * Notes it of a trunk's numbers, after a change of the trunk. If another workspace has one of them where it would be shared
 * from now on, the transaction fails: `numberTaken` says so.
 */
export async function shareNumbers(tx: WorkspaceTx, trunk: TrunkRow, callsOut: boolean): Promise<void> {
  const shared = (await sharing(tx, callsOut))(trunk);
  await sql`
    update phone_numbers set shared = ${shared} where workspace_id = ${tx.workspaceId} and trunk_id = ${trunk.id}
      and status <> 'released' and shared <> ${shared}`.execute(tx.db);
}

/**
 * What a change of a trunk or a number failed with, in words if a number is another workspace's there.
 * @param path of what brings the number there, in the request
 */
export async function numberTaken(
  database: Database,
  error: unknown,
  { workspaceId, trunkId, path }: { workspaceId: string; trunkId: string | null; path: string },
): Promise<unknown> {
  if (!isUniqueViolation(error, 'phone_numbers_owner')) return error;
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ phone_number: string }>`
      select n.phone_number from phone_numbers n
      join phone_numbers other on other.phone_number = n.phone_number and other.workspace_id <> n.workspace_id
        and other.shared and other.status in ('provisioning', 'active')
      where n.workspace_id = ${workspaceId} and n.trunk_id = ${trunkId} and n.status <> 'released'
      order by n.phone_number limit 1`.execute(db),
  );
  const number = rows[0]?.phone_number ?? 'The number';
  const message = `${number} is in use at carriers that workspaces share. If it is yours, ask the operator to move it.`;
  return new ServiceError('invalid_request', message, { details: [{ path, message }] });
}

/**
 * Judges what a trunk that is being written names. Of the only workspace it is granted, so that it stays so with a second
 * one. Of several, what is not granted is refused, `invalid_request`.
 * @param path of the trunk in the request
 * @param asks whether calls leave the machine; the simulator rings nobody
 */
export async function judgeNamed(
  tx: WorkspaceTx,
  trunk: Named,
  { path, asks, now }: { path: string; asks: boolean; now: Date },
): Promise<void> {
  const missing = ungranted(trunk, coverage(await grantsOf(tx)));
  if (missing.length === 0) return;
  // With its row locked, since a second workspace may be made meanwhile.
  const { rows: installation } = await sql<{ since: Date | null }>`
    select trunks_granted_since as since from installation for share`.execute(tx.db);
  if (installation[0]!.since === null) {
    const rows = missing.map(({ address }) => ({
      workspace_id: tx.workspaceId,
      address,
      by_operator: false,
      created_at: now,
    }));
    const distinct = [...new Map(rows.map((row) => [row.address, row])).values()];
    await tx.db
      .insertInto('trunk_grants')
      .values(distinct)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  } else if (asks) {
    refuse(
      missing.map(
        ({ field, address }): ErrorDetail => ({ path: `${path}/${field}`, message: askFor(address, tx.workspaceId) }),
      ),
    );
  }
}

const askFor = (address: string, workspaceId: string) =>
  `is not granted to this workspace. Ask the operator of the server to run: trunkline-server trunks grant --workspace ${toId('ws', workspaceId)} --address ${address}`;

/** Takes back what trunks of the only workspace have named, and no longer do: as a second one is made. */
export async function dropUnnamedGrants({ db }: EngineTx): Promise<void> {
  const { rows } = await sql<Named>`select termination_url, outbound_proxy, ip_allowlist from trunks`.execute(db);
  const named = rows.flatMap((trunk) => namedBy(trunk).map(({ address }) => address));
  await sql`delete from trunk_grants where not by_operator and address <> all(${named}::text[])`.execute(db);
}

/** What is granted to each workspace; undefined if no address needs a grant. */
export async function allGrants({
  db,
}: EngineTx): Promise<((workspaceId: string) => (wanted: string) => boolean) | undefined> {
  const { rows } = await sql<{ workspace_id: string | null; addresses: string[] }>`
    select g.workspace_id, array_remove(array_agg(g.address), null) as addresses from installation i
    left join trunk_grants g on true where i.trunks_granted_since is not null group by g.workspace_id`.execute(db);
  if (rows.length === 0) return undefined;
  const granted = new Map(rows.map((row) => [row.workspace_id, coverage(row.addresses)]));
  return (workspaceId) => granted.get(workspaceId) ?? (() => false);
}

/** Whether an address that a trunk names is not its workspace's. */
export async function isUngranted(tx: WorkspaceTx, trunk: Named): Promise<boolean> {
  if (ungranted(trunk, coverage(await grantsOf(tx))).length === 0) return false;
  const { rows } = await sql`select from installation where trunks_granted_since is not null`.execute(tx.db);
  return rows.length > 0;
}
