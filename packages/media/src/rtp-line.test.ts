import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { InboundAudio } from './inbound-audio.ts';
import { OutboundAudio } from './outbound-audio.ts';
import { RtcpPeer } from './rtcp-peer.ts';
import { writeRtpHeader } from './rtp.ts';
import { RtpLine } from './rtp-line.ts';
import { SrtpSender } from './srtp.ts';
import type { SrtpKey } from './srtp-key.ts';

const described = { address: '127.0.0.1', port: 9, rtcpAddress: '127.0.0.1', rtcpPort: 10 };
const stream = {
  ...({ remote: described, codec: 'PCMU', payloadType: 0, telephoneEventType: undefined } as const),
  ...({ receives: new Map(), packetMs: 20, direction: 'sendrecv' } as const),
};

/** A line whose signalling comes from 127.0.0.1. @param networks of its peer beside that */
async function lineOf(networks: readonly string[]) {
  const port = 17_000 + 2 * Math.floor(Math.random() * 1500);
  const line = new RtpLine(
    () => true,
    new RtcpPeer(new InboundAudio(), new OutboundAudio()),
    () => {},
  );
  await line.open('127.0.0.1', port);
  onTestFinished(() => line.close());
  line.describe(stream, ['127.0.0.1'], networks, 0);
  return { line, port };
}

function packetOf(sequence = 1): Buffer {
  const packet = Buffer.alloc(172);
  writeRtpHeader(packet, { payloadType: 0, marker: false, sequence, timestamp: 0, ssrc: 1 });
  return packet;
}

/** Sends packets from a socket of an address: one, unless they are given. */
async function speak(from: string, port: number, packets = [packetOf()]): Promise<void> {
  const socket = createSocket('udp4').bind(0, from);
  await once(socket, 'listening');
  for (const packet of packets) await new Promise((sent) => socket.send(packet, port, '127.0.0.1', sent));
  await sleep(20);
  socket.close();
}

test.skipIf(process.platform !== 'linux')(
  'a network that the peer is known by is followed at once, as those beside its signalling are, and no other one',
  async () => {
    const { line, port } = await lineOf(['127.0.2.0/24', '127.0.3.7', '::1']);
    for (const stranger of ['127.0.1.1', '127.0.3.8', '127.0.4.1']) await speak(stranger, port);
    expect([line.followed, line.counts.refused]).toEqual([undefined, 3]);
    await speak('127.0.2.9', port);
    expect(line.followed).toMatch(/^127\.0\.2\.9:/);
    await sleep(120);
    await speak('127.0.3.7', port);
    expect(line.followed).toMatch(/^127\.0\.3\.7:/);
    await sleep(120);
    await speak('127.0.0.7', port);
    expect(line.followed).toMatch(/^127\.0\.0\.7:/);
  },
);

const keyOf = (fill: number): SrtpKey => ({ suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt: Buffer.alloc(30, fill) });

test('where a key was agreed on, only who has it is followed, and a packet that comes again is refused', async () => {
  const { line, port } = await lineOf([]);
  line.encryption.agree({ send: keyOf(1), receive: keyOf(2) });
  await speak('127.0.0.1', port, [packetOf(), new SrtpSender(keyOf(3)).seal(packetOf())]);
  expect([line.followed, line.encryption.counts]).toEqual([undefined, { replayed: 0, undeciphered: 2 }]);
  const sealed = new SrtpSender(keyOf(2)).seal(packetOf());
  await speak('127.0.0.1', port, [sealed, sealed]);
  expect(line.followed).toMatch(/^127\.0\.0\.1:/);
  expect(line.encryption.counts).toEqual({ replayed: 1, undeciphered: 2 });
});
