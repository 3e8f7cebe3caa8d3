import type { AudioFormat } from '@trunkline/sip';
import { expect, test } from 'vitest';
import { readAgentMessage } from './agent-messages.ts';
import { FRAME } from './g711.ts';
import { InboundAudio } from './inbound-audio.ts';
import { PeerSource } from './peer-source.ts';
import { Playout } from './playout.ts';
import { readRtcp, writeBye, writeReport } from './rtcp.ts';
import { readRtp, writeRtpHeader } from './rtp.ts';

const RUNS = { rtp: 20_000, rtcp: 10_000, messages: 20_000 };
const OWN = 99;

/** Numbers below 1 from a seed (mulberry32), so that what fails once fails again. */
function seeded(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

/** A few bytes changed, cut, repeated or put in. */
function mutated(from: Buffer, below: (limit: number) => number): Buffer {
  let result = Buffer.from(from);
  for (let changes = 1 + below(4); changes > 0; changes -= 1) {
    const at = below(result.length + 1);
    const act = below(4);
    if (act === 0 && result.length > 0) result[Math.min(at, result.length - 1)] = below(256);
    else if (act === 1) result = result.subarray(0, at);
    else if (act === 2)
      result = Buffer.concat([result.subarray(0, at), Buffer.alloc(below(40), below(256)), result.subarray(at)]);
    else result = Buffer.concat([result, result.subarray(at)]).subarray(0, 70_000);
  }
  return result;
}

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
  const source = new PeerSource(() => true);
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

test(`${RUNS.messages} mutated messages of an agent are taken or left out, and what it says stays bounded`, () => {
  const below = seeded(3);
  const marks: string[] = [];
  const playout = new Playout((name) => marks.push(name));
  const samples = [
    { event: 'media', streamSid: 'MZ1', media: { payload: Buffer.alloc(160, 7).toString('base64') } },
    { event: 'media', media: { payload: Buffer.alloc(8000, 7).toString('base64') } },
    { event: 'mark', streamSid: 'MZ1', mark: { name: 'sentence 1' } },
    { event: 'clear', streamSid: 'MZ1' },
  ].map((message) => Buffer.from(JSON.stringify(message)));
  const frame = Buffer.alloc(FRAME);
  let taken = 0;
  for (let run = 0; run < RUNS.messages; run += 1) {
    const message = readAgentMessage(mutated(samples[run % samples.length]!, below));
    if (message) taken += 1;
    if (message?.event === 'media') playout.push(message.audio);
    else if (message?.event === 'mark') playout.mark(message.name);
    else if (message) playout.clear();
    if (run % 5 === 0) playout.next(frame);
    expect(playout.queued >= 0 && playout.queued <= 8000 * 300).toBe(true);
  }
  expect(taken).toBeGreaterThan(RUNS.messages / 10);
  expect(marks.every((name) => name.length <= 1000)).toBe(true);
});
