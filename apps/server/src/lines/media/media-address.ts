import type { AllowedAddresses } from '../../config-values.ts';
import { createAddressGuard } from '../../foundation/outbound-http/address-guard.ts';

/** Whether media may be sent to an address. */
export type MediaAddressJudge = (address: string, trusted: readonly string[]) => boolean;

/**
 * Public addresses are open, those that the settings allow, and those that the call's trunk is known to have: a stranger's
 * description, or a forged packet, can't make the server send into its own network.
 */
export function createMediaAddressJudge(allowed: AllowedAddresses): MediaAddressJudge {
  const guard = createAddressGuard(allowed);
  return (address, trusted) => trusted.includes(address) || guard.isOpenHost(address);
}

/** Whether a description says that nothing is to be sent, by an address of zeros (RFC 2543, B.5). */
export const isUnspecified = (address: string): boolean => /^[0.:]+$/.test(address);
