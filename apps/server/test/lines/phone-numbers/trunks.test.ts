import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { fromId, newUuid } from '../../../src/foundation/values/ids.ts';
import type { Trunk } from '../../../src/lines/telephony/trunk.ts';
import type { TrunkProbe } from '../../../src/lines/telephony/trunk-prober.ts';
import { takeUpDueTrunks } from '../../../src/lines/trunks/tasks.ts';
import { seedRow } from '../../seed/rows.ts';
import { type NumberServer, simulatedProvider, startNumberServer } from './number-server.ts';

type Create = components['schemas']['CreateTrunk'];

const simulator = simulatedProvider();
let probed: Trunk[] = [];
let answer: (() => Promise<TrunkProbe>) | undefined;
const provider = {
  ...simulator,
  probeTrunk: async (trunk: Trunk, signal: AbortSignal) => {
    probed.push(trunk);
    return answer ? answer() : simulator.probeTrunk(trunk, signal);
  },
};
const password = 'correct-horse-battery-staple';
const path = '/v1/telephony/trunks';
const numbers = '/v1/telephony/phone-numbers';

let server: NumberServer;
let workspaceId: string;
beforeAll(async () => {
  server = await startNumberServer({ provider, trunkCheckMs: 500 });
  const { rows } = await server.deps.database.inEngine((tx) =>
    sql<{ id: string }>`select id from workspaces`.execute(tx.db),
  );
  workspaceId = rows[0]!.id;
});
afterAll(() => server.stop());
beforeEach(() => {
  probed = [];
  answer = undefined;
});

let next = 0;
const host = (name = 'ok.sim') => `t${next++}.${name}`;
let nextLine = 3000;
const freeNumber = () => `+1212555${nextLine++}`;
const at = (id: string) => ({ params: { path: { id } } });
const on = (trunkId: string) => ({ params: { path: { trunkId } } });
const send = (body: Partial<Create> = {}) =>
  server.client.POST(path, { body: { terminationUrl: host(), ...body } as Create });
const made = async (body?: Partial<Create>) => (await send(body)).data!;
const read = async (id: string) => (await server.client.GET(`${path}/{trunkId}`, on(id))).data!;
const patch = (id: string, body: object) => server.client.PATCH(`${path}/{trunkId}`, { ...on(id), body });
const act = (id: string, verb: 'pause' | 'resume') => server.client.POST(`${path}/{trunkId}/${verb}`, on(id));
const validate = (id: string) => server.client.GET(`${path}/{trunkId}/validate`, on(id));
const importOn = async (body: object, phoneNumbers = [freeNumber()]) =>
  (await server.client.POST(`${numbers}/import/manual`, { body: { phoneNumbers, ...body } })).data!;
const numberOn = async (trunkId: string) => (await importOn({ trunkId, outboundAgentId: 'agent_out' })).imported[0]!;
const numberAt = async (id: string) => (await server.client.GET(`${numbers}/{id}`, at(id))).data!;
const eventsOf = async (id: string) => {
  const { rows } = await server.deps.database.inEngine(({ db }) =>
    sql<{ type: string; data: { status: string; reason?: string } }>`
      select type, data from events where resource_id = ${fromId(id)} order by revision`.execute(db),
  );
  return rows;
};

const whole: Create = {
  terminationUrl: 'sip:all.ok.sim:5061',
  transport: 'tls',
  outboundProxy: 'sip:proxy.example.com',
  username: 'anna',
  password,
  authUsername: 'anna-auth',
  fromUser: 'desk',
  fromDomain: 'pbx.example.com',
  register: true,
  registerExpiresSeconds: 600,
  ipAllowlist: ['203.0.113.0/28'],
  inboundDigest: true,
  probe: 'register',
  maxChannels: 5,
  callsPerSecond: 2.5,
  numberFormat: 'national',
  country: 'DE',
  dialPrefix: '9',
  callerIdHeader: 'pai',
  codecs: ['PCMA'],
  dtmf: 'info',
  mediaEncryption: 'required',
  keysInClear: false,
  headers: { 'X-Account': '7781' },
};

