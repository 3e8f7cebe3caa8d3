import type { CallGateway } from './call-gateway.ts';
import type { AccountProvider, NumberMarket } from './number-market.ts';
import type { TrunkProber } from './trunk-prober.ts';

/** Who carries the calls of a provider's numbers: by the ports that it has. */
export interface Carrier {
  calls: CallGateway;
  /** Where numbers can be bought of it without an account. */
  numbers?: NumberMarket;
  /** Where they can be bought with an account of the workspace's. */
  accounts?: AccountProvider;
  /** Where it calls over the trunks of customers, and can ask these. */
  trunks?: TrunkProber;
}

/** The carriers that there are adapters for, by the provider's name of a phone number. */
export type Carriers = ReadonlyMap<string, Carrier>;

/** One of the ports of all the carriers that have it, by the provider's name. */
export function portsOf<P extends keyof Carrier>(
  carriers: Carriers,
  port: P,
): ReadonlyMap<string, NonNullable<Carrier[P]>> {
  return new Map([...carriers].flatMap(([name, { [port]: found }]) => (found ? [[name, found] as const] : [])));
}
