import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sipp, startSipp } from '../../../../../packages/sip/test/peers/sipp.ts';
import { until } from '../../until.ts';
import { type BehindNat, startBehindNat } from './behind-nat.ts';
import { hasNetworks } from './network.ts';
import { byCall, dialled } from './sip-log.ts';

describe.skipIf(!hasNetworks || !sipp)('a NAT that lets no answer through, which needs root, iptables and sipp', () => {
  let it: BehindNat;
  beforeAll(async () => {
    it = await startBehindNat();
  });
  afterAll(() => it?.stop());

  test('one INVITE, unknown, and nobody is called again', { timeout: 180_000 }, async () => {
    const { nat, agent } = it;
    const peer = await startSipp(undefined, { address: nat.carrier, behind: nat.behind, bound: nat.bound });
    onTestFinished(() => peer.stop());
    const call = await it.over(`${nat.carrier}:${peer.port}`, '+14155550100');
    nat.block(true);
    const read = await call('+14155550120');
    await until(async () => expect(await read()).toMatchObject({ outcome: 'unknown', endedBy: 'error' }), 60);
    const invites = () => peer.messages().filter(({ start }) => start.startsWith('INVITE'));
    const branches = () => new Set(invites().map(({ text }) => /branch=([^;\s]+)/.exec(text)![1]));
    expect(branches().size).toBe(1);
    expect(invites().length).toBeGreaterThan(3);

    nat.block(false);
    // It is called again once it has answered a check; the phone that answered meanwhile is let go of.
    await until(async () => {
      const next = await call('+14155550121');
      await until(async () => (await next()).status === 'in_progress', 20);
    }, 90);
    agent.connections.at(-1)!.close(1000);
    await sleep(1000);
    const calls = [...byCall(peer.messages()).values()];
    expect(calls.filter((messages) => dialled(messages) === '+14155550120')).toHaveLength(1);
    expect(agent.of('start')).toHaveLength(1);
  });
});
