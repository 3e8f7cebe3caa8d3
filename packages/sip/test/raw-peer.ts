import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv4, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';
import { Framing } from '../src/framing.ts';
import { createResponse, type SipMessage, type SipRequest, type SipResponse, setBody } from '../src/message.ts';
import { parseMessage } from '../src/parse-message.ts';
import { writeMessage } from '../src/write-message.ts';

/** What a hand-driven peer answers with. */
export interface Answer {
  tag?: string;
  headers?: [name: string, value: string][];
  sdp?: string;
  phrase?: string;
}

/** A peer without any rules, driven by hand: it sends what it is told, and keeps what comes. */
export interface RawPeer {
  port: number;
  contact: string;
  /** Everything that came, in its order, again too. */
  received: SipMessage[];
  /** How many keepalives came. */
  pings(): number;
  /** The next message that nobody has taken yet; others that don't fit stay. A request that comes again is none. */
  next(what: string | number): Promise<SipMessage>;
  request(method: string): Promise<SipRequest>;
  response(status: number): Promise<SipResponse>;
  /** Whether such a message is there that nobody has taken. */
  has(what: string | number): boolean;
  respond(request: SipRequest, status: number, answer?: Answer): SipResponse;
  /** Sends anything to where the last message came from, or to a port. */
  send(message: SipMessage | string | Buffer, port?: number): void;
}

/** Over UDP, or over TCP where it listens, or TLS where it has a certificate. */
export async function startRawPeer(
  transport: 'udp' | 'tcp' | 'tls' = 'udp',
  host = '127.0.0.1',
  certificate?: { key: string; cert: string },
): Promise<RawPeer & { sockets: Socket[] }> {
  const received: SipMessage[] = [];
  const waiting: SipMessage[] = [];
  const seen = new Set<string>();
  const sockets: Socket[] = [];
  let wake = () => {};
  let pings = 0;
  let back = { port: 0, address: host };
  const take = (bytes: Buffer) => {
    const message = parseMessage(bytes);
    const key = `${message.headers.get('via')} ${message.headers.get('cseq')}`;
    const isAgain = message.kind === 'request' && message.method !== 'ACK' && seen.has(key);
    seen.add(key);
    received.push(message);
    if (!isAgain) waiting.push(message);
    wake();
  };
  const { port, send } = transport === 'udp' ? await openUdp() : await openTcp();

  async function openUdp() {
    const socket = createSocket(isIPv4(host) ? 'udp4' : 'udp6');
    socket.bind(0, host);
    await once(socket, 'listening');
    onTestFinished(() => void socket.close());
    socket.on('message', (bytes, from) => {
      back = from;
      if (bytes.length > 4) take(bytes);
      else pings += 1;
    });
    return {
      port: socket.address().port,
      send: (bytes: Buffer, to = back.port) => socket.send(bytes, to, back.address),
    };
  }

  async function openTcp() {
    const listen = (taken: (socket: Socket) => void) =>
      transport === 'tls' ? createTlsServer(certificate!, taken) : createServer(taken);
    const server = listen((socket) => {
      const framing = new Framing();
      sockets.push(socket);
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => {
        for (const frame of framing.push(chunk)) {
          if (typeof frame === 'string') pings += 1;
          else take(frame);
        }
      });
    });
    server.listen(0, host);
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    return { port: (server.address() as { port: number }).port, send: (bytes: Buffer) => sockets.at(-1)!.write(bytes) };
  }

  const fits = (message: SipMessage, what: string | number) =>
    message.kind === 'request' ? message.method === what : message.status === what;
  const peer = {
    port,
    contact: `<sip:peer@${host}:${port}${transport === 'udp' ? '' : `;transport=${transport}`}>`,
    received,
    sockets,
    pings: () => pings,
    has: (what: string | number) => waiting.some((message) => fits(message, what)),
    async next(what: string | number): Promise<SipMessage> {
      const end = Date.now() + 120_000;
      for (;;) {
        const at = waiting.findIndex((message) => fits(message, what));
        if (at >= 0) return waiting.splice(at, 1)[0]!;
        if (Date.now() > end)
          throw new Error(
            `No ${what} came, but ${waiting.map((message) => (message.kind === 'request' ? message.method : message.status)).join(', ') || 'nothing'}.`,
          );
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, 20);
        });
      }
    },
    request: async (method: string) => (await peer.next(method)) as SipRequest,
    response: async (status: number) => (await peer.next(status)) as SipResponse,
    respond(
      request: SipRequest,
      status: number,
      { tag = 'peer', headers = [], sdp, phrase }: Answer = {},
    ): SipResponse {
      const response = createResponse(request, status, tag, phrase);
      if (status < 300 && status > 100) response.headers.add('contact', peer.contact);
      for (const [name, value] of headers) response.headers.set(name, value);
      if (sdp !== undefined) setBody(response, 'application/sdp', sdp);
      peer.send(response);
      return response;
    },
    send(message: SipMessage | string | Buffer, to?: number) {
      const bytes =
        typeof message === 'string' || Buffer.isBuffer(message)
          ? Buffer.from(message)
          : Buffer.from(writeMessage(message));
      send(bytes, to);
    },
  };
  return peer;
}
