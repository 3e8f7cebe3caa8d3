import { isIP } from 'node:net';
import { parseNetworks } from '@trunkline/sip';
import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { toId } from '../../foundation/values/ids.ts';
import { type ErrorDetail, refuse } from '../../foundation/values/service-error.ts';
import type { TrunkRow } from './trunk.ts';

/** What a trunk names: whom it calls, and who may call over it. */
export type Named = Pick<TrunkRow, 'termination_url' | 'outbound_proxy' | 'ip_allowlist'>;

/** The host of a trunk's address as grants name it: in lower case, an IPv6 address without its brackets. */
export function hostOf(uri: string): string {
  const [, ipv6, name = ''] = /^(?:sips?:)?(?:\[([^\]]*)\]|([^:;]*))/i.exec(uri) ?? [];
  return (ipv6 ?? name).toLowerCase().replace(/\.$/, '');
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
  const { termination_url, outbound_proxy, ip_allowlist } = trunk;
  const named = [
    { field: 'terminationUrl', address: hostOf(termination_url) },
    ...(outbound_proxy ? [{ field: 'outboundProxy', address: hostOf(outbound_proxy) }] : []),
    ...ip_allowlist.map((entry, at) => ({ field: `ipAllowlist/${at}`, address: entry.toLowerCase() })),
  ];
  return named.filter(({ address }) => !isCovered(address));
}

/** Whether changes of a trunk change what it names. */
export const namesOthers = (changes: Partial<Record<keyof Named, unknown>>): boolean =>
  changes.termination_url !== undefined || changes.outbound_proxy !== undefined || changes.ip_allowlist !== undefined;

/** The addresses that a workspace is granted. */
async function grantsOf({ db, workspaceId }: WorkspaceTx): Promise<string[]> {
  const rows = await db.selectFrom('trunk_grants').select('address').where('workspace_id', '=', workspaceId).execute();
  return rows.map(({ address }) => address);
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
    const rows = missing.map(({ address }) => ({ workspace_id: tx.workspaceId, address, created_at: now }));
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

/** Whether an address that a trunk names is not its workspace's. */
export async function isUngranted(tx: WorkspaceTx, trunk: Named): Promise<boolean> {
  if (ungranted(trunk, coverage(await grantsOf(tx))).length === 0) return false;
  const { rows } = await sql`select from installation where trunks_granted_since is not null`.execute(tx.db);
  return rows.length > 0;
}
