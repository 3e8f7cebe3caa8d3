import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../../until.ts';
import { twoHosts } from './two-hosts.ts';

/** INVITEs that may be on their way to a host as it dies, beside the calls that it has. */
const MOST_LOST = 5;

test('a host of a trunk that dies in a campaign costs no more than the calls that it holds', async () => {
  const { hosts, start, stats, called, rungTwice, readTrunk } = await twoHosts(40);
  await start();
  await until(() => hosts[0].calls.length > 0);
  await sleep(Math.random() * 800);
  const lost = hosts[0].userAgent.counts().calls + MOST_LOST;
  await hosts[0].userAgent.stop(0);
  await called(lost);
  expect(hosts[0].calls.length).toBeGreaterThan(0);
  expect((await stats()).outcomes.answered).toBeGreaterThanOrEqual(40 - lost);
  expect(rungTwice()).toBe(0);
  expect((await readTrunk()).status).toBe('active');
});

test('a host that is out of service passes each call on, and no number is held back for it', async () => {
  const { hosts, start, stats, called, readTrunk } = await twoHosts(20, (call) => call.reject(503));
  await start();
  await called(0);
  expect((await stats()).outcomes).toMatchObject({ answered: 20 });
  expect(hosts[1].calls).toHaveLength(20);
  expect(hosts[0].calls.length).toBeLessThan(10);
  expect(await readTrunk()).toMatchObject({ status: 'active' });
});