test('a trunk has every field that was sent, and is checked at once', async () => {
  const headersToAgent = ['X-Customer-Id'];
  const { data, response } = await send({ ...whole, headersToAgent });
  const { password: _, ...shown } = { ...whole, headersToAgent };
  expect(response.status).toBe(201);
  expect(data).toMatchObject({ ...shown, hasPassword: true, status: 'active', phoneNumberCount: 0, liveCalls: 0 });
  expect(data).not.toHaveProperty('password');
  expect(probed).toEqual([{ ...whole, workspaceId, id: fromId(data!.id), revision: 1 }]);
  expect((await eventsOf(data!.id)).map(({ data: { status, reason } }) => [status, reason])).toEqual([
    ['paused', 'unchecked'],
    ['active', undefined],
  ]);
});

test('one that says only where it is has the defaults', async () => {
  expect(await made()).toMatchObject({
    transport: 'auto',
    hasPassword: false,
    register: false,
    registerExpiresSeconds: 3600,
    inboundDigest: false,
    probe: 'auto',
    callsPerSecond: 1,
    numberFormat: 'e164_plus',
    callerIdHeader: 'from',
    codecs: ['PCMU', 'PCMA'],
    mediaEncryption: 'none',
    keysInClear: false,
  });
});

test.each([
  [{ terminationUrl: 'a.example.com;maddr=10.0.0.1' }, '/body/terminationUrl'],
  [{ terminationUrl: 'sip:10.0.0.1' }, '/body/terminationUrl'],
  [{ outboundProxy: '127.0.0.1:5060' }, '/body/outboundProxy'],
  [{ outboundProxy: 'proxy.example.com;lr' }, '/body/outboundProxy'],
  [{ username: 'a\r\nVia: b' }, '/body/username'],
  [{ username: 'a', password: 'a\u0001' }, '/body/password'],
  [{ password: 'x' }, '/body/username'],
  [{ authUsername: 'x' }, '/body/username'],
  [{ register: true }, '/body/register'],
  [{ inboundDigest: true, username: 'a' }, '/body/inboundDigest'],
  [{ fromUser: 'a>b' }, '/body/fromUser'],
  [{ fromDomain: 'a b' }, '/body/fromDomain'],
  [{ numberFormat: 'national' }, '/body/country'],
  [{ dialPrefix: '9\n' }, '/body/dialPrefix'],
  [{ ipAllowlist: ['1.2.3'] }, '/body/ipAllowlist/0'],
  [{ codecs: ['OPUS'] }, '/body/codecs/0'],
  [{ mediaEncryption: 'srtp' }, '/body/mediaEncryption'],
  [{ mediaEncryption: 'preferred' }, '/body/mediaEncryption'],
  [{ mediaEncryption: 'required', transport: 'tcp' }, '/body/mediaEncryption'],
  [{ headers: { Via: 'x' } }, '/body/headers'],
  [{ headers: { 'X-A': 'b\r\nc' } }, '/body/headers/X-A'],
  [{ callsPerSecond: 0 }, '/body/callsPerSecond'],
] as [object, string][])('hostile or contradictory: %j is refused at %s', async (body, where) => {
  const { response, error } = await send(body as Partial<Create>);
  expect([response.status, error?.code]).toEqual([400, 'invalid_request']);
  expect(error?.details?.map((each) => each.path)).toContain(where);
});

test('address, transport and username are a trunk of its own; the second is 409, also by a change', async () => {
  const terminationUrl = host();
  const first = await made({ terminationUrl });
  const again = await send({ terminationUrl: terminationUrl.toUpperCase() });
  expect([again.response.status, again.error?.code]).toEqual([409, 'trunk_already_exists']);
  expect(again.error?.error).toContain(first.id);
  const other = await made({ terminationUrl, username: 'b', password });
  const changed = await patch(other.id, { username: null });
  expect([changed.response.status, changed.error?.code]).toEqual([409, 'trunk_already_exists']);
});

