import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../until.ts';
import { CALLS_PER_SECOND, twoHosts } from './two-hosts.ts';

/** INVITEs that may be on their way to a host as it dies, beside the calls that it has. */
const MOST_LOST = 5;

test('a host of a trunk that dies in a long campaign costs no more than the calls that it holds', async () => {
  const { hosts, start, stats, called, rungTwice, readTrunk } = await twoHosts(200);
  await start();
  await sleep(500 + Math.random() * 7000);
  const lost = hosts[0].userAgent.counts().calls + MOST_LOST;
  await hosts[0].userAgent.stop(0);
  await called(lost);
  expect(hosts[0].calls.length).toBeGreaterThan(0);
  expect((await stats()).outcomes.answered).toBeGreaterThanOrEqual(200 - lost);
  expect(rungTwice()).toBe(0);
  expect((await readTrunk()).status).toBe('active');
}, 120_000);

test('a host that answers nothing any more, also no ICMP, gets few INVITEs', async () => {
  const { hosts, start, stats, rungTwice } = await twoHosts(200);
  const silent = createSocket('udp4');
  const lost = new Set<string>();
  silent.on('message', (datagram) => {
    const user = /^INVITE sip:([^@]*)@/.exec(String(datagram))?.[1];
    if (user) lost.add(user);
  });
  onTestFinished(() => void silent.close());
  await start();
  await until(() => hosts[0].calls.length >= 10, 20);
  const { port } = hosts[0];
  await hosts[0].userAgent.stop(0);
  silent.bind(port, '127.0.0.1');
  await once(silent, 'listening');
  // Those that wait for an answer do so for 32 seconds.
  await until(async () => (await stats()).outcomes.answered! > 160, 60);
  expect(lost.size).toBeLessThanOrEqual(CALLS_PER_SECOND);
  expect(rungTwice()).toBe(0);
}, 120_000);
