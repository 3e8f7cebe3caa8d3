import { createSocket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Networks, parseNetworks, plainAddress } from './networks.ts';
import { writeHost } from './uri.ts';

const LOOK_AGAIN_MS = 30_000;
/** TEST-NET-1 and its like: nothing is sent, the kernel only says which address it would send from. */
const ELSEWHERE = { 4: '192.0.2.1', 6: '2001:db8::1' } as const;

/** Knows which of our addresses a peer can reach us at, for Via and Contact. */
export interface Addressing {
  /** A host as it stands in a URI. */
  hostFor(peer: string): string;
}

/**
 * @param host what we are bound to; `0.0.0.0` and `::` mean all addresses
 * @param publicAddress what peers outside of `localNetworks` get, such as a NAT's address
 */
export async function createAddressing(
  host: string,
  publicAddress: string | undefined,
  localNetworks: readonly string[],
): Promise<Addressing> {
  const local = parseNetworks(localNetworks);
  const isWildcard = host === '0.0.0.0' || host === '::';
  const towardsAll = isWildcard ? await defaultAddresses() : {};
  let interfaces = attachedNetworks();
  let lookedAt = performance.now();
  const boundFor = (peer: string): string => {
    if (!isWildcard) return host;
    if (performance.now() - lookedAt > LOOK_AGAIN_MS) {
      interfaces = attachedNetworks();
      lookedAt = performance.now();
    }
    const attached = interfaces.find(({ network }) => network.has(peer));
    return attached?.address ?? (isIPv4(peer) ? towardsAll[4] : towardsAll[6]) ?? (isIPv4(peer) ? '127.0.0.1' : '::1');
  };
  return {
    hostFor(peer) {
      const address = plainAddress(peer);
      return writeHost(publicAddress === undefined || local.has(address) ? boundFor(address) : publicAddress);
    },
  };
}

/** Our addresses, each with the network that it stands in. */
function attachedNetworks(): { address: string; network: Networks }[] {
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .flatMap(({ address, cidr }) => (cidr === null ? [] : [{ address, network: parseNetworks([cidr]) }]));
}

async function defaultAddresses(): Promise<{ 4?: string; 6?: string }> {
  const [four, six] = await Promise.all([sourceTowards(4), sourceTowards(6)]);
  return { ...(four !== undefined && { 4: four }), ...(six !== undefined && { 6: six }) };
}

function sourceTowards(family: 4 | 6): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(`udp${family}`);
    const end = (address: string | undefined) => {
      socket.close();
      resolve(address);
    };
    socket.once('error', () => end(undefined));
    socket.connect(9, ELSEWHERE[family], () => end(socket.address().address));
  });
}
