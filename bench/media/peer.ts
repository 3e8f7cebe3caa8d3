// What peer.c is, where there is no C compiler: the same arguments and the same lines. It costs more CPU than what it
// measures, so its figures are of no use but to show that all works.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { WebSocketServer } from 'ws';
import { percentile } from '../rounds.ts';

const FRAME = 160;
const PERIOD_MS = 20;
const [calls = 0, agentPort = 0, serverPort = 0, ownPort = 0, warmUp = 0, measured = 0] = process.argv
  .slice(2)
  .map(Number);

const silence = Buffer.alloc(FRAME, 0xff).toString('base64');
const answer = JSON.stringify({ event: 'media', media: { payload: silence } });
/** What speech models say (OpenAI's Realtime API). */
const answerOfModel = JSON.stringify({ type: 'response.output_audio.delta', item_id: 'item', delta: silence });
const jitter: number[] = [0];
const toAgent: number[] = [0];
let [sent, received, lost, isMeasuring] = [0, 0, 0, false];
/** What is sent within this time is counted, also if it arrives after it. */
let [from, to] = [0, 0];
const isCounted = (sentAt: number) => sentAt >= from && sentAt < to;

/** What an agent, or a speech model, is told. */
interface Heard {
  media?: { payload: string };
  type?: string;
  audio?: string;
}

const agents = new WebSocketServer({ port: agentPort, host: '127.0.0.1' });
agents.on('connection', (agent) =>
  agent.on('message', (data) => {
    const { media, type, audio } = JSON.parse(String(data)) as Heard;
    if (type === 'session.update') agent.send(JSON.stringify({ type: 'session.updated' }));
    const payload = media?.payload ?? audio;
    if (payload === undefined) return;
    const sentAt = Buffer.from(payload, 'base64').readDoubleLE(0);
    if (isCounted(sentAt)) toAgent.push(performance.now() - sentAt);
    agent.send(media ? answer : answerOfModel);
  }),
);

interface Phone {
  socket: Socket;
  sequence: number;
  due: number;
}

async function openPhone(number: number): Promise<Phone> {
  const socket = createSocket('udp4');
  socket.bind(ownPort + 2 * number, '127.0.0.1');
  await once(socket, 'listening');
  let last: { sequence: number; at: number } | undefined;
  socket.on('message', (packet) => {
    const [sequence, at] = [packet.readUInt16BE(2), performance.now()];
    if (last && isMeasuring) {
      received += 1;
      lost += ((sequence - last.sequence - 1) << 16) >> 16;
      jitter.push(Math.abs(at - last.at - PERIOD_MS));
    }
    last = { sequence, at };
  });
  return { socket, sequence: 0, due: 0 };
}

function say(phone: Phone, number: number): void {
  const packet = Buffer.alloc(12 + FRAME, 0xff);
  phone.sequence += 1;
  packet.writeUInt16BE(0x8000, 0);
  packet.writeUInt16BE(phone.sequence & 0xffff, 2);
  packet.writeUInt32BE(phone.sequence * FRAME, 4);
  packet.writeUInt32BE(number + 1, 8);
  const sentAt = performance.now();
  packet.writeDoubleLE(sentAt, 12);
  phone.socket.send(packet, serverPort + 2 * number, '127.0.0.1');
  if (isCounted(sentAt)) sent += 1;
}

const phones = await Promise.all(Array.from({ length: calls }, (_, number) => openPhone(number)));
console.log('listening');
await once(createInterface({ input: process.stdin }), 'line');
const start = performance.now();
for (const [number, phone] of phones.entries()) phone.due = start + (PERIOD_MS * number) / calls;
[from, to] = [start + warmUp * 1000, start + (warmUp + measured) * 1000];
for (let time = start; time < to; time = performance.now()) {
  if (!isMeasuring && time >= from) {
    isMeasuring = true;
    console.log('window');
  }
  for (const [number, phone] of phones.entries()) {
    for (; phone.due <= time; phone.due += PERIOD_MS) say(phone, number);
  }
  await new Promise((resolve) => setTimeout(resolve, 1));
}
isMeasuring = false;
console.log('end');
await new Promise((resolve) => setTimeout(resolve, 1000));
const found = {
  sent,
  atAgent: toAgent.length,
  received,
  lost,
  jitterP99: percentile(jitter, 0.99),
  jitterMax: percentile(jitter, 1),
  toAgentP50: percentile(toAgent, 0.5),
  toAgentP99: percentile(toAgent, 0.99),
};
process.stdout.write(`${JSON.stringify(found)}\n`, () => process.exit());