test('sound is encrypted over TLS, or where keys may go in clear; a change may not take that away', async () => {
  const { id } = await made({ transport: 'tls', mediaEncryption: 'required' });
  const { id: other } = await made({ mediaEncryption: 'preferred', keysInClear: true });
  for (const [trunk, change] of [
    [id, { transport: 'udp' as const }],
    [other, { keysInClear: false }],
  ] as const) {
    const { response, error } = await patch(trunk, change);
    expect([response.status, error?.details?.[0]]).toEqual([
      400,
      {
        path: '/body/mediaEncryption',
        message:
          'needs transport tls, since the keys are sent by SIP; or keysInClear, if the way is protected otherwise',
      },
    ]);
  }
  expect((await patch(id, { transport: 'udp', mediaEncryption: 'none' })).response.status).toBe(200);
  expect((await patch(other, { keysInClear: false, transport: 'tls' })).response.status).toBe(200);
});

test('sound is not encrypted while a server of before 0.3.0 runs, which would call in clear', async () => {
  const { id } = await made({ transport: 'tls' });
  const { database } = server.deps;
  const [older, now] = [newUuid(), new Date()];
  const lease = { id: older, version: '0.2.0', renewed_at: now, lease_until: new Date(now.getTime() + 3_600_000) };
  await database.inEngine(({ db }) => db.insertInto('servers').values(lease).execute());
  try {
    const refused = [
      await send({ transport: 'tls', mediaEncryption: 'required' }),
      await patch(id, { mediaEncryption: 'preferred' }),
    ];
    for (const { response, error } of refused) {
      expect([response.status, error?.code]).toEqual([400, 'invalid_request']);
      expect(error?.details?.[0]).toMatchObject({
        path: '/body/mediaEncryption',
        message: expect.stringContaining('a server of 0.2.0 runs'),
      });
    }
    expect((await patch(id, { mediaEncryption: 'none', maxChannels: 3 })).response.status).toBe(200);
  } finally {
    await database.inEngine(({ db }) => db.deleteFrom('servers').where('id', '=', older).execute());
  }
  expect((await patch(id, { mediaEncryption: 'required' })).response.status).toBe(200);
});

test('a change is checked where it says how the trunk is reached; null empties', async () => {
  const trunk = await made({ username: 'u', password, maxChannels: 2, headers: { 'X-A': 'b' }, dialPrefix: '9' });
  const number = await numberOn(trunk.id);
  expect(number).toMatchObject({ trunkId: trunk.id, isOutboundReady: true });
  probed = [];
  const plain = await patch(trunk.id, { maxChannels: null, callsPerSecond: 3, headers: null, dialPrefix: null });
  expect(probed).toEqual([]);
  expect(plain.data).toMatchObject({ callsPerSecond: 3, status: 'active', phoneNumberCount: 1 });
  for (const gone of ['maxChannels', 'headers', 'dialPrefix']) expect(plain.data).not.toHaveProperty(gone);
  for (const elsewhere of [{ terminationUrl: host('dead.sim') }, { outboundProxy: host() }]) {
    const { response, error } = await patch(trunk.id, elsewhere);
    expect([response.status, error?.details?.map((each) => each.path)]).toEqual([400, ['/body/password']]);
  }
  const same = trunk.terminationUrl.toUpperCase().replace('SIP:', 'sip:');
  expect((await patch(trunk.id, { terminationUrl: same })).response.status).toBe(200);
  const moved = await patch(trunk.id, { terminationUrl: host('dead.sim'), password });
  expect(moved.data).toMatchObject({ status: 'paused', reason: 'unreachable', hasPassword: true });
  expect(await numberAt(number.id)).toMatchObject({ isOutboundReady: false, trunkReason: 'unreachable' });
  expect((await patch(trunk.id, { terminationUrl: host(), username: null })).data).toMatchObject({
    status: 'active',
    hasPassword: false,
  });
  expect((await numberAt(number.id)).isOutboundReady).toBe(true);
});

