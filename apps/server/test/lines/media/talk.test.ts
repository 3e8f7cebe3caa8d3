import { ULAW_SILENCE } from '@trunkline/media';
import type { AudioStream } from '@trunkline/sip';
import { expect, test } from 'vitest';
import { until } from '../../until.ts';
import { connection, openTestCall, talking, testPlane } from './plane.ts';
import { msOf, tone } from './tone.ts';

const plane = testPlane();
/** A frame that is surely not silence. */
const isSaid = (ulaw: Buffer) => ulaw.some((code) => (code & 0x7f) < 0x60);
/** Media time between two packets; a multiple of a packet's, or more where the machine stalled. */
const sinceBefore = (packet: { timestamp: number }, before: { timestamp: number }) =>
  (packet.timestamp - before.timestamp) >>> 0;

test.each([
  ['PCMU, 20 ms', {}, { packetMs: 20 }],
  ['PCMA, 20 ms', { codec: 'PCMA', payloadType: 8 }, { alaw: true }],
  ['PCMU, 30 ms both ways', { packetMs: 30 }, { packetMs: 30 }],
  ['PCMA, 60 ms in, 10 ms out', { codec: 'PCMA', payloadType: 8, packetMs: 10 }, { packetMs: 60, alaw: true }],
] as const)('each side hears the tone of the other, whole: %s', async (_, changes, said) => {
  const stream: Partial<AudioStream> = changes;
  const { packetMs = 20 } = stream;
  await using call = await talking(plane, { stream });
  const { agent, peer } = call;
  agent.say(tone(1000, 6400));
  agent.mark('said');
  await peer.speak(tone(400, 8160), said);
  await until(() => agent.marks().includes('said') && msOf(400, agent.sound()) >= 960);
  expect(msOf(400, agent.sound())).toBeLessThanOrEqual(1020);
  await until(() => msOf(1000, peer.sound()) >= 780);
  expect(msOf(1000, peer.sound())).toBeLessThanOrEqual(800);
  for (const [at, packet] of peer.heard.slice(1).entries()) {
    expect(packet.payload).toHaveLength(packetMs * 8);
    expect((packet.sequence - peer.heard[at]!.sequence) & 0xffff).toBe(1);
    expect(sinceBefore(packet, peer.heard[at]!) % (packetMs * 8)).toBe(0);
  }
  const stats = await call.media.stats();
  expect(stats).toMatchObject({
    packetsLost: 0,
    codec: stream.codec ?? 'PCMU',
    remoteAddress: `127.0.0.1:${peer.port}`,
  });
});

test('the first 100 ms of a greeting are heard: said before the answer, it is kept until then', async () => {
  await using call = await openTestCall(plane);
  const { media, agent, peer } = call;
  expect(await media.speak('agent', connection(agent.url))).toEqual({ connected: true });
  await until(() => agent.connections.length > 0);
  const greeting = Buffer.concat([tone(1500, 800), tone(700, 2400)]);
  agent.say(greeting);
  await media.setStream(peer.stream());
  await until(() => peer.heard.length > 5);
  expect(peer.heard.every(({ ulaw }) => !isSaid(ulaw))).toBe(true);
  expect(agent.of('start')).toHaveLength(0);
  await media.answer();
  await until(() => msOf(700, peer.sound()) >= 280);
  expect(msOf(1500, peer.sound())).toBe(100);
});

test('what the callee says before the agent is connected is kept for it', async () => {
  await using call = await openTestCall(plane);
  const { media, agent, peer } = call;
  await media.setStream(peer.stream());
  await media.answer();
  await peer.speak(tone(600, 4000));
  await media.speak('agent', connection(agent.url));
  await until(() => msOf(600, agent.sound()) >= 480);
  expect(agent.messages.slice(0, 2).map(({ event }) => event)).toEqual(['connected', 'start']);
});

test('a peer that is silent until it hears us is spoken to first, where its description says', async () => {
  await using call = await openTestCall(plane);
  const { media, peer, events } = call;
  await media.setStream(peer.stream());
  await until(() => peer.heard.length >= 3);
  expect(peer.heard[0]?.payload).toEqual(Buffer.alloc(160, ULAW_SILENCE));
  expect(peer.heard[0]?.marker).toBe(true);
  expect(events).toEqual([]);
  await media.answer();
  peer.send(Buffer.alloc(160, 1));
  await until(() => events.length === 1);
  expect(events).toEqual([{ type: 'first_packet', from: `127.0.0.1:${peer.port}` }]);
});

