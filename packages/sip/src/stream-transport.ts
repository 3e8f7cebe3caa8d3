import { once } from 'node:events';
import { connect as connectTcp, createServer, isIP, isIPv4, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer, rootCertificates } from 'node:tls';
import type { Addressing } from './addressing.ts';
import { ConnectionRoom } from './connection-room.ts';
import { plainAddress } from './networks.ts';
import { createStreamFlow } from './stream-flow.ts';
import type { Timers } from './timers.ts';
import { type Flow, type Target, TransportError } from './transport.ts';

const CONNECT_MS = 5000;
/** In which a stranger who has connected must have sent a message. */
const SILENT_MS = 10_000;

/** TLS: PEM texts. */
export interface TlsOptions {
  key?: string | Buffer;
  cert?: string | Buffer;
  /** Certificates to trust besides those that Node trusts. */
  ca?: string | Buffer | (string | Buffer)[];
  /** Where to listen; 0 for any port. Needs `key` and `cert`. Without it only connections that we open speak TLS. */
  port?: number;
}

export interface StreamContext {
  /** What we are bound to. */
  host: string;
  addressing: Addressing;
  timers: Timers;
  tls: TlsOptions;
  /** Whether an address is of a peer that calls are expected from. */
  isKnown(address: string): boolean;
  onMessage(bytes: Buffer, flow: Flow): void;
}

/** TCP and TLS: what listens, and connections by address and name. */
export class StreamTransport {
  readonly #context: StreamContext;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  /** By transport, address, port and server name: a connection whose peer proved one name serves no other. */
  readonly #pool = new Map<string, Promise<Flow>>();
  readonly #listening: Partial<Record<Target['transport'], number>> = {};
  readonly #room: ConnectionRoom;

  constructor(context: StreamContext) {
    this.#context = context;
    this.#room = new ConnectionRoom(context.isKnown);
  }

  /** @returns the port */
  async listen(transport: 'tcp' | 'tls', port: number): Promise<number> {
    const { tls, host } = this.#context;
    const accept = (socket: Socket) => this.#accept(socket, transport);
    const server =
      transport === 'tcp'
        ? createServer()
        : createTlsServer({ key: tls.key, cert: tls.cert, minVersion: 'TLSv1.2', handshakeTimeout: CONNECT_MS });
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    server.on('connection', (socket: Socket) => {
      this.#track(socket);
      // Before any handshake: those that never end one take places too.
      if (!this.#admit(socket)) socket.destroy();
      else if (transport === 'tcp') accept(socket);
    });
    if (transport === 'tls') server.on('secureConnection', accept);
    server.listen({ port, host, ipv6Only: host !== '::' && !isIPv4(host) });
    await once(server, 'listening');
    this.#servers.push(server);
    const bound = (server.address() as { port: number }).port;
    this.#listening[transport] = bound;
    return bound;
  }

  /** An open connection to a peer, or a new one. Rejects with a `TransportError`: then nothing was sent. */
  async open(target: Target): Promise<Flow> {
    const key = keyOf(target);
    const known = this.#pool.get(key);
    const flow = await known;
    if (flow?.isOpen) return flow;
    if (known && this.#pool.get(key) === known) this.#pool.delete(key);
    const opening = this.#pool.get(key) ?? this.#connect(target);
    this.#pool.set(key, opening);
    try {
      return await opening;
    } catch (error) {
      if (this.#pool.get(key) === opening) this.#pool.delete(key);
      throw error;
    }
  }

  close(): void {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#pool.clear();
  }

  #admit(socket: Socket): boolean {
    const leave = socket.remoteAddress === undefined ? undefined : this.#room.enter(plainAddress(socket.remoteAddress));
    if (leave) socket.once('close', leave);
    return leave !== undefined;
  }

  #accept(socket: Socket, transport: 'tcp' | 'tls'): void {
    if (socket.remoteAddress === undefined) return void socket.destroy();
    const target: Target = { transport, address: plainAddress(socket.remoteAddress), port: socket.remotePort ?? 0 };
    const silence = this.#room.isKnown(target.address)
      ? undefined
      : this.#context.timers.after(SILENT_MS, () => socket.destroy());
    const flow = this.#createFlow(socket, target, true, () => silence?.clear());
    flow.onClosed(() => silence?.clear());
    // Requests of ours to the address that such a peer names, as its Contact does, find the connection (RFC 5923).
    const key = keyOf(target);
    const opened = Promise.resolve(flow);
    this.#pool.set(key, opened);
    flow.onClosed(() => this.#pool.get(key) === opened && this.#pool.delete(key));
  }

  #createFlow(socket: Socket, target: Target, isInbound: boolean, onAny = () => {}): Flow {
    const host = this.#context.addressing.hostFor(target.address);
    // Without a port that listens, a peer can reach us by this connection only.
    const port = this.#listening[target.transport] ?? socket.localPort ?? 0;
    return createStreamFlow(socket, target, { host, port }, isInbound, (bytes, flow) => {
      onAny();
      this.#context.onMessage(bytes, flow);
    });
  }

  #connect(target: Target): Promise<Flow> {
    return new Promise((resolve, reject) => {
      const socket = target.transport === 'tls' ? this.#connectTls(target) : connectTcp(this.#socketOptions(target));
      this.#track(socket);
      const fail = (error: TransportError) => {
        timer.clear();
        socket.destroy();
        reject(error);
      };
      const timer = this.#context.timers.after(CONNECT_MS, () =>
        fail(
          new TransportError(
            'timeout',
            `No connection with ${target.address}:${target.port} in ${CONNECT_MS / 1000} s.`,
          ),
        ),
      );
      socket.once('error', (error) => fail(connectError(target, error)));
      socket.once('close', () =>
        fail(new TransportError('lost', `${target.address}:${target.port} closed the connection.`)),
      );
      socket.once(target.transport === 'tls' ? 'secureConnect' : 'connect', () => {
        timer.clear();
        const flow = this.#createFlow(socket, target, false);
        flow.onClosed(() => this.#pool.delete(keyOf(target)));
        resolve(flow);
      });
    });
  }