test('a trunk is deleted when nobody calls over it; until then it is 409, by name', async () => {
  const trunk = await made();
  const number = await numberOn(trunk.id);
  const remove = () => server.client.DELETE(`${path}/{trunkId}`, on(trunk.id));
  const used = await remove();
  expect([used.response.status, used.error?.code]).toEqual([409, 'trunk_in_use']);
  expect(used.error?.error).toContain(number.phoneNumber);
  await server.client.DELETE(`${numbers}/{id}`, at(number.id));
  const call = { trunk_id: fromId(trunk.id), phone_number_id: fromId(number.id), to_number: 14155550100 };
  const row = await seedRow(server.deps.database, 'calls', { workspace_id: workspaceId, ...call });
  expect((await remove()).error?.error).toContain('call');
  await server.deps.database.inEngine(({ db }) =>
    sql`update calls set ended_at = ${new Date()}, status = 'completed' where id = ${row.id}`.execute(db),
  );
  expect((await remove()).data).toEqual({ id: trunk.id, deleted: true });
  for (const gone of [
    await remove(),
    await act(trunk.id, 'pause'),
    await act(trunk.id, 'resume'),
    await validate(trunk.id),
  ]) {
    expect([gone.response.status, gone.error?.code]).toEqual([404, 'not_found']);
  }
  expect((await patch(trunk.id, {})).response.status).toBe(404);
  expect((await server.client.GET(`${path}/{trunkId}`, on(trunk.id))).response.status).toBe(404);
});

test('its owner pauses and resumes a trunk, and its numbers say so', async () => {
  const trunk = await made();
  const number = await numberOn(trunk.id);
  expect((await act(trunk.id, 'pause')).data).toMatchObject({
    status: 'paused',
    reason: 'requested',
    message: expect.any(String),
  });
  expect(await numberAt(number.id)).toMatchObject({ isOutboundReady: false, trunkReason: 'requested' });
  server.clock.advance(3_700_000);
  await takeUpDueTrunks(server.deps);
  expect((await read(trunk.id)).reason).toBe('requested');
  expect((await act(trunk.id, 'resume')).data).toMatchObject({ status: 'active' });
  expect((await numberAt(number.id)).isOutboundReady).toBe(true);
  await act(trunk.id, 'pause');
  answer = async () => ({ valid: false, reachable: false, credentials: 'not_given', reason: 'unreachable' });
  expect((await act(trunk.id, 'resume')).data).toMatchObject({ status: 'paused', reason: 'unreachable' });
  expect((await eventsOf(number.id)).map(({ data }) => (data as { trunkReason?: string }).trunkReason)).toEqual([
    undefined,
    'requested',
    undefined,
    'requested',
  ]);
});

test('a check tells reachability and credentials apart, and a silent trunk is unreachable', async () => {
  const trunk = await made({ username: 'u', password });
  expect((await validate(trunk.id)).data).toMatchObject({
    valid: true,
    reachable: true,
    credentials: 'verified',
    rttMs: 5,
  });
  answer = async () => ({ valid: false, reachable: true, credentials: 'rejected', reason: 'credentials_rejected' });
  expect((await validate(trunk.id)).data).toMatchObject({
    valid: false,
    reachable: true,
    credentials: 'rejected',
    reason: 'credentials_rejected',
    trunk: { status: 'active' },
  });
  answer = () => new Promise(() => {});
  expect((await validate(trunk.id)).data).toMatchObject({ valid: false, reason: 'unreachable' });
  // It only asks.
  expect((await read(trunk.id)).checkedAt).toBe(trunk.checkedAt);
  probed = [];
  await patch(trunk.id, { probe: 'none' });
  expect(probed).toEqual([]);
  expect((await read(trunk.id)).status).toBe('active');
});

test('the short form makes a trunk once, and finds it after that', async () => {
  const terminationUrl = host();
  const first = await importOn({ sipConfig: { terminationUrl, username: 'u', password } });
  probed = [];
  const second = await importOn({ sipConfig: { terminationUrl, username: 'u', password } });
  expect(second.imported[0]!.trunkId).toBe(first.imported[0]!.trunkId);
  expect(probed).toEqual([]);
  const { trunkId } = first.imported[0]!;
  await importOn({ sipConfig: { terminationUrl, username: 'u', password: 'another', ipAllowlist: ['203.0.113.7'] } });
  expect(probed).toMatchObject([{ id: fromId(trunkId!), password: 'another', ipAllowlist: ['203.0.113.7'] }]);
  expect((await read(trunkId!)).phoneNumberCount).toBe(3);
  const other = await importOn({ sipConfig: { terminationUrl, username: 'v' } });
  expect(other.imported[0]!.trunkId).not.toBe(trunkId);
});

