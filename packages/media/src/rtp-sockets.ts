import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4, isIPv6 } from 'node:net';
import type { Endpoint } from './peer-source.ts';

type Received = (datagram: Buffer, from: Endpoint) => void;

/**
 * The two UDP sockets of a call: RTP, and RTCP on the port above. A socket for each call costs a sixth more CPU than one
 * for all, and has a receive buffer of its own: five seconds of the call, where a shared one holds 5 ms of a thousand.
 */
export interface RtpSockets {
  sendRtp(packet: Buffer, to: Endpoint): void;
  sendRtcp(packet: Buffer, to: Endpoint): void;
  /** Hears this source only, until it is called without one. Sending to it is cheaper meanwhile. */
  connectTo(source: Endpoint | undefined): void;
  close(): void;
}

/**
 * @param host the address to bind; `::` takes both families
 * @param port even
 * @throws what `bind` answers with, such as EADDRINUSE
 */
export async function openRtpSockets(
  host: string,
  port: number,
  onRtp: Received,
  onRtcp: Received,
): Promise<RtpSockets> {
  const rtp = await bound(host, port, onRtp);
  const rtcp = await bound(host, port + 1, onRtcp).catch((error) => {
    rtp.close();
    throw error;
  });
  const toSocket = isIPv6(host) ? mapped : (address: string) => address;
  let isConnected = false;
  return {
    sendRtp: (packet, to) => {
      if (isConnected) rtp.send(packet);
      else rtp.send(packet, to.port, toSocket(to.address));
    },
    sendRtcp: (packet, to) => rtcp.send(packet, to.port, toSocket(to.address)),
    connectTo: (source) => {
      if (isConnected) rtp.disconnect();
      isConnected = false;
      if (!source) return;
      rtp.connect(source.port, toSocket(source.address));
      isConnected = connectedTo(rtp);
    },
    close: () => {
      rtp.close();
      rtcp.close();
    },
  };
}

/** Addresses are literals, so nothing is to be asked for; what is answered at once has no packet wait for it. */
const literal = (
  address: string,
  _options: unknown,
  callback: (error: null, address: string, family: number) => void,
) => callback(null, address, isIPv4(address) ? 4 : 6);

async function bound(host: string, port: number, received: Received): Promise<Socket> {
  const socket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', lookup: literal as never });
  const listening = once(socket, 'listening'); // before `bind`, which tells of it at once here
  socket.bind(port, host);
  try {
    await listening;
  } catch (error) {
    socket.close();
    throw error;
  }
  // What a network answers to a packet (no route, port closed) is no reason to end a call.
  socket.on('error', () => {});
  socket.on('message', (datagram, from) => received(datagram, { address: unmapped(from.address), port: from.port }));
  return socket;
}

/** IPv4 addresses on a socket of both families (RFC 4291, 2.5.5.2). */
const mapped = (address: string) => (isIPv4(address) ? `::ffff:${address}` : address);
const unmapped = (address: string) => (address.startsWith('::ffff:') ? address.slice(7) : address);

function connectedTo(socket: Socket): boolean {
  try {
    socket.remoteAddress();
    return true;
  } catch {
    return false;
  }
}
