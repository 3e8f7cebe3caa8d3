import { BlockList, isIP, isIPv4 } from 'node:net';

/** A set of addresses and networks. */
export interface Networks {
  has(address: string): boolean;
}

/**
 * @param entries addresses, or networks as `10.0.0.0/8`
 * @throws Error naming the entry that is neither
 */
export function parseNetworks(entries: readonly string[]): Networks {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix, ...rest] = entry.trim().split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    const longest = family === 'ipv4' ? 32 : 128;
    if (
      isIP(address) === 0 ||
      rest.length > 0 ||
      (prefix !== undefined && !(/^\d{1,3}$/.test(prefix) && Number(prefix) <= longest))
    )
      throw new Error(`This is neither an address nor a network such as 10.0.0.0/8: ${entry}`);
    list.addSubnet(address, prefix === undefined ? longest : Number(prefix), family);
  }
  return { has: (address) => isIP(address) !== 0 && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6') };
}

const notPublic = parseNetworks([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::/128',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
]);

/** Loopback, link-local, and private addresses (RFC 1918, 4193, 6598): not reachable from elsewhere. */
export const isPrivateAddress = (address: string): boolean => notPublic.has(plainAddress(address));

/** An IPv4 address that stands in an IPv6 one, as dual sockets show it, by itself. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
