import { createCipheriv, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SrtpSuite } from '../../packages/media/src/index.ts';
import { Keystream } from '../../packages/media/src/srtp-keystream.ts';
import { forkServer } from '../child.ts';
import { type Effort, inTurns, median } from '../rounds.ts';
import type { Found, Row } from '../table.ts';
import type { PairCounts, PairSettings } from './pair.ts';

const SIZES = { whole: { rounds: 3, seconds: 6, packets: 100_000 }, quick: { rounds: 1, seconds: 3, packets: 20_000 } };
const CALLS = 50;
const WARM_UP_MS = 2000;
const ports = { rtpPort: 26_000, peerPort: 27_000 };
const suites: SrtpSuite[] = ['AES_CM_128_HMAC_SHA1_80', 'AEAD_AES_128_GCM'];

/** CPU of one side for a packet that comes and one that goes, in µs: also on a machine that is too busy for all of them. */
async function packetEachWay(suite: SrtpSuite | undefined, seconds: number): Promise<number> {
  const side = (own: number, other: number) =>
    forkServer(
      new URL('./pair.ts', import.meta.url),
      { calls: CALLS, rtpPort: own, peerPort: other, ...(suite && { suite }) } satisfies PairSettings,
      ['--max-semi-space-size=8'],
    );
  const [ours, theirs] = await Promise.all([side(ports.rtpPort, ports.peerPort), side(ports.peerPort, ports.rtpPort)]);
  await sleep(WARM_UP_MS);
  const [cpu, before] = [await ours.cpu(), await ours.ask<PairCounts>({})];
  await sleep(seconds * 1000);
  const used = (await ours.cpu()) - cpu;
  const { packetsReceived } = await ours.ask<PairCounts>({});
  await Promise.all([ours.end(), theirs.end()]);
  return used / (packetsReceived - before.packetsReceived);
}

/** CPU of the keystream of one packet of 20 ms, in µs. */
function keystreamOf(whose: 'many at once' | 'one by one', packets: number): number {
  const [key, salt, packet] = [randomBytes(16), randomBytes(14), randomBytes(172)];
  const stream = new Keystream(key, salt, 50);
  const iv = randomBytes(16);
  const before = process.cpuUsage();
  for (let index = 0; index < packets; index += 1) {
    if (whose === 'many at once') stream.apply(packet, 12, 172, 7, index);
    else createCipheriv('aes-128-ctr', key, iv).update(packet.subarray(12));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / packets;
}

/** What SRTP costs, beside plain packets; and a keystream for many packets at once, beside a cipher for each. */
export async function benchSrtp(effort: Effort): Promise<Found> {
  const { rounds, seconds, packets } = SIZES[effort];
  const calls = await inTurns(['plain', ...suites], rounds, (as) =>
    packetEachWay(as === 'plain' ? undefined : (as as SrtpSuite), seconds),
  );
  const streams = await inTurns(['many at once', 'one by one'], rounds, async (whose) => keystreamOf(whose, packets));
  const rows = suites.map(
    (suite): Row => ({
      ...{ what: `a packet each way, ${suite}, CPU`, ours: median(calls[suite]!), unit: 'µs', aim: '≤ 1.5' },
      ...{ peer: 'the same calls in clear', theirs: median(calls['plain']!) },
    }),
  );
  const keystream: Row = {
    ...{ what: 'a keystream of 20 ms, CPU', ours: median(streams['many at once']), unit: 'µs', aim: '≤ 0.5' },
    ...{ peer: 'a cipher for each packet', theirs: median(streams['one by one']) },
  };
  return { rows: [...rows, keystream] };
}
