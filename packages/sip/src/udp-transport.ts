import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import type { Addressing } from './addressing.ts';
import { plainAddress } from './networks.ts';
import { type Flow, type Target, TransportError } from './transport.ts';

/** Room for what arrives while JavaScript is busy; the kernel may give less. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
/** The shortest message with what RFC 3261 demands is longer. */
const SHORTEST_BYTES = 40;

/** One socket that sends and receives all messages, so that answers pass the NAT that requests opened. */
export interface UdpTransport {
  readonly port: number;
  flowTo(address: string, port: number): Flow;
  close(): void;
}

/**
 * @param host an address, `0.0.0.0`, or `::` for both families
 * @param port 0 for any
 */
export async function openUdp(
  host: string,
  port: number,
  addressing: Addressing,
  onDatagram: (bytes: Buffer, flow: Flow) => void,
): Promise<UdpTransport> {
  const isDual = host === '::';
  const is4 = isIPv4(host);
  const socket = createSocket({
    type: is4 ? 'udp4' : 'udp6',
    ipv6Only: !isDual && !is4,
    recvBufferSize: RECEIVE_BUFFER_BYTES,
    // All are addresses: the resolver would put each off by a turn of the event loop.
    lookup: (address, family, found) => found(null, address, family as unknown as number),
  });
  const listening = once(socket, 'listening');
  socket.bind(port, host);
  await listening;
  // What goes wrong with one datagram is its sender's to hear, by the callback of its send.
  socket.on('error', () => {});
  let isClosed = false;
  const bound = socket.address().port;

  const send = (bytes: Buffer, { address, port: peerPort }: Target) => {
    if (isClosed) return Promise.reject(new TransportError('stopped', 'The socket is closed.'));
    const to4 = isIPv4(address);
    if (to4 !== is4 && !isDual)
      return Promise.reject(new TransportError('unsupported', `The socket at ${host} does not reach ${address}.`));
    return sendDatagram(socket, bytes, peerPort, isDual && to4 ? `::ffff:${address}` : address);
  };
  const end: UdpEnd = {
    isOpen: () => !isClosed,
    localFor: (peer) => ({ host: addressing.hostFor(peer), port: bound }),
    send,
  };
  const flowTo = (address: string, peerPort: number) => new UdpFlow(end, { transport: 'udp', address, port: peerPort });

  socket.on('message', (bytes, { address, port: from }) => {
    if (bytes.length >= SHORTEST_BYTES && from > 0) onDatagram(bytes, flowTo(plainAddress(address), from));
  });
  return {
    port: bound,
    flowTo,
    close() {
      isClosed = true;
      socket.close();
    },
  };
}

/** What all flows of a socket share. */
interface UdpEnd {
  isOpen(): boolean;
  localFor(peer: string): Flow['local'];
  send(bytes: Buffer, target: Target): Promise<void>;
}

/** An address behind our socket. There is one for each datagram that comes, so it holds next to nothing. */
class UdpFlow implements Flow {
  readonly target: Target;
  readonly isInbound = false;
  readonly #end: UdpEnd;

  constructor(end: UdpEnd, target: Target) {
    this.#end = end;
    this.target = target;
  }

  get local(): Flow['local'] {
    return this.#end.localFor(this.target.address);
  }

  get isOpen(): boolean {
    return this.#end.isOpen();
  }

  send(bytes: Buffer): Promise<void> {
    return this.#end.send(bytes, this.target);
  }

  onClosed(): () => void {
    return nothingToStop;
  }
}

const nothingToStop = () => {};

const sendDatagram = (socket: Socket, bytes: Buffer, port: number, address: string) =>
  new Promise<void>((resolve, reject) => {
    socket.send(bytes, port, address, (error) => {
      if (!error) return resolve();
      const { code = '' } = error as NodeJS.ErrnoException;
      reject(
        new TransportError(code === 'ECONNREFUSED' ? 'refused' : 'unreachable', `${address}: ${code || error.message}`),
      );
    });
  });
