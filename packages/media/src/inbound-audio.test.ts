import { expect, test } from 'vitest';
import type { AudioFormat } from './audio-stream.ts';
import { pcmToUlaw, ULAW_SILENCE, ulawPcm, ulawToAlaw } from './g711.ts';
import { InboundAudio } from './inbound-audio.ts';

const formats = new Map<number, AudioFormat>([
  [0, 'PCMU'],
  [8, 'PCMA'],
  [96, 'telephone-event'],
]);

function listening() {
  const audio = new InboundAudio();
  const frames: number[] = [];
  const digits: string[] = [];
  let last: Buffer = Buffer.alloc(0);
  audio.expect(formats);
  audio.listen(
    {
      frame: (ulaw) => {
        frames.push(ulaw[0]!);
        last = ulaw;
      },
      digit: (digit) => digits.push(digit),
    },
    0,
  );
  const hear = (
    sequence: number,
    now: number,
    code = sequence & 0xff,
    { payloadType = 0, ssrc = 1, bytes = 160 } = {},
  ) =>
    audio.hear(
      {
        payloadType,
        marker: false,
        sequence: sequence & 0xffff,
        timestamp: sequence * 160,
        ssrc,
        payload: Buffer.alloc(bytes, code),
      },
      now,
    );
  return { audio, frames, digits, hear, last: () => last };
}

test('each packet is decoded by its own payload type', () => {
  const { frames, hear, last } = listening();
  hear(1, 0, 0x10);
  hear(2, 20, ulawToAlaw(Buffer.from([0x20]))[0], { payloadType: 8 });
  hear(3, 40, 0x30, { payloadType: 18 });
  hear(4, 60, 0x40);
  expect(frames).toEqual([0x10, 0x20, 0x40]);
  expect(last()).toEqual(Buffer.alloc(160, 0x40));
});

test.each([
  [80, 6],
  [240, 4],
  [320, 3],
  [480, 2],
  [100, 8],
])('packets of %d bytes are heard in frames of 20 ms', (bytes, packets) => {
  const { frames, hear, last } = listening();
  for (let at = 0; at < packets; at += 1) hear(at, (at * bytes) / 8, 7, { bytes });
  expect(frames).toHaveLength(Math.floor((bytes * packets) / 160));
  expect(last()).toEqual(Buffer.alloc(160, 7));
});

test('order is put right, duplicates left out, and the frame before stands for a lost one', () => {
  const { frames, hear } = listening();
  for (const [at, sequence] of [
    65_534, 65_535, 65_537, 65_536, 65_538, 65_538, 65_540, 65_541, 65_542, 65_543,
  ].entries())
    hear(sequence, at * 20);
  expect(frames).toEqual([254, 255, 0, 1, 2, 2, 4, 5, 6, 7]);
});

test('lost frames in a row fade: twice by half, then there is silence, and nothing comes back after a pause', () => {
  const { audio, frames, hear } = listening();
  const loud = pcmToUlaw(8000);
  hear(1, 0, loud);
  hear(7, 20, 7);
  audio.tick(81);
  const [second, third] = [pcmToUlaw(4000), pcmToUlaw(2000)].map((code) => ulawPcm[code]!);
  const heard = frames.map((code) => ulawPcm[code]!);
  expect(heard.slice(0, 2)).toEqual([ulawPcm[loud], ulawPcm[loud]]);
  expect(Math.abs(heard[2]! - second!)).toBeLessThan(200);
  expect(Math.abs(heard[3]! - third!)).toBeLessThan(200);
  expect(frames.slice(4, 7)).toEqual([ULAW_SILENCE, ULAW_SILENCE, 7]);

  const after = listening();
  after.hear(1, 0, loud);
  after.audio.tick(100);
  after.hear(6, 110, 7);
  after.audio.tick(200);
  expect(after.frames.filter((code) => code === loud)).toHaveLength(1);
});

