import { setTimeout as sleep } from 'node:timers/promises';
import { type Media, startMedia } from '@trunkline/server/src/lines/media/media.ts';
import { createUserAgent, type IncomingCall, SdpSession } from '@trunkline/sip';

/** People with telephones, behind a carrier on this machine: real SIP and RTP, and nobody real. */
export interface Callees {
  /** Where calls to them go. */
  address: string;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };
const hello = new URL('../hello.wav', import.meta.url).pathname;
/** They say hello, listen for a moment, and press 1. */
const LISTENS_MS = 2500;

/** Starts them. What a person does depends on the last digit of the number. */
export async function startCallees(rtpPorts: { min: number; max: number }): Promise<Callees> {
  const { media } = startMedia({
    workers: 1,
    host: HOST,
    portMin: rtpPorts.min,
    portMax: rtpPorts.max,
    peerAddresses: loopback,
    agentAddresses: loopback,
    onThreadDied: () => {},
  });
  const userAgent = await createUserAgent({
    host: HOST,
    port: 0,
    onInvite: (call) => void ring(call, media).catch(() => call.reject(500)),
    onError: () => {},
  });
  return {
    address: `${HOST}:${userAgent.port}`,
    stop: async () => {
      await userAgent.stop(500);
      await media.stop();
    },
  };
}

async function ring(call: IncomingCall, media: Media): Promise<void> {
  const digit = Number(/(\d)@/.exec(call.requestUri)?.[1] ?? 5);
  if (digit === 3) return call.reject(404);
  call.ring();
  await sleep(200 + digit * 80);
  if (digit === 0) call.reject(486);
  else if (digit === 1) call.reject(603);
  // The last one does not hear it.
  else if (digit !== 2) await answer(call, media);
}

async function answer(call: IncomingCall, media: Media): Promise<void> {
  const sound = await media.openCall({ owner: 'callees', silenceMs: 60_000, onEvent: () => {} });
  const answered = new SdpSession({ address: HOST, port: sound.rtpPort, codecs: ['PCMU', 'PCMA'] }).answer(
    call.sdp ?? '',
  );
  if (answered.refused) {
    await sound.close();
    return call.reject(488);
  }
  await sound.setStream(answered.audio);
  call.listen({ onEnded: () => void sound.close().catch(() => {}) });
  await sound.speak('sound', { path: hello });
  call.answer(answered.answer);
  await sound.answer();
  await sleep(LISTENS_MS);
  // The call may be over by then.
  await sound.sendDigits('1').catch(() => {});
}