  #connectTls(target: Target): Socket {
    const { ca, key, cert } = this.#context.tls;
    const name = target.serverName;
    return connectTls({
      ...this.#socketOptions(target),
      minVersion: 'TLSv1.2',
      // Node compares the certificate with this name, else with the address (RFC 5922 section 7).
      ...(name !== undefined && isIP(name) === 0 && { servername: name }),
      ...(ca !== undefined && { ca: [...rootCertificates, ...[ca].flat()] }),
      ...(key !== undefined && cert !== undefined && { key, cert }),
    });
  }

  #socketOptions(target: Target) {
    const { host } = this.#context;
    const isWildcard = host === '0.0.0.0' || host === '::';
    const localAddress = !isWildcard && isIPv4(host) === isIPv4(target.address) ? { localAddress: host } : {};
    return { host: target.address, port: target.port, ...localAddress };
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    // Until a flow listens for errors.
    socket.on('error', () => {});
  }
}

const keyOf = ({ transport, address, port, serverName }: Target) =>
  `${transport}|${address}|${port}|${serverName ?? ''}`;

function connectError(target: Target, error: NodeJS.ErrnoException): TransportError {
  const { code = '' } = error;
  const where = `${target.address}:${target.port}`;
  if (code === 'ECONNREFUSED') return new TransportError('refused', `${where} refuses connections.`);
  if (code === 'ETIMEDOUT') return new TransportError('timeout', `${where} does not answer.`);
  if (/UNREACH|EADDRNOTAVAIL|EINVAL|EACCES|EPERM/.test(code))
    return new TransportError('unreachable', `${where} is not reachable: ${code}.`);
  if (target.transport === 'tls' && code !== 'ECONNRESET')
    return new TransportError('tls', `TLS with ${where}: ${error.message}`);
  return new TransportError('lost', `The connection with ${where} failed: ${code || error.message}`);
}