test('digits are told once a press, by the number that the peer gave them: "11", with lost and late packets', async () => {
  const receives = new Map([
    [0, 'PCMU'],
    [96, 'telephone-event'],
  ] as const);
  await using call = await talking(plane, { stream: { telephoneEventType: 96, receives } });
  const { agent, peer, events } = call;
  const press = (digit: number, timestamp: number, durations: number[]) => {
    for (const [at, duration] of durations.entries())
      peer.send(Buffer.from([digit, 10, duration >> 8, duration]), { payloadType: 96, timestamp, marker: at === 0 });
  };
  press(1, 1000, [160, 320, 480]);
  press(1, 3000, [160, 480, 320]);
  press(11, 5000, [800]);
  await until(() => agent.digits().length >= 3);
  expect(agent.digits()).toBe('11#');
  expect(agent.of('dtmf')[0]).toMatchObject({ dtmf: { track: 'inbound_track', digit: '1' } });
  await call.media.digit('7');
  await call.media.digit('no digit');
  await until(() => agent.digits() === '11#7');
  expect(events.filter(({ type }) => type === 'digit')).toHaveLength(4);
});

test('digits are sent to a peer that takes them', async () => {
  await using call = await talking(plane);
  await call.media.sendDigits('1x1');
  const ends = () => call.peer.heard.filter(({ payloadType, payload }) => payloadType === 101 && payload[1]! & 0x80);
  await until(() => ends().length === 6);
  expect(ends().map(({ payload }) => payload[0])).toEqual([1, 1, 1, 1, 1, 1]);
  expect(new Set(ends().map(({ timestamp }) => timestamp)).size).toBe(2);
});

test('a mark comes back when what was said before it has been played, and clear ends it at once', async () => {
  await using call = await talking(plane);
  const { agent, peer } = call;
  await until(() => peer.heard.length > 2);
  agent.say(tone(500, 1000));
  agent.say(tone(500, 2200));
  agent.mark('a');
  const began = performance.now();
  await until(() => agent.marks().includes('a'));
  const took = agent.of('mark')[0]!.at - began;
  // 400 ms, of which a thread that has stalled makes up for 100 at once.
  expect(took).toBeGreaterThan(290);
  agent.say(tone(500, 400_000));
  agent.mark('b');
  agent.mark('c');
  await until(() => isSaid(peer.heard.at(-1)!.ulaw));
  agent.clear();
  await until(() => agent.marks().length === 3);
  expect(agent.marks()).toEqual(['a', 'b', 'c']);
  await until(() => !isSaid(peer.heard.at(-1)!.ulaw));
});

test('an agent that falls behind leaves silence, and no hole in the packets', async () => {
  await using call = await talking(plane);
  const { agent, peer } = call;
  await until(() => peer.heard.length > 2);
  const said = () => peer.heard.filter(({ ulaw }) => isSaid(ulaw)).length;
  for (let chunk = 1; chunk <= 3; chunk += 1) {
    agent.say(tone(500, 800));
    await until(() => said() >= 5 * chunk && !isSaid(peer.heard.at(-1)!.ulaw));
  }
  let begins = 0;
  for (const [at, packet] of peer.heard.slice(1).entries()) {
    const before = peer.heard[at]!;
    const passed = sinceBefore(packet, before);
    const isBegin = isSaid(packet.ulaw) && !isSaid(before.ulaw);
    begins += Number(isBegin);
    expect(passed % 160).toBe(0);
    // What follows a stall begins anew too.
    expect(packet.marker).toBe(isBegin || passed > 160);
  }
  expect([peer.heard[0]!.marker, begins]).toEqual([true, 3]);
});

test('a peer that stops sending in pauses leaves the agent no gap: silence, with unbroken times', async () => {
  await using call = await talking(plane);
  const { agent, peer } = call;
  await peer.speak(tone(400, 1600));
  const before = agent.sound().length;
  await until(() => agent.sound().length >= before + 3200);
  await peer.speak(tone(400, 1600));
  await until(() => msOf(400, agent.sound()) >= 380);
  const times = agent.of('media').map(({ media }) => Number(media!.timestamp));
  expect(times).toEqual(times.map((_, at) => at * 20));
});

test('packets that are lost, and those that the peer says it has missed, are counted', async () => {
  await using call = await talking(plane);
  const { media, peer } = call;
  for (const sequence of [1, 2, 4, 5, 6, 7, 8]) peer.send(Buffer.alloc(160, 1), { sequence });
  await until(async () => (await media.stats()).packetsReceived === 7);
  await until(() => peer.heard.length > 0);
  const report = Buffer.alloc(32);
  report.set([0x81, 201, 0, 7]);
  report.writeUInt32BE(peer.heard[0]!.ssrc, 8);
  report.writeUIntBE(12, 13, 3);
  peer.sendRtcp(report);
  await until(async () => (await media.stats()).packetsLostByPeer === 12);
  const stats = await media.close();
  expect(stats).toMatchObject({ packetsReceived: 7, packetsLost: 1, packetsLostByPeer: 12 });
  await until(() => peer.reports.some((packet) => packet.includes(Buffer.from([0x81, 203, 0, 1]))));
});
