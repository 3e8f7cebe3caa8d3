import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { NoMediaRoomError } from '@trunkline/media';
import { expect, test } from 'vitest';
import { until } from '../../until.ts';
import { startPeer } from './peer.ts';
import { connection, openTestCall, talking, testPlane } from './plane.ts';
import { msOf, tone } from './tone.ts';

const plane = testPlane();
/** Only Linux has more of 127.0.0.0/8 than its first address. */
const onLinux = test.skipIf(process.platform !== 'linux');

test('a source at the described address speaks from any port, and is spoken to there', async () => {
  await using call = await talking(plane);
  const { media, peer, agent } = call;
  const nat = await startPeer(media.rtpPort);
  const speaking = nat.speak(tone(400, 4000));
  await until(async () => (await media.stats()).remoteAddress === `127.0.0.1:${nat.port}`);
  agent.say(tone(1000, 1600));
  await until(() => msOf(1000, nat.sound()) >= 180);
  expect(msOf(1000, peer.sound())).toBe(0);
  await speaking;
  nat.close();
});

onLinux(
  'a blind spray gets no packet and no digit beside a peer that was heard: early, while it is silent, and on hold',
  async () => {
    await using call = await openTestCall(plane);
    const { media, peer, agent, events } = call;
    const stranger = await startPeer(media.rtpPort, '127.0.0.2');
    const digit = Buffer.from([5, 0x80 | 10, 0x06, 0x40]);
    const spray = async () => {
      for (let turn = 0; turn < 3; turn += 1) stranger.send(digit, { payloadType: 101 });
      await stranger.speak(tone(2000, 20_000));
    };
    await media.setStream(peer.stream());
    await peer.speak(tone(400, 800));
    await spray();
    expect(await media.speak('agent', connection(agent.url))).toMatchObject({ connected: true });
    await media.answer();
    agent.say(tone(1000, 8000));
    await spray();
    await media.setStream(peer.stream({ direction: 'recvonly' }));
    await spray();
    await media.setStream(peer.stream());
    await spray();
    expect(stranger.heard).toHaveLength(0);
    expect(msOf(2000, agent.sound())).toBe(0);
    expect(events.filter(({ type }) => type === 'digit')).toEqual([]);
    expect(msOf(1000, peer.sound())).toBeGreaterThan(500);
    stranger.close();
  },
);

onLinux(
  'a stranger is followed if nobody else was heard, and the peer takes the call back with one packet, for good',
  async () => {
    await using call = await talking(plane);
    const { media, peer, agent, events } = call;
    const other = await startPeer(media.rtpPort, '127.0.0.2');
    const followed = async () => (await media.stats()).remoteAddress;
    await other.speak(tone(2000, 12_000));
    expect(await followed()).toBeUndefined();
    await Promise.all([
      other.speak(tone(2000, 24_000)),
      until(async () => (await followed()) === `127.0.0.2:${other.port}`),
    ]);
    agent.say(tone(1000, 1600));
    await until(() => msOf(1000, other.sound()) >= 180);
    expect((await media.stats()).packetsRefused).toBeGreaterThan(0);
    expect(events.filter(({ type }) => type === 'first_packet')).toHaveLength(1);
    const speaking = other.speak(tone(2000, 8000));
    peer.send(tone(400, 160));
    await until(async () => (await followed()) === `127.0.0.1:${peer.port}`);
    agent.say(tone(1000, 1600));
    await until(() => msOf(1000, peer.sound()) >= 180);
    await speaking;
    await other.speak(tone(2000, 20_000));
    expect(await followed()).toBe(`127.0.0.1:${peer.port}`);
    other.close();
  },
);

onLinux('who is beside the signalling takes the call in a pause, and the described address takes it back', async () => {
  await using call = await openTestCall(plane);
  const { media, peer } = call;
  await media.setStream(peer.stream(), ['127.0.0.9']);
  await media.answer();
  const followed = async () => (await media.stats()).remoteAddress;
  await peer.speak(tone(400, 800));
  const near = await startPeer(media.rtpPort, '127.0.0.2');
  const speaking = near.speak(tone(2000, 16_000));
  await until(async () => (await followed()) === `127.0.0.2:${near.port}`);
  peer.send(tone(400, 160));
  await until(async () => (await followed()) === `127.0.0.1:${peer.port}`);
  await peer.speak(tone(400, 4000));
  expect(await followed()).toBe(`127.0.0.1:${peer.port}`);
  await speaking;
  near.close();
});

onLinux('a re-INVITE moves the call to its address, and back', async () => {
  await using call = await talking(plane);
  const { media, peer, agent } = call;
  const moved = await startPeer(media.rtpPort, '127.0.0.2');
  await peer.speak(tone(400, 800));
  await media.setStream(moved.stream());
  await until(() => moved.heard.length > 3);
  const before = peer.heard.length;
  await moved.speak(tone(650, 3200));
  await peer.speak(tone(400, 800));
  await until(() => msOf(650, agent.sound()) >= 360);
  expect(msOf(400, agent.sound())).toBeLessThanOrEqual(100);
  expect(peer.heard.length - before).toBeLessThan(3);
  await media.setStream(peer.stream());
  const heard = peer.heard.length;
  await until(() => peer.heard.length > heard + 3);
  moved.close();
});

