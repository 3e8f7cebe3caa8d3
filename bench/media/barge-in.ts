import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Media, startMedia } from '../../apps/server/src/lines/media/media.ts';
import { percentile } from '../rounds.ts';

const HEADER = 12;
const FRAME = 160;
const PERIOD_MS = 20;
const SILENCE = 0xff;
/** Any sound that is none. */
const SOUND = 0x2a;
const KEYS = 101;
/** Before it is interrupted a voice has spoken for so long. */
const SPOKEN_MS = 300;
/** After which nothing that was said before comes any more. */
const QUIET_MS = 400;

/** How long after an interruption the callee heard the first silence, in milliseconds. */
export interface Lateness {
  p50: number;
  p99: number;
}

const receives = new Map<number, 'PCMU' | 'telephone-event'>([
  [0, 'PCMU'],
  [KEYS, 'telephone-event'],
]);
const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };

/** Interrupts a speech model, by its own word that the callee speaks, and a script, by a key, so many times. */
export async function bargeIns(count: number): Promise<{ byModel: Lateness; byKey: Lateness }> {
  const { media } = startMedia({
    ...{ workers: 1, host: '127.0.0.1', portMin: 26_000, portMax: 26_199, peerAddresses: loopback },
    ...{ agentAddresses: loopback, onThreadDied: (error) => Promise.reject(error ?? new Error('The thread died.')) },
  });
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const byModel: number[] = [];
    const byKey: number[] = [];
    for (let at = 0; at < count; at += 1) {
      byModel.push(await interruptedModel(media, server, port));
      byKey.push(await interruptedScript(media));
    }
    const lateness = (times: number[]) => ({ p50: percentile(times, 0.5), p99: percentile(times, 0.99) });
    return { byModel: lateness(byModel), byKey: lateness(byKey) };
  } finally {
    server.close();
    await media.stop();
  }
}

/** A telephone that hears, and presses keys. */
class Phone {
  #socket: Socket;
  /** When it last heard a sound, and first none after that. */
  #soundAt = 0;
  #silentAt = 0;
  #timer: NodeJS.Timeout;
  #sequence = 0;

  constructor(socket: Socket, port: number) {
    this.#socket = socket;
    socket.connect(port, '127.0.0.1');
    // The call may be closed before it.
    socket.on('error', () => {});
    socket.on('message', (packet) => {
      const isSound = packet.subarray(HEADER).some((each) => each !== SILENCE);
      if (isSound) this.#soundAt = performance.now();
      else if (this.#silentAt < this.#soundAt) this.#silentAt = performance.now();
    });
    this.#timer = setInterval(() => this.#send(0, Buffer.alloc(FRAME, SILENCE)), PERIOD_MS);
  }

  #send(type: number, payload: Buffer): void {
    const header = Buffer.alloc(HEADER);
    this.#sequence += 1;
    header[0] = 0x80;
    header[1] = type;
    header.writeUInt16BE(this.#sequence & 0xffff, 2);
    header.writeUInt32BE((this.#sequence * FRAME) >>> 0, 4);
    header.writeUInt32BE(1, 8);
    this.#socket.send(Buffer.concat([header, payload]));
  }

  /** The end of a key that was pressed (RFC 4733): one packet of it is enough. */
  press(digit: number): void {
    this.#send(KEYS, Buffer.from([digit, 0x8a, 0x03, 0x20]));
  }

  async hears(): Promise<void> {
    while (this.#soundAt === 0) await sleep(1);
  }

  /** @returns how long after `interrupt` was called it was silent, and stayed so */
  async lateness(interrupt: () => void): Promise<number> {
    await this.hears();
    await sleep(SPOKEN_MS);
    const at = performance.now();
    interrupt();
    while (this.#silentAt < this.#soundAt || performance.now() - Math.max(at, this.#soundAt) < QUIET_MS) await sleep(5);
    return this.#silentAt - at;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }
}

/** A call that is up, with a telephone. */
async function call(media: Media, onAsk: (what: unknown) => Promise<unknown>) {
  const opened = await media.openCall({ owner: 'measured', silenceMs: 60_000, onEvent: () => {}, onAsk });
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  await opened.setStream({
    remote: { address: '127.0.0.1', port, rtcpAddress: '127.0.0.1', rtcpPort: port + 1 },
    ...{ codec: 'PCMU', payloadType: 0, telephoneEventType: KEYS, receives },
    ...{ packetMs: 20, direction: 'sendrecv' },
  });
  await opened.answer();
  return { opened, phone: new Phone(socket, opened.rtpPort) };
}

async function interruptedModel(media: Media, server: WebSocketServer, port: number): Promise<number> {
  const connected = once(server, 'connection') as Promise<[WebSocket]>;
  const { opened, phone } = await call(media, async () => undefined);
  const joined = opened.speak('realtime', {
    ...{ protocol: 'openai_realtime', url: `ws://127.0.0.1:${port}/`, model: 'double', instructions: 'Speak.' },
    ...{ speaksFirst: false, tools: [], silenceMs: 60_000, accountSid: 'account' },
  });
  const [socket] = await connected;
  const say = (message: object) => socket.send(JSON.stringify(message));
  await once(socket, 'message');
  say({ type: 'session.updated' });
  await joined;
  const delta = Buffer.alloc(FRAME * 500, SOUND).toString('base64');
  say({ type: 'response.output_audio.delta', item_id: 'item', delta });
  const late = await phone.lateness(() => say({ type: 'input_audio_buffer.speech_started', item_id: 'person' }));
  await opened.close();
  phone.close();
  return late;
}

async function interruptedScript(media: Media): Promise<number> {
  const sound = new SharedArrayBuffer(FRAME * 500);
  new Uint8Array(sound).fill(SOUND);
  const { opened, phone } = await call(media, async (what) =>
    (what as { type: string }).type === 'sound' ? sound : undefined,
  );
  await opened.speak('script', {
    steps: [{ id: 'ask', type: 'ask', soundId: 'sound', keys: '1', timeoutSeconds: 60 }],
    ...{ variables: {}, language: 'en', keptTexts: [], readyMs: 0 },
  });
  const late = await phone.lateness(() => phone.press(1));
  await opened.close();
  phone.close();
  return late;
}
