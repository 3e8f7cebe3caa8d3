import { SdpSession, type SipMessage } from '@trunkline/sip';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../../../packages/sip/test/peers/peer-process.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { until } from '../../until.ts';
import { startCarrier } from './carrier.ts';
import { byItself, callees, openSipGateways, type SipGateways, trunkTo } from './sip-gateways.ts';

let gateways: SipGateways;
beforeAll(async () => {
  gateways = await openSipGateways();
});
afterAll(() => gateways.close());

const OWN = '127.0.0.5';
const THEIRS = '+14155550100';
const OTHERS = '+14155550200';

/** A carrier of two workspaces, of which one has an address of its own. */
async function twoWorkspaces() {
  const heard: { method: string; source: string; contact: string | undefined }[] = [];
  const carrier = await startCarrier(callees, {
    onMessage: (direction, message: SipMessage, { target }) => {
      if (direction !== 'received' || message.kind !== 'request') return;
      const contact = message.headers.get('contact');
      heard.push({ method: message.method, source: `${target.address}:${target.port}`, contact });
    },
  });
  const [theirs, others] = [trunkTo(carrier.port), trunkTo(carrier.port)];
  const [port, ownPort] = [await freePort(), await freePort()];
  const numbers = new Map([
    [theirs.id, { number: THEIRS, workspaceId: theirs.workspaceId, trunkId: theirs.id }],
    [others.id, { number: OTHERS, workspaceId: others.workspaceId, trunkId: others.id }],
  ]);
  const gateway = await gateways.gatewayFor(10, {
    settings: {
      ...{ host: '127.0.0.1', port, tls: {}, localNetworks: [], drainSeconds: 0, optionsSeconds: 30 },
      ofWorkspaces: [{ workspaceId: theirs.workspaceId, host: OWN, port: ownPort }],
    },
    inbound: {
      trunks: async () =>
        [theirs, others].map((trunk) => ({ ...trunk, digestNumbers: [], alikeNumbers: [], headersToAgent: [] })),
      trunk: async () => undefined,
      numbersOf: async (all, trunkIds) =>
        trunkIds.flatMap((id) => (all.includes(numbers.get(id)!.number) ? [numbers.get(id)!] : [])),
    },
    registered: {
      take: async () =>
        [theirs, others].map((trunk) => ({
          workspaceId: trunk.workspaceId,
          trunk: { ...trunk, username: 'ada' },
          isGranted: true,
        })),
      note: async () => {},
      leave: async () => {},
    },
  });
  onTestFinished(async () => {
    await gateway.stop();
    await carrier.stop();
  });
  await gateway.start();
  return { carrier, gateway, heard, theirs, others, port, ownPort };
}

test('a workspace with an address of its own speaks from there, and who calls there calls its numbers alone', async () => {
  const { carrier, gateway, heard, theirs, others, port, ownPort } = await twoWorkspaces();
  const own = `${OWN}:${ownPort}`;
  const shared = `127.0.0.1:${port}`;
  const sources = (method: string) => heard.filter((each) => each.method === method).map(({ source }) => source);
  await until(() => expect(new Set(sources('REGISTER'))).toEqual(new Set([own, shared])));

  for (const [trunk, source] of [
    [theirs, own],
    [others, shared],
  ] as const) {
    heard.length = 0;
    expect((await gateway.probeTrunk(trunk, new AbortController().signal)).reachable).toBe(true);
    expect(sources('OPTIONS')).toEqual([source]);
    const call = { workspaceId: trunk.workspaceId, roomId: newUuid(), attempt: 1, agentId: 'anna', trunk };
    const numbers = { from: THEIRS, to: '+14155550101' };
    const limits = { ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false, owner: byItself };
    await gateway.placeCall({ ...call, ...numbers, ...limits });
    await until(() => expect(sources('ACK')).toContain(source));
    const invites = heard.filter(({ method }) => method === 'INVITE');
    expect(invites).toMatchObject([{ source, contact: expect.stringContaining(source) }]);
  }

  const taken: string[] = [];
  gateway.onInbound((arrived) => {
    taken.push(arrived.to);
    void gateway.rejectInbound(arrived, 'declined');
  });
  const sdp = new SdpSession({ address: '127.0.0.1', port: 9, codecs: ['PCMU'] }).offer();
  const statusOf = async (number: string, at: string) => {
    const made = carrier.userAgent.invite({ to: `sip:${number}@${at}`, from: 'sip:+14155550177@carrier.example', sdp });
    return ((await made.ended) as { status?: number }).status;
  };
  expect(await statusOf(THEIRS, own)).toBe(603);
  expect(await statusOf(OTHERS, own)).toBe(404);
  expect(await statusOf(OTHERS, shared)).toBe(603);
  expect(taken).toEqual([THEIRS, OTHERS]);
});
