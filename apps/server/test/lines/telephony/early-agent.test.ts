import type { CallEnd } from '@trunkline/sip';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import type { CallEvent } from '../../../src/lines/telephony/call-gateway.ts';
import { until } from '../../until.ts';
import { startAgent } from '../media/agent.ts';
import { startCarrier } from './carrier.ts';
import { byItself, callees, openSipGateways, type SipGateways, trunkTo } from './sip-gateways.ts';

let gateways: SipGateways;
beforeAll(async () => {
  gateways = await openSipGateways();
});
afterAll(() => gateways.close());

const leaves = await startAgent((socket) => socket.close(1000));
const crashes = await startAgent((socket) => socket.terminate());
afterAll(() => Promise.all([leaves.stop(), crashes.stop()]));

test.each([
  ['refuses', 'ws://127.0.0.1:1/'],
  ['leaves', leaves.url],
  ['crashes', crashes.url],
])(
  'an agent that %s while the phone rings: the call is cancelled, and nobody answers to silence',
  async (_what, url) => {
    const carrier = await startCarrier(callees);
    const gateway = await gateways.gatewayFor(2, {
      resolveAgent: async () => ({
        connection: {
          ...{ type: 'stream', url, headers: {}, connectAt: 'ringing', connectTimeoutSeconds: 2, reconnect: false },
        } as const,
      }),
    });
    const told: CallEvent[] = [];
    gateway.onEvents((events) => told.push(...events));
    await gateway.start();
    const call = { workspaceId: newUuid(), roomId: newUuid(), attempt: 1, from: '+14155550100', to: '+14155550108' };
    const limits = { ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false, owner: byItself };
    await gateway.placeCall({ ...call, ...limits, agentId: 'anna', trunk: trunkTo(carrier.port) });
    await until(() => expect(told).toMatchObject([{ type: 'ringing' }, { outcome: 'agent_error', endedBy: 'error' }]));
    expect(await carrier.calls[0]!.call.ended).toMatchObject({
      kind: 'cancelled',
      by: 'remote',
    } satisfies Partial<CallEnd>);
    await gateway.stop();
    await carrier.stop();
  },
);