test('a codec that is changed in the call is spoken from then on', async () => {
  await using call = await talking(plane);
  const { media, peer, agent } = call;
  await until(() => peer.heard.length > 3);
  await media.setStream(peer.stream({ codec: 'PCMA', payloadType: 8, packetMs: 40 }));
  await until(() => peer.heard.at(-1)?.payloadType === 8);
  await until(() => peer.heard.at(-1)?.payload.length === 320);
  await peer.speak(tone(400, 3200), { alaw: true });
  await until(() => msOf(400, agent.sound()) >= 360);
  expect((await media.stats()).codec).toBe('PCMA');
});

test('on hold nothing is sent and no silence is told; after it both go on', async () => {
  await using call = await openTestCall(plane, 400);
  const { media, peer, events } = call;
  const silences = () => events.filter(({ type }) => type === 'no_media').length;
  await media.setStream(peer.stream());
  await media.answer();
  await until(() => peer.heard.length > 3);
  for (const direction of ['recvonly', 'inactive'] as const) {
    const zeros = { address: '0.0.0.0', port: peer.port, rtcpAddress: '0.0.0.0', rtcpPort: peer.port + 1 };
    await media.setStream(peer.stream({ direction, ...(direction === 'recvonly' ? { remote: zeros } : {}) }));
    const heard = peer.heard.length;
    await sleep(500);
    expect(peer.heard.length - heard).toBeLessThan(3);
    expect(silences()).toBe(0);
  }
  await media.setStream(peer.stream());
  await until(() => silences() === 1);
  expect(events.at(-1)).toEqual({ type: 'no_media', heardBefore: false });
  expect(peer.heard.at(-1)!.sequence).toBe((peer.heard[0]!.sequence + peer.heard.length - 1) & 0xffff);
  await sleep(500);
  expect(silences()).toBe(1);
  peer.send(Buffer.alloc(160, 1));
  await until(() => silences() === 2);
  expect(events.at(-1)).toEqual({ type: 'no_media', heardBefore: true });
});

test('a description that leads into the network of the server is sent nothing, and who is behind it is waited for', async () => {
  await using call = await openTestCall(plane);
  const { media, peer, agent } = call;
  const inside = { address: '10.0.0.1', port: 4000, rtcpAddress: '10.0.0.1', rtcpPort: 4001 };
  await media.setStream(peer.stream({ remote: inside }), ['127.0.0.9']);
  expect(await media.speak('agent', connection(agent.url))).toMatchObject({ connected: true });
  await media.answer();
  agent.say(tone(1000, 800));
  await sleep(300);
  expect(await media.stats()).toMatchObject({ packetsSent: 0 });
  // From the network that its signalling comes from.
  await peer.speak(tone(400, 1600));
  agent.say(tone(1000, 1600));
  await until(() => msOf(1000, peer.sound()) >= 180);
});

test('a description of the network of the server is open if the trunk is known to be there', async () => {
  await using call = await openTestCall(plane);
  const { media, peer } = call;
  const inside = { address: '10.0.0.1', port: 4000, rtcpAddress: '10.0.0.1', rtcpPort: 4001 };
  await media.setStream(peer.stream({ remote: inside }), ['10.0.0.1']);
  await until(async () => (await media.stats()).packetsSent > 0);
  await media.setStream(peer.stream({ remote: { ...peer.stream().remote, rtcpAddress: '10.0.0.1' } }));
  await until(() => peer.heard.length > 0);
});

test('a range whose ports are all taken says so, and ports that another process has are left to it', async () => {
  const taken = createSocket('udp4');
  // Below the ports that the kernel gives to anybody's sockets, and those that other tests take.
  const first = 9_000 + 4 * (process.pid % 200);
  taken.bind(first, '127.0.0.1');
  await once(taken, 'listening');
  const small = testPlane({ portMin: first, portMax: first + 3 });
  const onEvent = () => {};
  const call = await small.openCall({ owner: 'ours', silenceMs: 1000, onEvent });
  expect(call.rtpPort).toBe(first + 2);
  await expect(small.openCall({ owner: 'ours', silenceMs: 1000, onEvent })).rejects.toThrow(NoMediaRoomError);
  await call.close();
  await expect(call.stats()).rejects.toThrow('No call');
  await expect(small.openCall({ owner: 'ours', silenceMs: 1000, onEvent })).rejects.toThrow(
    `No RTP port is free between ${first} and ${first + 3}.`,
  );
  taken.close();
});

onLinux('garbage, and packets of nobody who was described, are never answered, and harm no call', async () => {
  await using call = await openTestCall(plane);
  const { media, peer, agent } = call;
  const stranger = await startPeer(media.rtpPort, '127.0.0.3');
  const garbage = (from: typeof peer) => {
    for (let length = 0; length < 300; length += 1) {
      const datagram = Buffer.alloc(length, length * 7);
      if (length > 0) datagram[0] = 0x80 | (length & 0x3f);
      from.sendRaw(datagram);
      from.sendRtcp(datagram);
    }
  };
  garbage(peer);
  peer.send(Buffer.alloc(160, 1));
  await until(async () => (await media.stats()).packetsRefused > 0);
  expect([peer.heard.length, peer.reports.length]).toEqual([0, 0]);
  await media.setStream(peer.stream());
  await media.answer();
  await media.speak('agent', connection(agent.url));
  garbage(stranger);
  garbage(peer);
  stranger.send(Buffer.alloc(160, 1));
  // A machine that stalls loses some of it: it is said until enough was heard.
  await until(async () => {
    await peer.speak(tone(400, 3200));
    return msOf(400, agent.sound()) >= 360;
  });
  expect([stranger.heard.length, stranger.reports.length]).toEqual([0, 0]);
  stranger.close();
});
