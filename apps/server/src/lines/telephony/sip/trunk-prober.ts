import { createUserAgent, parseUri, type TlsOptions } from '@trunkline/sip';
import type { HostGuard } from '../../../foundation/outbound-http/url-fault.ts';
import type { TrunkProber } from '../trunk-prober.ts';
import { type GrantedAddresses, grantTargets } from './grant-targets.ts';
import { probeTrunk } from './probe-trunk.ts';
import { trunkAddress } from './trunk-address.ts';

/** Asks trunks over SIP, and takes no calls. */
export interface OpenTrunkProber extends TrunkProber {
  close(): Promise<void>;
}

/** Opens it on a free port, so that a server beside it goes on. Throws where the address is not this machine's. */
export async function openTrunkProber(
  settings: { host: string; tls: TlsOptions; publicAddress?: string; localNetworks: readonly string[] },
  trunkGuard: HostGuard,
  granted: GrantedAddresses,
): Promise<OpenTrunkProber> {
  const named = new Set<string>();
  const mayConnect = (address: string) => named.has(address) || trunkGuard.isOpenHost(address);
  const userAgent = await createUserAgent({
    ...settings,
    port: 0,
    mayConnect,
    admit: () => 'ignore',
    grant: grantTargets(granted),
  });
  return {
    probeTrunk: async (trunk) => {
      const { host, uri, transport, outboundProxy } = trunkAddress(trunk);
      // An address that the settings allow by its name is known once the name was asked for.
      const asked = outboundProxy === undefined ? host : parseUri(outboundProxy).host;
      if (trunkGuard.isAllowedHost(asked)) {
        const targets = await userAgent.locate(outboundProxy ?? uri, transport).catch(() => []);
        for (const { address } of targets) named.add(address);
      }
      return probeTrunk(userAgent, trunk);
    },
    close: () => userAgent.stop(0),
  };
}
