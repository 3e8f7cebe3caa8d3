import type { Target } from '@trunkline/sip';
import { plainAddress } from '../../../foundation/outbound-http/address-guard.ts';

/**
 * Picks those of the addresses of a host that a workspace may reach.
 * @param workspaceId UUID
 * @param host of a URI: a name, or an IP address; undefined within a call, where only what is another's is left out
 * @param addresses where it leads
 */
export type GrantedAddresses = (
  workspaceId: string,
  host: string | undefined,
  addresses: string[],
) => Promise<string[]>;

/** Picks the targets whose addresses a workspace may reach: an IPv4 address is the same one within an IPv6 address. */
export const grantTargets =
  (granted: GrantedAddresses) =>
  async (workspaceId: string, host: string | undefined, targets: Target[]): Promise<Target[]> => {
    const all = targets.map(({ address }) => plainAddress(address));
    const open = new Set(await granted(workspaceId, host === undefined ? undefined : plainAddress(host), all));
    return targets.filter(({ address }) => open.has(plainAddress(address)));
  };
