import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import type { AllowedAddresses } from '../../config-values.ts';
import { createNames } from './names.ts';
import { OutboundError } from './outbound-error.ts';

/** Every address of a host name. Throws the system's errors, such as `ENOTFOUND`. @param key who asks, such as a workspace */
export type Resolve = (hostname: string, key: string) => Promise<LookupAddress[]>;

/**
 * Keeps requests away from the server's own network. It judges the address that is connected to, so that a name whose
 * answer changes between two questions can't lead anywhere else.
 */
export interface AddressGuard {
  /**
   * For `net.connect`, which asks it about names only. Gives the addresses that are open, or `blocked_address`. Names that
   * the settings give are the operator's, and looked up as the machine does, with its hosts file and search domains.
   * @param key who asks, such as a workspace: nobody's questions keep another's waiting
   */
  lookupFor(key: string): LookupFunction;
  /** Whether a URL's host is open: an address; of names only that of this machine is known not to be. */
  isOpenHost(hostname: string): boolean;
  /** Whether the settings name a URL's host, as a name or by its address. */
  isAllowedHost(hostname: string): boolean;
}

/**
 * @param allowed addresses and names that are open although they lie in the server's network
 * @param resolve looks up the names that the settings don't give
 * @param system looks up those that they do
 * @param own addresses and names of the server itself: they are as those of its network
 */
export function createAddressGuard(
  allowed: AllowedAddresses,
  resolve: Resolve = createNames().resolve,
  system: Resolve = (hostname) => systemLookup(hostname, { all: true, order: 'verbatim' }),
  own: readonly string[] = [],
): AddressGuard {
  const networks = new BlockList();
  for (const { address, prefix } of allowed.networks) {
    networks.addSubnet(address, prefix, isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  const hosts = new Set(allowed.hosts);
  const isAllowed = (address: string) => networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  const ownAddresses = new BlockList();
  for (const each of own) if (isIP(each) !== 0) ownAddresses.addAddress(each, isIPv6(each) ? 'ipv6' : 'ipv4');
  const ownNames = new Set(own.map(bare));
  const isOwn = (address: string) => ownAddresses.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  const isOpen = (address: string) => isAllowed(address) || (!isReserved(address) && !isOwn(address));

  const addressesOf = async (hostname: string, key: string): Promise<LookupAddress[]> => {
    const isNamed = hosts.has(hostname.toLowerCase());
    const found = await (isNamed || LOOPBACK.test(hostname) ? system : resolve)(hostname, key);
    const open = isNamed ? found : found.filter(({ address }) => isOpen(address));
    if (open.length > 0) return open;
    throw new OutboundError('blocked_address', `${hostname} has no address that may be reached.`);
  };

  return {
    lookupFor: (key) => (hostname, options, callback) => {
      addressesOf(hostname, key).then(
        (addresses) => {
          const first = addresses[0]!;
          if (options.all) callback(null, addresses);
          else callback(null, first.address, first.family);
        },
        (error) => callback(error, options.all ? [] : ''),
      );
    },
    isOpenHost: (hostname) => {
      const address = withoutBrackets(hostname);
      if (isIP(address) !== 0) return isOpen(address);
      if (ownNames.has(bare(address))) return hosts.has(address.toLowerCase());
      return !LOOPBACK.test(address) || hosts.has(address.toLowerCase()) || ['127.0.0.1', '::1'].some(isOpen);
    },
    isAllowedHost: (hostname) => {
      const address = withoutBrackets(hostname);
      return isIP(address) === 0 ? hosts.has(address.toLowerCase()) : isAllowed(address);
    },
  };
}

/** What leads to the machine itself wherever it is asked (RFC 6761, section 6.3). */
const LOOPBACK = /^(.*\.)?localhost\.?$/i;

/** A name as others write it too. */
const bare = (hostname: string) => hostname.toLowerCase().replace(/\.$/, '');

/** An IPv6 address stands in brackets in a URL. */
const withoutBrackets = (hostname: string) => hostname.replace(/^\[|\]$/g, '');

/** What IANA sets apart from the public IPv4 internet (RFC 6890 and its registry), multicast, and Azure's metadata. */
const reserved4 = new BlockList();
for (const network of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
])
  reserved4.addSubnet(network.split('/')[0]!, Number(network.split('/')[1]), 'ipv4');

/** The public IPv6 internet, and what in it leads elsewhere: protocol assignments with Teredo, examples, 6to4. */
const public6 = new BlockList();
public6.addSubnet('2000::', 3, 'ipv6');
const reserved6 = new BlockList();
reserved6.addSubnet('2001::', 23, 'ipv6');
reserved6.addSubnet('2001:db8::', 32, 'ipv6');
reserved6.addSubnet('2002::', 16, 'ipv6');
reserved6.addSubnet('3fff::', 20, 'ipv6');

/** Whether an address is not one of the public internet. IPv4 in IPv6 counts as the IPv4 address that it stands for. */
export function isReserved(address: string): boolean {
  if (!isIPv6(address)) return reserved4.check(address, 'ipv4');
  const inner = embedded4(address);
  if (inner) return reserved4.check(inner, 'ipv4');
  return !public6.check(address, 'ipv6') || reserved6.check(address, 'ipv6');
}

/** An address, or the IPv4 address that stands in it. */
export const plainAddress = (address: string): string => (isIPv6(address) && embedded4(address)) || address;

/** The IPv4 address in `::ffff:0:0/96` (mapped, RFC 4291) or `64:ff9b::/96` (NAT64, RFC 6052). */
function embedded4(address: string): string | undefined {
  const canonical = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1);
  const [, high, low] = /^(?:::ffff:|64:ff9b::)(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})$/.exec(canonical ?? '') ?? [];
  if (low === undefined) return undefined;
  const [a, b] = [Number.parseInt(high ?? '0', 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}
