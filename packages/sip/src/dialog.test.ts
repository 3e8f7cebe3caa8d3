import { expect, test } from 'vitest';
import type { Core } from './core.ts';
import { type Dialog, openDialogFlow } from './dialog.ts';
import type { Flow, Target, TransportName } from './transport.ts';

const at = (transport: TransportName): Target => ({ transport, address: '198.51.100.7', port: 5061 });
const flowTo = (target: Target, isOpen: boolean): Flow => ({
  ...{ target, isOpen, local: { host: '203.0.113.5', port: 5060 }, isInbound: false },
  send: async () => {},
  onClosed: () => () => {},
});

test.each([
  ['tls', true, 'tls'],
  ['tls', false, 'udp'],
  ['udp', true, 'udp'],
] as const)(
  'to a peer that was heard over %s, with a secret: %s, the next request goes over %s',
  async (over, isSecret, goes) => {
    const peer = at(over);
    const dialog: Dialog = {
      ...{ callId: 'c', local: '<sip:a@b>', localTag: '1', remote: '<sip:c@d>', remoteTag: '2', localCseq: 1 },
      ...{ remoteCseq: 0, remoteTarget: 'sip:198.51.100.7;transport=udp', routeSet: [], peer },
    };
    const core = { locate: async () => [at('udp')], open: async (target: Target) => flowTo(target, true) };
    const flow = await openDialogFlow(core as Partial<Core> as Core, dialog, flowTo(peer, false), isSecret);
    expect(flow.target.transport).toBe(goes);
  },
);
