import type { SipRequest, Target } from '@trunkline/sip';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../test/until.ts';
import { type InboundTrunk, watchInboundPeers } from './inbound-peers.ts';

const from = (address: string): Target => ({ address, port: 5060, transport: 'udp' });
const carrier = from('192.0.2.10');
const stranger = from('198.51.100.1');

function invite(user: string, to = user): SipRequest {
  const headers = {
    get: (name: string) => (name === 'to' ? `<sip:${to}@sip.example>` : undefined),
    read: () => undefined,
  };
  return { method: 'INVITE', uri: `sip:${user}@sip.example`, headers } as unknown as SipRequest;
}

async function stand() {
  const trunk = { terminationUrl: '192.0.2.1', transport: 'udp', workspaceId: 'w', ipAllowlist: [] } as const;
  const trunks: InboundTrunk[] = [
    { ...trunk, id: 'carrier', ipAllowlist: [carrier.address], country: 'US', digestNumbers: [] },
    { ...trunk, id: 'berlin', country: 'DE', digestNumbers: ['+4930901820'] },
    { ...trunk, id: 'york', country: 'US', digestNumbers: ['+12125550100'] },
    { ...trunk, id: 'nowhere', digestNumbers: ['+442079460000'] },
  ];
  const peers = watchInboundPeers({
    directory: { trunks: async () => trunks, trunk: async () => undefined, numberOf: async ([number]) => number },
    locate: async () => [],
    isRegisteredAt: () => false,
    log: pino({ level: 'silent' }),
  });
  onTestFinished(() => peers.close());
  await until(() => peers.knows(carrier.address));
  return peers;
}

test('a stranger is challenged for a number with digest, however it is written, in the Request-URI or in To', async () => {
  const peers = await stand();
  const berlin = ['+4930901820', '4930901820', '004930901820', '030901820', '+49%2030%2090-1820;npdi'];
  const york = ['+12125550100', '12125550100', '01112125550100', '2125550100', '(212)555-0100'];
  for (const user of [...berlin, ...york, '+442079460000', '442079460000']) {
    expect([user, peers.admit(invite(user), stranger)]).toEqual([user, 'challenge']);
    expect([user, peers.admit(invite('pbx', user), stranger)]).toEqual([user, 'challenge']);
    expect([user, peers.admit(invite('+14155550100', user), stranger)]).toEqual([user, 'challenge']);
  }
  for (const user of ['pbx', '901820', '02079460000', '+12125550101', '1302125550100'])
    expect([user, peers.admit(invite(user), stranger)]).toEqual([user, 'ignore']);
});

test('a carrier that is known is not challenged for what To names, unless its Request-URI has no number', async () => {
  const peers = await stand();
  expect(peers.admit(invite('+14155550100', '+4930901820'), carrier)).toBe('accept');
  expect(peers.admit(invite('trunk-7', '+4930901820'), carrier)).toBe('challenge');
  expect(peers.admit(invite('+4930901820'), carrier)).toBe('challenge');
});

test('calls in the name of an address shut it out neither of other trunks nor from answering its challenge', async () => {
  const peers = await stand();
  const allowed = (user: string, isTry: boolean) =>
    Array.from({ length: 20 }, () => peers.allows(invite(user), stranger, isTry)).filter(Boolean).length;
  expect(allowed('+4930901820', false)).toBeLessThan(20);
  expect([allowed('+4930901820', true), allowed('+12125550100', false)]).toEqual([10, 10]);
  expect(peers.allows(invite('pbx'), stranger, false)).toBe(false);
});
