import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { tone } from './tone.ts';

interface Message {
  event: string;
  sequenceNumber?: string;
  streamSid?: string;
  start?: { accountSid: string; callSid: string; streamSid: string; customParameters: Record<string, string> };
  media?: { payload: string; timestamp: string; chunk: string; track: string };
  dtmf?: { digit: string };
  mark?: { name: string };
}

/** An agent on loopback: takes any connection, keeps what it is told. */
export interface Agent {
  url: string;
  messages: (Message & { at: number })[];
  headers: IncomingHttpHeaders[];
  connections: WebSocket[];
  /** Those that it has answered. */
  pings: number;
  /** What it has heard, as µ-law. */
  sound(): Buffer;
  digits(): string;
  marks(): string[];
  of(event: string): (Message & { at: number })[];
  say(audio: Buffer): void;
  mark(name: string): void;
  clear(): void;
  /** Sends any text over the last connection. */
  send(text: string): void;
  /** Takes no connection any more: its port is free, those that are open stay. */
  release(): void;
  stop(): Promise<void>;
}

/** Says a word on a connection, so that its agent counts as one that talks. */
export const sayHello = (socket: WebSocket): void =>
  socket.send(JSON.stringify({ event: 'media', media: { payload: tone(600, 1600).toString('base64') } }));

/** @param connected is called with each connection */
export async function startAgent(connected: (socket: WebSocket) => void = () => {}): Promise<Agent> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const messages: Agent['messages'] = [];
  const headers: IncomingHttpHeaders[] = [];
  const connections: WebSocket[] = [];
  server.on('connection', (socket, request) => {
    connections.push(socket);
    headers.push(request.headers);
    socket.on('message', (data) => messages.push({ ...JSON.parse(String(data)), at: performance.now() }));
    socket.on('error', () => {});
    socket.on('ping', () => {
      agent.pings += 1;
    });
    connected(socket);
  });
  const of = (event: string) => messages.filter((message) => message.event === event);
  const send = (text: string) => connections.at(-1)!.send(text);
  const agent: Agent = {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    messages,
    headers,
    connections,
    pings: 0,
    of,
    send,
    sound: () => Buffer.concat(of('media').map(({ media }) => Buffer.from(media!.payload, 'base64'))),
    digits: () =>
      of('dtmf')
        .map(({ dtmf }) => dtmf!.digit)
        .join(''),
    marks: () => of('mark').map(({ mark }) => mark!.name),
    say: (audio) => send(JSON.stringify({ event: 'media', media: { payload: audio.toString('base64') } })),
    mark: (name) => send(JSON.stringify({ event: 'mark', mark: { name } })),
    clear: () => send('{"event":"clear"}'),
    release: () => server.close(),
    stop: async () => {
      for (const socket of connections) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return agent;
}
