import { setTimeout as sleep } from 'node:timers/promises';
import { ULAW_SILENCE } from '@trunkline/media';
import { expect, test } from 'vitest';
import { talking, testPlane } from './plane.ts';
import { tone } from './tone.ts';

const plane = testPlane();
const MINUTES = 10;
const PACKET_MS = 20;
/** Every so many packets one is loud. */
const EVERY = 50;
const silence = Buffer.alloc(PACKET_MS * 8, ULAW_SILENCE);
const loud = tone(1000, PACKET_MS * 8);
const isLoud = (ulaw: Buffer) => ulaw.filter((code) => (code & 0x7f) < 0x40).length > 20;
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

test.concurrent.each([200, -200])(
  "a peer's clock that is %i ppm off for ten minutes makes nobody wait: its echo comes back as soon as at first",
  {
    timeout: (MINUTES + 2) * 60_000,
  },
  async (ppm) => {
    await using call = await talking(plane);
    const { peer, agent } = call;
    agent.connections[0]!.on('message', (data) => {
      const { event, media } = JSON.parse(String(data));
      if (event === 'media') agent.send(JSON.stringify({ event, media: { payload: media.payload } }));
    });
    const said: number[] = [];
    const began = performance.now();
    const beat = PACKET_MS * (1 - ppm / 1e6);
    for (let at = 0; at * PACKET_MS < MINUTES * 60_000; at += 1) {
      const wait = began + at * beat - performance.now();
      if (wait > 0) await sleep(wait);
      const isMark = at % EVERY === EVERY - 1;
      if (isMark) said.push(performance.now());
      peer.send(isMark ? loud : silence);
    }
    await sleep(1000);
    // A loud frame may come back in two packets.
    const heard = peer.heard.filter(({ ulaw }, at) => isLoud(ulaw) && !(at > 0 && isLoud(peer.heard[at - 1]!.ulaw)));
    const delays = said.map((at) => heard.find((packet) => packet.at > at)!.at - at).filter((delay) => delay < 900);
    const parts = Array.from({ length: MINUTES }, (_, minute) => {
      const each = delays.length / MINUTES;
      return Math.round(median(delays.slice(minute * each, (minute + 1) * each)));
    });
    expect(delays.length).toBeGreaterThan(said.length * 0.95);
    for (const part of parts) expect(Math.abs(part - parts[0]!)).toBeLessThan(60);
  },
);
