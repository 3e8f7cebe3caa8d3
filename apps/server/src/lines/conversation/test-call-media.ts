import { isIPv6 } from 'node:net';
import type { CallMediaStats } from '../media/media.ts';
import type { TestCallMedia } from '../telephony/call-outcome.ts';
import type { Wire } from './leg.ts';

/** What a test call tells of its way. */
export function testCallMedia(wire: Wire, stats: CallMediaStats | undefined): TestCallMedia {
  const { codec, remoteAddress: heardFrom, packetsLostByPeer } = stats ?? {};
  return {
    ...wire,
    ...(codec && { codec }),
    ...(stats?.encryption && { encryptedWith: stats.encryption }),
    ...(heardFrom !== undefined && { heardFrom: bracketed(heardFrom) }),
    ...(packetsLostByPeer !== undefined && { packetsLostByPeer }),
    ...(stats && {
      packetsSent: stats.packetsSent,
      packetsReceived: stats.packetsReceived,
      packetsLost: stats.packetsLost,
    }),
    ...(stats && stats.packetsUndeciphered > 0 && { packetsUndeciphered: stats.packetsUndeciphered }),
  };
}

/** An address and port as media has them: IPv6 bare, and IPv4 as a socket of both families says it. */
function bracketed(heardFrom: string): string {
  const colon = heardFrom.lastIndexOf(':');
  const address = heardFrom.slice(0, colon).replace(/^::ffff:(?=[0-9.]+$)/i, '');
  return atPort(address, Number(heardFrom.slice(colon + 1)));
}

export const atPort = (address: string, port: number): string =>
  `${isIPv6(address) ? `[${address}]` : address}:${port}`;
