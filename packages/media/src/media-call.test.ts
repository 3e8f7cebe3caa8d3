import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { FRAME, ULAW_SILENCE } from './g711.ts';
import { MediaCall } from './media-call.ts';
import { Pacer } from './pacer.ts';
import { readRtp, writeRtpHeader } from './rtp.ts';
import { writeTone } from './touch-tone.ts';

/** A call that is up, played by hand, with a peer that takes no telephone-events. */
async function callWithoutEvents() {
  const peer = createSocket('udp4').bind(0, '127.0.0.1');
  await once(peer, 'listening');
  const digits: string[] = [];
  const pacer = new Pacer();
  pacer.add = () => () => {};
  const call = new MediaCall(
    { host: '127.0.0.1', rtpPort: 20_000 + 2 * Math.floor(Math.random() * 1500), silenceMs: 30_000 },
    {
      pacer,
      isOpenAddress: () => true,
      emit: (event) => void (event.type === 'digit' && digits.push(event.digit)),
      ask: async () => undefined,
    },
  );
  await call.open();
  onTestFinished(async () => {
    await call.close();
    peer.close();
  });
  const { port } = peer.address();
  const remote = { address: '127.0.0.1', port, rtcpAddress: '127.0.0.1', rtcpPort: 9 };
  const codec = { codec: 'PCMU', payloadType: 0, telephoneEventType: undefined } as const;
  const stream = { remote, ...codec, receives: new Map([[0, 'PCMU'] as const]), packetMs: 20 };
  call.setStream({ ...stream, direction: 'sendrecv' }, [], []);
  call.answer();
  return { call, peer, digits };
}

test('the echo of our own tones is no key of the callee, whose keys are heard', async () => {
  const { call, peer, digits } = await callWithoutEvents();
  let sequence = 0;
  let to = 0;
  /** Has the callee send a frame, and the call take it. */
  const say = async (payload: Buffer) => {
    const packet = Buffer.concat([Buffer.alloc(12), payload]);
    sequence += 1;
    writeRtpHeader(packet, { payloadType: 0, marker: false, sequence, timestamp: sequence * FRAME, ssrc: 1 });
    peer.send(packet, to, '127.0.0.1');
    while (call.stats.packetsReceived < sequence) await turn();
  };
  const echo = async () => {
    const heard = once(peer, 'message');
    call.play(performance.now());
    const [datagram, from] = await heard;
    to = from.port;
    await say(readRtp(datagram)!.payload);
  };
  const sent = call.sendDigits('77');
  // Two tones and pauses of 160 ms, and 300 ms more.
  for (let packet = 0; packet < 16 + 20; packet += 1) await echo();
  await sent;
  expect(digits).toEqual([]);

  for (let frame = 0; frame < 10; frame += 1) {
    const tone = Buffer.alloc(FRAME, ULAW_SILENCE);
    if (frame < 5) writeTone(tone, '7', frame * FRAME);
    await say(tone);
  }
  expect(digits).toEqual(['7']);
});
