// One side of calls between two media planes, each in a process of its own: plain, or encrypted by keys that both have.
import {
  type MediaHandle,
  MediaPlane,
  type MediaStats,
  type SrtpKey,
  type SrtpSuite,
} from '../../packages/media/src/index.ts';
import { settingsOf, tell } from '../child.ts';

export type Hum = { hum: { ask: undefined; answer: undefined } };

export interface PairSettings {
  calls: number;
  /** Of the first call of this side, and of the other one. */
  rtpPort: number;
  peerPort: number;
  suite?: SrtpSuite;
}

export type PairCounts = Pick<MediaStats, 'packetsReceived' | 'packetsLost'>;

const HOST = '127.0.0.1';
const { calls, rtpPort, peerPort, suite } = settingsOf<PairSettings>();

const plane = new MediaPlane<Hum>({
  ...{ worker: new URL('./hum.ts', import.meta.url), workerData: undefined, workers: 1, host: HOST },
  ...{ portMin: rtpPort, portMax: rtpPort + 2 * calls - 1 },
  portShares: () => ({ take: () => true, giveBack: () => {} }),
  isOpenAddress: () => true,
  onThreadDied: (error) => {
    throw error ?? new Error('The thread died.');
  },
});

/** Of what is sent from a port. */
const keyOf = (port: number): SrtpKey => {
  const keyAndSalt = Buffer.alloc(suite === 'AEAD_AES_128_GCM' ? 28 : 30);
  keyAndSalt.writeUInt16BE(port);
  return { suite: suite!, keyAndSalt };
};

async function open(): Promise<MediaHandle<Hum>> {
  const call = await plane.openCall({ owner: 'measured', silenceMs: 60_000, onEvent: () => {} });
  const port = peerPort + call.rtpPort - rtpPort;
  await call.setStream({
    remote: { address: HOST, port, rtcpAddress: HOST, rtcpPort: port + 1 },
    ...({ codec: 'PCMU', payloadType: 0, telephoneEventType: undefined, packetMs: 20, direction: 'sendrecv' } as const),
    receives: new Map([[0, 'PCMU']]),
    ...(suite && { srtp: { send: keyOf(call.rtpPort), receive: keyOf(port) } }),
  });
  await call.speak('hum', undefined);
  await call.answer();
  return call;
}

const opened: MediaHandle<Hum>[] = [];
for (let number = 0; number < calls; number += 1) opened.push(await open());

tell(0, async () => {
  const all = await Promise.all(opened.map((call) => call.stats()));
  const sum = (of: keyof PairCounts) => all.reduce((total, stats) => total + stats[of], 0);
  return { packetsReceived: sum('packetsReceived'), packetsLost: sum('packetsLost') } satisfies PairCounts;
});
