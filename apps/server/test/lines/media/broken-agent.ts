// An agent that is broken in a way of its own, as a process: prints its URL, and serves until it is killed.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { FRAME, ULAW_SILENCE } from '@trunkline/media';
import { type WebSocket, WebSocketServer } from 'ws';
import { tone } from './tone.ts';

const [fault = '', host = '127.0.0.1', port = '0'] = process.argv.slice(2);

const say = (agent: WebSocket, ulaw: Buffer) =>
  agent.send(JSON.stringify({ event: 'media', media: { payload: ulaw.toString('base64') } }));

/** What each does once its call has begun. */
const faults: Record<string, (agent: WebSocket) => void> = {
  /** The model behind it refuses its key: what it tells of that is all that it does. */
  key_refused: (agent) => void setTimeout(() => agent.close(4001, 'Incorrect API key provided.'), 174),
  hangs_up: (agent) => void setTimeout(() => agent.close(1000), 174),
  crashes: () => void setTimeout(() => process.kill(process.pid, 'SIGKILL'), 300),
  /** It sends silence, as a bridge to a model that never speaks does. */
  mute: (agent) => {
    const silence = Buffer.alloc(FRAME, ULAW_SILENCE);
    const timer = setInterval(() => say(agent, silence), 20);
    agent.on('close', () => clearInterval(timer));
  },
  /** It stands still before it says a word. */
  freezes: () => void setTimeout(() => process.kill(process.pid, 'SIGSTOP'), 100),
  /** It speaks for half a minute at once, and then says what it hears; it is stopped, or cut off, from outside. */
  speaks: (agent) => {
    say(agent, tone(700, 240_000));
    agent.on('message', (data) => {
      const { media } = JSON.parse(String(data)) as { media?: { payload: string } };
      if (media) agent.send(JSON.stringify({ event: 'media', media }));
    });
  },
};

const server = new WebSocketServer({ port: Number(port), host });
server.on('connection', (agent) => {
  agent.on('error', () => {});
  agent.on('message', (data) => String(data).startsWith('{"event":"start"') && faults[fault]!(agent));
});
await once(server, 'listening');
process.stdout.write(`ws://${host}:${(server.address() as AddressInfo).port}/\n`);
