import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../postgres.ts';
import { cpuBetween, cpuOf } from '../processes.ts';
import type { Found } from '../table.ts';
import { openEndpoint, startReceiver } from './endpoint.ts';

const MINUTES = 10;
/** So that 32 requests at a time are some 800 a second: the endpoint is busy, the machine is not. */
const ANSWER_AFTER_MS = 40;
/** There are always more to be delivered than the endpoint takes. */
const THOUSANDS_WAITING = 5;
/** So that code is compiled. */
const WARM_UP_MS = 10_000;

/**
 * What a delivery to an endpoint takes that has been busy for ten minutes, beside one in the first: of PostgreSQL, and of
 * this process, in which events are written and sent.
 */
export async function benchLongWebhooks(): Promise<Found> {
  const postgres = await startPostgres();
  const { url } = await startReceiver(ANSWER_AFTER_MS);
  const { write, tried, startSender } = await openEndpoint(postgres, url);
  let written = 0;
  const deliverFor = async (milliseconds: number) => {
    for (const until = performance.now() + milliseconds; performance.now() < until; await sleep(100)) {
      if (written - tried() > THOUSANDS_WAITING * 1000) continue;
      await write(1);
      written += 1000;
    }
  };
  const sender = startSender();
  await deliverFor(WARM_UP_MS);

  const microseconds: number[] = [];
  while (microseconds.length < MINUTES) {
    const [own, before, from] = [process.cpuUsage(), await cpuOf(postgres.pid), tried()];
    await deliverFor(60_000);
    const { user, system } = process.cpuUsage(own);
    const deliveries = tried() - from;
    const ours = (user + system) / deliveries;
    const ofPostgres = (cpuBetween(before, await cpuOf(postgres.pid)) * 1e6) / deliveries;
    microseconds.push(ours + ofPostgres);
    const each = `${ours.toFixed(1)} µs, PostgreSQL ${ofPostgres.toFixed(1)} µs`;
    console.error(`  minute ${microseconds.length}: ${deliveries} deliveries, ${each}`);
  }
  await sender.close();
  return {
    rows: [
      {
        ...{ what: 'a webhook delivery in the tenth minute, CPU', ours: microseconds.at(-1)!, unit: 'µs' },
        ...{ peer: 'Trunkline, the first minute', theirs: microseconds[0]!, aim: '≤ 1.1' },
      },
    ],
  };
}
