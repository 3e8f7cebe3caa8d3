import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ajv } from 'ajv';
import { type WebSocket, WebSocketServer } from 'ws';

/** What all doubles of models can be told to do. */
export interface ServerBehaviour {
  /** The status that the handshake is answered with, instead of a session. */
  refuse?: number;
}

/** A double of a vendor's API on loopback. */
export interface ModelDouble<Session> extends AsyncDisposable {
  url: string;
  sessions: Session[];
  /** What it was told that the vendor doesn't know. */
  faults: string[];
}

/** Takes connections on loopback. @param behaviour can be changed while it runs */
export async function startModelServer(
  path: string,
  behaviour: ServerBehaviour,
  connected: (socket: WebSocket, request: IncomingMessage) => void,
): Promise<Pick<ModelDouble<unknown>, 'url' | typeof Symbol.asyncDispose>> {
  const server = new WebSocketServer({
    ...{ port: 0, host: '127.0.0.1' },
    verifyClient: (_, done) => (behaviour.refuse ? done(false, behaviour.refuse) : done(true)),
  });
  await once(server, 'listening');
  server.on('connection', (socket, request) => {
    socket.on('error', () => {});
    connected(socket, request);
  });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    [Symbol.asyncDispose]: async () => {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What is wrong with a message, if anything is. */
type FaultOf = (message: object) => string | undefined;

/** Judges messages by schemas that a vendor's own types make. @param kind what these call one */
export function vendorTypes(
  file: string,
  kind: 'Event' | 'Message',
): { toldFault: FaultOf; check: (said: object) => void } {
  const ajv = new Ajv({ strict: false });
  ajv.addSchema(JSON.parse(readFileSync(new URL(`./generated/${file}.schema.json`, import.meta.url), 'utf8')), file);
  const faults = (side: 'Client' | 'Server'): FaultOf => {
    const isKnown = ajv.getSchema(`${file}#/definitions/${side}${kind}`)!;
    return (message) => (isKnown(message) ? undefined : ajv.errorsText(isKnown.errors));
  };
  const [toldFault, saidFault] = [faults('Client'), faults('Server')];
  return {
    toldFault,
    check: (said) => {
      const fault = saidFault(said);
      if (fault !== undefined) throw new Error(`The double says ${JSON.stringify(said).slice(0, 100)}: ${fault}`);
    },
  };
}

/** Starts the double of a vendor, whose sessions keep what they were told. */
export async function startModelDouble<Told extends object, Session extends { told: Told[] }>({
  path,
  behaviour,
  toldFault,
  open,
  take,
}: {
  path: string;
  behaviour: ServerBehaviour;
  toldFault: FaultOf;
  open: (socket: WebSocket, request: IncomingMessage) => Session;
  /** A session was told something. */
  take: (session: Session, message: Told) => void;
}): Promise<ModelDouble<Session>> {
  const sessions: Session[] = [];
  const faults: string[] = [];
  const server = await startModelServer(path, behaviour, (socket, request) => {
    const session = open(socket, request);
    sessions.push(session);
    socket.on('message', (data) => {
      const message: Told = JSON.parse(String(data));
      const fault = toldFault(message);
      if (fault !== undefined) faults.push(`${JSON.stringify(message).slice(0, 100)}: ${fault}`);
      session.told.push(message);
      take(session, message);
    });
  });
  return { ...server, sessions, faults };
}
