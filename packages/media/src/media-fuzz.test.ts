import { expect, test } from 'vitest';
import { mutated, seeded } from '../test/mutated.ts';
import type { AudioFormat } from './audio-stream.ts';
import { FRAME } from './g711.ts';
import { InboundAudio } from './inbound-audio.ts';
import { PeerSource } from './peer-source.ts';
import { readRtcp, writeBye, writeReport } from './rtcp.ts';
import { readRtp, writeRtpHeader } from './rtp.ts';

const RUNS = { rtp: 20_000, rtcp: 10_000 };
const OWN = 99;

test(`${RUNS.rtp} mutated RTP packets are heard or left out, and no faster than speech`, () => {
  const below = seeded(1);
  const audio = new InboundAudio();
  const formats: [number, AudioFormat][] = [
    [0, 'PCMU'],
    [8, 'PCMA'],
    [101, 'telephone-event'],
  ];
  audio.expect(new Map(formats));
  let frames = 0;
  const hear = (ulaw: Buffer) => {
    expect(ulaw.length).toBe(FRAME);
    frames += 1;
  };
  audio.listen({ frame: hear, digit: () => {} }, 0);
  const source = new PeerSource({ isOpen: () => true, isNear: () => false });
  source.describe({ address: '198.51.100.7', port: 4000 }, 0);
  for (let run = 0; run < RUNS.rtp; run += 1) {
    const packet = Buffer.alloc(12 + (run % 7 ? 160 : 4), run);
    writeRtpHeader(packet, {
      payloadType: [0, 8, 101][run % 3]!,
      marker: false,
      sequence: run & 0xffff,
      timestamp: run * 160,
      ssrc: 1 + (run >> 12),
    });
    const now = run * 2;
    const read = readRtp(run % 3 ? mutated(packet, below) : packet);
    if (read && source.hear({ address: '198.51.100.7', port: 4000 }, read, now) !== 'refused') audio.hear(read, now);
    audio.tick(now);
  }
  const real = (RUNS.rtp * 2) / 20;
  expect(frames).toBeGreaterThan(real / 4);
  expect(frames).toBeLessThan(real * 2.3 + 200);
  expect(audio.reception.lost).toBeGreaterThanOrEqual(0);
  expect(audio.reception.report()?.fractionLost).toBeLessThan(256);
});

test(`${RUNS.rtcp} mutated RTCP packets are read or left out`, () => {
  const below = seeded(2);
  const report = { ssrc: OWN, fractionLost: 1, lost: 2, highestSequence: 3, jitter: 4 };
  const sender = { ssrc: 5, timestamp: 6, packets: 7, bytes: 8 };
  const samples = [
    writeReport(sender, 'peer', 1_800_000_000_000, 0, report),
    writeReport({ ...sender, packets: 0 }, 'peer', 1_800_000_000_000, 0, report),
    writeBye(5, 'peer'),
  ];
  let read = 0;
  for (let run = 0; run < RUNS.rtcp; run += 1) {
    const news = readRtcp(mutated(samples[run % samples.length]!, below), OWN);
    if (!news) continue;
    read += 1;
    expect(news.ended.length <= 31 * 32 && (news.lost ?? 0) >= 0).toBe(true);
  }
  expect(read).toBeGreaterThan(RUNS.rtcp / 10);
});
