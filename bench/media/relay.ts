// What the media are compared with: the least that Node can do for the same sound, in a thread of its own. It judges no
// source, fills no gap, waits for no late packet and records nothing.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { WebSocket } from 'ws';
import { settingsOf, tell } from '../child.ts';
import type { MediaCounts, MediaSettings } from './server.ts';

const FRAME = 160;
const RTP_HEADER = 12;
const PERIOD_MS = 20;
const TICK_MS = 5;
const SLOTS = PERIOD_MS / TICK_MS;

/** Sends the next frame of a call. */
type Play = () => void;

async function relay(number: number, { rtpPort, peerPort, agentPort }: MediaSettings): Promise<Play> {
  const socket = createSocket('udp4');
  socket.bind(rtpPort + 2 * number, '127.0.0.1');
  await once(socket, 'listening');
  socket.connect(peerPort + 2 * number, '127.0.0.1');
  await once(socket, 'connect');
  const agent = new WebSocket(`ws://127.0.0.1:${agentPort}/`, { perMessageDeflate: false, skipUTF8Validation: true });
  await once(agent, 'open');
  const said: Buffer[] = [];
  agent.on('message', (data: Buffer) => {
    const { media } = JSON.parse(data.toString('latin1')) as { media?: { payload: string } };
    if (media) said.push(Buffer.from(media.payload, 'base64'));
  });
  socket.on('message', (packet) => {
    const payload = packet.subarray(RTP_HEADER).toString('base64');
    agent.send(JSON.stringify({ event: 'media', streamSid: `MZ${number}`, media: { track: 'inbound', payload } }));
  });
  socket.on('error', () => {});
  let sequence = 0;
  return () => {
    const packet = Buffer.allocUnsafe(RTP_HEADER + FRAME);
    sequence += 1;
    packet.writeUInt16BE(0x8000, 0);
    packet.writeUInt16BE(sequence & 0xffff, 2);
    packet.writeUInt32BE((sequence * FRAME) % 2 ** 32, 4);
    packet.writeUInt32BE(number, 8);
    const frame = said.shift();
    if (frame) frame.copy(packet, RTP_HEADER);
    else packet.fill(0xff, RTP_HEADER);
    socket.send(packet);
  };
}

async function relayAll(settings: MediaSettings): Promise<void> {
  const slots: Play[][] = Array.from({ length: SLOTS }, () => []);
  for (let number = 0; number < settings.calls; number += 1) slots[number % SLOTS]!.push(await relay(number, settings));
  let due = performance.now();
  let slot = 0;
  const turn = () => {
    for (; due <= performance.now(); due += TICK_MS) {
      for (const play of slots[slot]!) play();
      slot = (slot + 1) % SLOTS;
    }
    setTimeout(turn, Math.ceil(due - performance.now()));
  };
  turn();
}

if (isMainThread) {
  const settings = settingsOf<MediaSettings>();
  const before = process.memoryUsage().rss;
  const thread = new Worker(new URL(import.meta.url), { workerData: settings });
  await once(thread, 'message');
  tell(0, async () => ({ rss: process.memoryUsage().rss - before }) satisfies MediaCounts);
} else {
  await relayAll(workerData as MediaSettings);
  parentPort!.postMessage('ready');
}