test('a pause of the sender is filled with silence after 60 ms, at the beat, until it speaks again', () => {
  const { audio, frames, hear } = listening();
  hear(1, 0);
  for (let now = 20; now < 60; now += 20) audio.tick(now);
  expect(frames).toEqual([1]);
  for (let now = 60; now <= 1000; now += 20) audio.tick(now);
  expect(frames).toHaveLength(1 + 49);
  hear(2, 1005);
  audio.tick(1020);
  expect(frames.slice(-2)).toEqual([ULAW_SILENCE, 2]);
});

test('silence is filled in from the answer on, before anything was heard, and during digits and comfort noise', () => {
  const { audio, frames, hear } = listening();
  for (let now = 0; now <= 200; now += 20) audio.tick(now);
  expect(frames).toHaveLength(9);
  for (let now = 200; now <= 400; now += 20) {
    hear(now / 20, now, 0, { payloadType: now % 40 ? 13 : 96, bytes: 1 });
    audio.tick(now);
  }
  expect(frames.length).toBe(19);
  expect(new Set(frames)).toEqual(new Set([ULAW_SILENCE]));
});

test('frames that were lost in a pause are not filled in twice', () => {
  const { audio, frames, hear } = listening();
  hear(1, 0);
  for (let now = 20; now <= 500; now += 20) audio.tick(now);
  for (let sequence = 26; sequence < 30; sequence += 1) hear(sequence, sequence * 20 - 20);
  expect(frames.filter((code) => code === ULAW_SILENCE)).toHaveLength(24);
  expect(frames.slice(-4)).toEqual([26, 27, 28, 29]);
});

test('a stream of another SSRC is believed after three packets; single ones are not heard', () => {
  const { frames, hear } = listening();
  hear(1, 0);
  hear(500, 20, 99, { ssrc: 2 });
  hear(2, 20);
  hear(501, 40, 99, { ssrc: 2 });
  hear(502, 60, 99, { ssrc: 2 });
  expect(frames).toEqual([1, 2]);
  hear(503, 80, 50, { ssrc: 2 });
  expect(frames).toEqual([1, 2, 50]);
  expect(listening().audio.reception.lost).toBe(0);
});

test('after BYE for its stream, or another source, the next one is heard at once', () => {
  const { audio, frames, hear } = listening();
  hear(1, 0);
  audio.endStream(7);
  hear(500, 20, 60, { ssrc: 2 });
  audio.endStream(1);
  hear(501, 40, 61, { ssrc: 2 });
  audio.restart();
  hear(9000, 60, 62, { ssrc: 3 });
  expect(frames).toEqual([1, 61, 62]);
});

test('a flood is heard no faster than speech, and packets that no telephone sends not at all', () => {
  const { audio, frames, hear } = listening();
  for (let sequence = 0; sequence < 10_000; sequence += 1) hear(sequence, 1);
  expect(frames.length).toBeLessThan(110);
  const before = frames.length;
  hear(20_000, 5000, 1, { bytes: 8000 });
  expect(frames).toHaveLength(before);
  expect(audio.reception.received).toBeLessThan(110);
});

test('nothing is told before anybody listens', () => {
  const audio = new InboundAudio();
  audio.expect(formats);
  audio.hear({ payloadType: 0, marker: false, sequence: 1, timestamp: 1, ssrc: 1, payload: Buffer.alloc(160) }, 5);
  audio.tick(500);
  expect([audio.heardAt, audio.reception.received]).toEqual([5, 1]);
});

test("a sender's clock that is 200 ppm off for 10 minutes neither loses nor adds a frame", () => {
  for (const off of [1 + 200e-6, 1 - 200e-6]) {
    const { audio, frames, hear } = listening();
    for (let at = 0; at < 30_000; at += 1) {
      hear(at, at * 20 * off, 5);
      audio.tick(at * 20 * off);
    }
    expect(frames).toHaveLength(30_000);
  }
});
