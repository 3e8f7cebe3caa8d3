import type { IsOpenAddress } from '@trunkline/media';
import type { AllowedAddresses } from '../../config-values.ts';
import { createAddressGuard } from '../../foundation/outbound-http/address-guard.ts';

/**
 * Public addresses are open, those that the settings allow, and those that the call's trunk is known to have: a stranger's
 * description, or a forged packet, can't make the server send into its own network.
 */
export function createMediaAddressJudge(allowed: AllowedAddresses): IsOpenAddress {
  const guard = createAddressGuard(allowed);
  return (address, trusted) => trusted.includes(address) || guard.isOpenHost(address);
}
