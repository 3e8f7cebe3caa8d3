import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { InboundAudio } from './inbound-audio.ts';
import { OutboundAudio } from './outbound-audio.ts';
import { RtcpPeer } from './rtcp-peer.ts';
import { writeRtpHeader } from './rtp.ts';
import { RtpLine } from './rtp-line.ts';

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

/** Sends one packet from an address. */
async function speak(from: string, port: number): Promise<void> {
  const socket = createSocket('udp4').bind(0, from);
  await once(socket, 'listening');
  const packet = Buffer.alloc(172);
  writeRtpHeader(packet, { payloadType: 0, marker: false, sequence: 1, timestamp: 0, ssrc: 1 });
  socket.send(packet, port, '127.0.0.1', () => socket.close());
  await once(socket, 'close');
  await sleep(20);
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
