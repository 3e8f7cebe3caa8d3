import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { peerFolder, runPeer } from '../../../../../packages/sip/test/peers/peer-process.ts';
import { sipp, startSipp } from '../../../../../packages/sip/test/peers/sipp.ts';
import { until } from '../../until.ts';
import { msOf } from '../media/tone.ts';
import { AGENT_HERTZ, type BehindNat, startBehindNat } from './behind-nat.ts';
import { hasNetworks } from './network.ts';

const STRAY_HERTZ = 450;

describe.skipIf(!hasNetworks)('behind a NAT, which needs root, iproute2 and iptables', () => {
  let it: BehindNat;
  beforeAll(async () => {
    it = await startBehindNat();
  });
  afterAll(() => it?.stop());

  test.skipIf(!sipp)('a carrier that is silent until it hears us, and knows us by our NAT only (sipp)', async () => {
    const { nat, agent } = it;
    const peer = await startSipp(undefined, { address: nat.carrier, behind: nat.behind, bound: nat.bound });
    onTestFinished(() => peer.stop());
    const call = await it.over(`${nat.carrier}:${peer.port}`, '+14155550100');
    const read = await call('+14155550120');
    // What is heard is the echo of what was said.
    await until(() => msOf(AGENT_HERTZ, agent.sound()) > 500);
    agent.connections.at(-1)!.close(1000);
    await until(async () => expect(await read()).toMatchObject({ outcome: 'answered', endedBy: 'agent' }));
    const hangsUp = await call('+14155550102');
    await until(async () => expect(await hangsUp()).toMatchObject({ outcome: 'answered', endedBy: 'callee' }));
    const invite = peer.messages().find(({ start }) => start.startsWith('INVITE'))!;
    expect(invite.text).toContain(`c=IN IP4 ${nat.public}`);
  });

  test('a carrier whose answers, hang-up and sound come from another address and port', async () => {
    const { nat, agent } = it;
    const before = agent.sound().length;
    const script = `${import.meta.dirname}/stray-peer.ts`;
    const [program, ...args] = [...nat.behind, process.execPath, '--conditions=source', script];
    const peer = runPeer(program, [...args, ...nat.others, String(STRAY_HERTZ)], peerFolder());
    onTestFinished(() => peer.stop());
    await until(() => expect(peer.output()).toContain('port '));
    const port = /port (\d+)/.exec(peer.output())![1];
    const call = await it.over(`${nat.others[0]}:${port}`, '+14155550101');
    const read = await call('+14155550120');
    await until(async () => expect(await read()).toMatchObject({ outcome: 'answered', endedBy: 'callee' }));
    expect(msOf(STRAY_HERTZ, agent.sound().subarray(before))).toBeGreaterThan(1000);
    // It is spoken to where it speaks from.
    await until(() => expect(Number(/heard (\d+)/.exec(peer.output())?.[1])).toBeGreaterThan(50));
  });
});