test('no number takes the password of its trunk to another host', async () => {
  const { imported } = await importOn({ sipConfig: { terminationUrl: host(), username: 'u', password } });
  const { id } = imported[0]!;
  const trunkId = imported[0]!.trunkId!;
  const change = (body: object) => server.client.PATCH(`${numbers}/{id}`, { ...at(id), body });
  const before = (await read(trunkId)).terminationUrl;
  probed = [];
  const { response, error } = await change({ outboundTermination: host() });
  expect(response.status).toBe(400);
  expect(error!.details).toMatchObject([{ path: '/body/sipConfig/password' }]);
  expect([(await read(trunkId)).terminationUrl, probed]).toEqual([before, []]);
  const outboundTermination = host();
  expect((await change({ outboundTermination, sipConfig: { password: 'given again' } })).error).toBeUndefined();
  expect(await read(trunkId)).toMatchObject({ terminationUrl: outboundTermination, hasPassword: true });
});

test('a number goes to another trunk: by its ID, or in short, and alone', async () => {
  const [one, two] = [await made({ callsPerSecond: 7 }), await made()];
  const { imported } = await importOn({ trunkId: one.id }, [freeNumber(), freeNumber()]);
  const [a, b] = imported.map(({ id }) => id) as [string, string];
  const change = async (id: string, body: object) =>
    (await server.client.PATCH(`${numbers}/{id}`, { ...at(id), body })) as {
      data?: { trunkId?: string };
      error?: { details?: { path: string }[] };
    };
  expect((await change(a, { trunkId: two.id })).data?.trunkId).toBe(two.id);
  expect((await change(a, { outboundTermination: one.terminationUrl })).data?.trunkId).toBe(one.id);
  // Two numbers call over it: the one that leaves gets a trunk like it.
  const forked = (await change(a, { outboundTermination: host() })).data!.trunkId!;
  expect([forked === one.id, forked === two.id]).toEqual([false, false]);
  expect((await read(forked)).callsPerSecond).toBe(7);
  // Nobody else calls over this one: it is changed.
  expect((await change(b, { sipConfig: { transport: 'tcp' } })).data?.trunkId).toBe(one.id);
  expect((await read(one.id)).transport).toBe('tcp');
  expect((await change(a, { trunkId: null })).data).not.toHaveProperty('trunkId');
  expect((await change(a, { trunkId: one.id, outboundTermination: 'x' })).error?.details?.[0]?.path).toBe(
    '/body/trunkId',
  );
  expect((await change(b, { outboundTermination: 'sip:10.0.0.1' })).error?.details?.[0]?.path).toBe(
    '/body/outboundTermination',
  );
  for (const body of [
    {},
    { trunkId: one.id, sipConfig: { terminationUrl: 'x' } },
    { trunkId: 'trk_01932f3c8a7e7bd0a1b2c3d4e5f60719' },
  ]) {
    const { response } = await server.client.POST(`${numbers}/import/manual`, {
      body: { phoneNumbers: [freeNumber()], ...body },
    });
    expect(response.status).toBe(400);
  }
});

test('pages, newest first, and search', async () => {
  const trunk = await made({ terminationUrl: 'findme.ok.sim', username: 'needle_1' });
  const list = async (query: object) => (await server.client.GET(path, { params: { query } })).data!;
  expect((await list({ perPage: 1 })).items[0]!.id).toBe(trunk.id);
  expect(await list({ perPage: 1, column: 'createdAt' })).toEqual(await list({ perPage: 1, column: 'created_at' }));
  expect((await list({ searchText: 'NEEDLE_1' })).items.map(({ id }) => id)).toEqual([trunk.id]);
});
