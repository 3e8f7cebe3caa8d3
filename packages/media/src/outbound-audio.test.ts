import { expect, test } from 'vitest';
import type { AudioStream } from './audio-stream.ts';
import { ulawToAlaw } from './g711.ts';
import { OutboundAudio } from './outbound-audio.ts';
import { readRtp } from './rtp.ts';
import { ToneReceiver } from './touch-tone.ts';

const stream: AudioStream = {
  remote: { address: '198.51.100.7', port: 4000, rtcpAddress: '198.51.100.7', rtcpPort: 4001 },
  codec: 'PCMU',
  payloadType: 0,
  telephoneEventType: 96,
  receives: new Map(),
  packetMs: 20,
  direction: 'sendrecv',
};
const said = Buffer.alloc(160, 0x12);

function sending(of = stream) {
  const audio = new OutboundAudio();
  return { audio, next: (isTalking = true) => readRtp(audio.packet(said, isTalking, of))! };
}

test('packets follow each other, and the first of a talkspurt bears the marker', () => {
  const { audio, next } = sending();
  const packets = [next(false), next(false), next(), next(), next(false), next()];
  for (const [at, packet] of packets.slice(1).entries()) {
    expect((packet.sequence - packets[at]!.sequence) & 0xffff).toBe(1);
    expect((packet.timestamp - packets[at]!.timestamp) >>> 0).toBe(160);
    expect(packet.ssrc).toBe(packets[0]!.ssrc);
  }
  expect(packets.map(({ marker }) => marker)).toEqual([true, false, true, false, false, true]);
  expect(audio.state).toMatchObject({ packets: 6, bytes: 960 });
});

test("sound goes out in the peer's codec, under its number", () => {
  const { next } = sending({ ...stream, codec: 'PCMA', payloadType: 110 });
  expect(next()).toMatchObject({ payloadType: 110, payload: ulawToAlaw(said) });
});

test('time that passes without packets moves the timestamp, not the sequence', () => {
  const { audio, next } = sending();
  const before = next();
  audio.pass(500);
  const after = next();
  expect((after.timestamp - before.timestamp) >>> 0).toBe(160 + 4000);
  expect((after.sequence - before.sequence) & 0xffff).toBe(1);
  expect(after.marker).toBe(true);
});

test('digits take the place of sound, under their own number; a peer that takes none hears tones, and sound after them', () => {
  const { audio, next } = sending();
  audio.digits.add('7');
  const packets = Array.from({ length: 8 }, () => next());
  expect(packets.map(({ payloadType }) => payloadType)).toEqual([96, 96, 96, 96, 96, 96, 96, 0]);
  expect(new Set(packets.slice(0, 7).map(({ timestamp }) => timestamp)).size).toBe(1);
  expect((packets[7]!.timestamp - packets[0]!.timestamp) >>> 0).toBe(7 * 160);
  expect(packets[0]!.payload[0]).toBe(7);
  const deaf = sending({ ...stream, telephoneEventType: undefined });
  deaf.audio.digits.add('7');
  const heard = Array.from({ length: 10 }, () => deaf.next());
  expect(new Set(heard.map(({ payloadType }) => payloadType))).toEqual(new Set([0]));
  expect(new ToneReceiver().hear(Buffer.concat(heard.map(({ payload }) => payload)))).toBe('7');
  expect(heard.at(-1)!.payload).toEqual(said);
});

test('for 300 ms after a tone its digit is an echo, and no other; after an event none is', () => {
  const { audio, next } = sending({ ...stream, telephoneEventType: undefined });
  const echoes = () => [...'57'].filter((digit) => audio.echoes(digit)).join('');
  expect(echoes()).toBe('');
  audio.digits.add('7');
  for (let packet = 0; packet < 5 + 14; packet += 1) {
    next();
    expect(echoes()).toBe('7');
  }
  audio.pass(20);
  expect(echoes()).toBe('');
  const told = sending();
  told.audio.digits.add('7');
  told.next();
  expect(told.audio.echoes('7')).toBe(false);
});
