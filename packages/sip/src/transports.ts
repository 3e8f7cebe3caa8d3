import { createAddressing } from './addressing.ts';
import type { SipRequest } from './message.ts';
import { isPrivateAddress } from './networks.ts';
import { parseMessage } from './parse-message.ts';
import { noteSource, sourceTarget } from './response-path.ts';
import { type StreamContext, StreamTransport, type TlsOptions } from './stream-transport.ts';
import { SipSyntaxError } from './syntax.ts';
import type { Timers } from './timers.ts';
import { type Flow, type Received, type Target, TransportError } from './transport.ts';
import { openUdp, type UdpTransport } from './udp-transport.ts';

export interface TransportOptions {
  /** The address to bind to: one of the machine's, `0.0.0.0` (the default), or `::` for both families. */
  host?: string;
  /** Of UDP and TCP; 0 for any. 5060 by default. */
  port?: number;
  /** TLS: what to trust, what to show, where to listen. */
  tls?: TlsOptions;
  /** What Via and Contact say to peers outside of `localNetworks`: the address of a NAT in front of us. */
  publicAddress?: string;
  /** Networks, as `10.0.0.0/8`, whose peers reach us without that NAT. */
  localNetworks?: readonly string[];
  /** Judges each resolved address when it is to be connected to; false refuses it. By default all are allowed. */
  mayConnect?: (address: string, port: number) => boolean;
  /**
   * Whether an address is of a peer that calls are expected from: of the 2,000 connections that others may have open to us
   * over TCP and TLS a quarter is kept for those. By default nobody is.
   */
  isKnown?: (address: string) => boolean;
}

/** UDP, TCP and TLS as one (RFC 3261 section 18). */
export interface Transports {
  readonly port: number;
  readonly tlsPort: number | undefined;
  /** A way to a target. Rejects with a `TransportError`: then nothing was sent. */
  open(target: Target): Promise<Flow>;
  /** The way on which a request is answered (section 18.2.2). */
  openBack(request: SipRequest, flow: Flow): Flow | Promise<Flow>;
  close(): void;
}

const PORT_TRIES = 20;

/** @param onMessage gets each message that can be read; all else is dropped without an answer */
export async function openTransports(
  options: TransportOptions,
  timers: Timers,
  onMessage: (received: Received) => void,
): Promise<Transports> {
  const {
    host = '0.0.0.0',
    port = 5060,
    tls = {},
    publicAddress,
    localNetworks = [],
    mayConnect = () => true,
    isKnown = () => false,
  } = options;
  const addressing = await createAddressing(host, publicAddress, localNetworks);
  const receive = (bytes: Buffer, flow: Flow) => {
    const message = readMessage(bytes, flow);
    if (message) onMessage({ message, flow });
  };
  const context: StreamContext = { host, addressing, timers, tls, isKnown, onMessage: receive };
  const streams = new StreamTransport(context);
  const udp = await openBoth(port, (wanted) => openUdp(host, wanted, addressing, receive), streams);
  let tlsPort: number | undefined;
  try {
    if (tls.port !== undefined) tlsPort = await streams.listen('tls', tls.port);
  } catch (error) {
    udp.close();
    streams.close();
    throw error;
  }
  let isClosed = false;
  return {
    port: udp.port,
    tlsPort,
    async open(target) {
      if (isClosed) throw new TransportError('stopped', 'The user agent is stopped.');
      if (!mayConnect(target.address, target.port)) {
        const what = isPrivateAddress(target.address) ? 'a private address' : 'an address';
        throw new TransportError('not_allowed', `${target.address} is ${what} that is not allowed.`);
      }
      return target.transport === 'udp' ? udp.flowTo(target.address, target.port) : streams.open(target);
    },
    openBack(request, flow) {
      const target = sourceTarget(request, flow.target);
      if (target.transport === 'udp')
        return target.port === flow.target.port ? flow : udp.flowTo(target.address, target.port);
      return flow.isOpen ? flow : streams.open(target);
    },
    close() {
      isClosed = true;
      udp.close();
      streams.close();
    },
  };
}

/** UDP and TCP on one port. Where any will do and TCP's is taken, another is tried. */
async function openBoth(
  port: number,
  open: (port: number) => Promise<UdpTransport>,
  streams: StreamTransport,
): Promise<UdpTransport> {
  for (let tries = 1; ; tries += 1) {
    const udp = await open(port);
    try {
      await streams.listen('tcp', udp.port);
      return udp;
    } catch (error) {
      udp.close();
      if (port !== 0 || tries === PORT_TRIES) throw error;
    }
  }
}

/** The message, with what its top Via must note of where it came from; undefined where it is none. */
function readMessage(bytes: Buffer, flow: Flow): Received['message'] | undefined {
  try {
    const message = parseMessage(bytes);
    if (message.kind === 'request') noteSource(message, flow.target);
    return message;
  } catch (error) {
    if (error instanceof SipSyntaxError) return undefined;
    throw error;
  }
}
