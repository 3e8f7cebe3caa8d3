import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { moveNumber } from '../../../src/commands/move-number.ts';
import type { Row } from '../../../src/foundation/database/schema.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { ServiceError } from '../../../src/foundation/values/service-error.ts';
import { findNumber } from '../../../src/lines/phone-numbers/store.ts';
import { takeUpDueNumbers } from '../../../src/lines/phone-numbers/tasks.ts';
import { outboundReason, whyNotCallable, whyNotFrom } from '../../../src/lines/phone-numbers/why-not-from.ts';
import type { ProviderNumber } from '../../../src/lines/telephony/number-market.ts';
import type { Trunk } from '../../../src/lines/telephony/trunk.ts';
import type { TrunkProbe } from '../../../src/lines/telephony/trunk-prober.ts';
import { checkTrunks } from '../../../src/lines/trunks/check-trunk.ts';
import { readTrunks } from '../../../src/lines/trunks/store.ts';
import { takeUpDueTrunks } from '../../../src/lines/trunks/tasks.ts';
import { meanwhile } from '../../race.ts';
import { type Given, insertRows, seedRow } from '../../seed/rows.ts';
import { type NumberServer, simulatedProvider, startNumberServer } from './number-server.ts';

type Import = components['schemas']['ImportPhoneNumbers'];

const simulator = simulatedProvider();
let probed: Trunk[] = [];
let faults: { probe?: () => Promise<TrunkProbe>; release?: () => Promise<void> } = {};
const provider = {
  ...simulator,
  probeTrunk: async (trunk: Trunk, signal: AbortSignal) => {
    probed.push(trunk);
    return faults.probe ? faults.probe() : simulator.probeTrunk(trunk, signal);
  },
  releaseNumber: async (number: ProviderNumber) =>
    faults.release ? faults.release() : simulator.releaseNumber(number),
};
const agents = {
  resolve: async (id: string) => {
    if (id === 'agent_down') throw new ServiceError('unavailable', 'The agent directory cannot be reached. Try again.');
    return id.startsWith('agent_') ? { id, name: `Name of ${id}` } : undefined;
  },
};
const password = 'correct-horse-battery-staple';

let server: NumberServer;
let workspaceId: string;
beforeAll(async () => {
  server = await startNumberServer({ provider, agents, trunkCheckMs: 1000 });
  const { rows } = await server.deps.database.inEngine((tx) =>
    sql<{ id: string }>`select id from workspaces`.execute(tx.db),
  );
  workspaceId = rows[0]!.id;
});
afterAll(() => server.stop());
beforeEach(() => {
  faults = {};
  probed = [];
});

const path = '/v1/telephony/phone-numbers';
let nextLine = 1000;
const freeNumber = () => `+1212555${nextLine++}`;
let nextUser = 0;
/** A trunk that no other test calls over. */
const trunk = () => ({ terminationUrl: 'sip:ok.sim:5061', username: `u${nextUser++}`, password });
let nextHost = 0;
const hostOf = (name: string) => `h${nextHost++}.${name}`;
const send = (body: Partial<Import>) =>
  server.client.POST(`${path}/import/manual`, { body: { phoneNumbers: [freeNumber()], sipConfig: trunk(), ...body } });
const imported = async (body: Partial<Import> = {}) => (await send(body)).data!.imported[0]!;
const bought = async () =>
  (await server.client.POST(`${path}/buy`, { body: { phoneNumber: freeNumber(), provider: 'simulator' } })).data!;
const at = (id: string) => ({ params: { path: { id } } });
const read = async (id: string) => (await server.client.GET(`${path}/{id}`, at(id))).data;
const patch = (id: string, body: object) => server.client.PATCH(`${path}/{id}`, { ...at(id), body });
const remove = (id: string) => server.client.DELETE(`${path}/{id}`, at(id));
const list = async (query: object = {}) => (await server.client.GET(path, { params: { query } })).data!;
const inWorkspace = <T>(query: ReturnType<typeof sql<T>>) =>
  server.deps.database.inWorkspace(workspaceId, async (tx) => (await query.execute(tx.db)).rows);
const rowOf = async (id: string) => {
  const rows = await inWorkspace(sql<{ revision: number; trunk_id: string; trunk: Row<'trunks'> | null }>`
    select n.revision, n.trunk_id, to_jsonb(t) as trunk from phone_numbers n left join trunks t on t.id = n.trunk_id
    where n.id = ${fromId(id)}`);
  return rows[0]!;
};
const eventsOf = async (id: string) => {
  const rows = await inWorkspace(sql<{ data: { status: string; isOutboundReady: boolean } }>`
    select data from events where resource_id = ${fromId(id)} order by revision`);
  return rows.map((row) => row.data);
};

test('good numbers are imported, the others rejected each with its reason', async () => {
  const [first, second] = [freeNumber(), freeNumber()];
  await send({ phoneNumbers: [second] });
  const { data, response } = await send({
    phoneNumbers: [first, '4155551234', first, second, '+491701234567', '+19002341234', '+49110', '+14150000000'],
  });
  expect(response.status).toBe(201);
  expect(data!.imported.map(({ phoneNumber, country }) => [phoneNumber, country])).toEqual([
    [first, 'US'],
    ['+491701234567', 'DE'],
  ]);
  expect(data!.rejected.map(({ phoneNumber, code }) => [phoneNumber, code])).toEqual([
    ['4155551234', 'invalid_number'],
    [first, 'duplicate'],
    [second, 'number_already_exists'],
    ['+19002341234', 'number_not_allowed'],
    ['+49110', 'invalid_number'],
    ['+14150000000', 'invalid_number'],
  ]);
  expect((await send({ phoneNumbers: ['x'] })).data).toMatchObject({
    imported: [],
    rejected: [{ code: 'invalid_number' }],
  });
});

test('an imported number has its trunk, checked at once for all of a request', async () => {
  const { data } = await send({
    phoneNumbers: [freeNumber(), freeNumber()],
    sipConfig: { ...trunk(), username: 'u', ipAllowlist: ['203.0.113.0/28'] },
    friendlyName: 'Desk',
    label: 'nyc',
    inboundAgentId: 'agent_in',
    outboundAgentId: 'agent_out',
    inboundWebhookUrl: 'https://crm.example.com/in',
  });
  expect(data!.imported[0]).toMatchObject({
    status: 'active',
    provider: 'sip',
    isCustomerManaged: true,
    isInboundReady: true,
    isOutboundReady: true,
    friendlyName: 'Desk',
    label: 'nyc',
    inboundAgentPublicId: 'agent_in',
    inboundAgentName: 'Name of agent_in',
    outboundAgentPublicId: 'agent_out',
    inboundWebhookUrl: 'https://crm.example.com/in',
    sipConfig: { terminationUrl: 'sip:ok.sim:5061', username: 'u', transport: 'auto', ipAllowlist: ['203.0.113.0/28'] },
  });
  expect(probed).toMatchObject([{ terminationUrl: 'sip:ok.sim:5061', username: 'u', password, transport: 'auto' }]);
  const events = await eventsOf(data!.imported[0]!.id);
  expect(events.map(({ isOutboundReady }) => isOutboundReady)).toEqual([false, true]);
  expect(events.at(-1)).toEqual(data!.imported[0]);
});

test.each([
  ['auth.sim', 'credentials_rejected'],
  ['dead.sim', 'unreachable'],
  ['tls.sim', 'tls_failure'],
])('over the trunk %s a number is not ready to call', async (host, detail) => {
  const number = await imported({ sipConfig: { terminationUrl: host }, outboundAgentId: 'agent_out' });
  expect(number).toMatchObject({ status: 'active', isOutboundReady: false, trunkReason: detail });
});

test('a trunk that answers late is not waited for, and is ready once it was checked again', async () => {
  faults.probe = () => new Promise(() => {});
  const number = await imported({ outboundAgentId: 'agent_out' });
  expect(number.isOutboundReady).toBe(false);
  faults.probe = async () => {
    throw new Error('the prober is down');
  };
  server.clock.advance(31_000);
  await takeUpDueTrunks(server.deps);
  expect((await read(number.id))?.isOutboundReady).toBe(false);
  faults = {};
  server.clock.advance(61_000);
  await takeUpDueTrunks(server.deps);
  expect((await read(number.id))?.isOutboundReady).toBe(true);
});

test('every trunk is checked hourly, and what turns is told once', async () => {
  const number = await imported({ outboundAgentId: 'agent_out' });
  const events = (await eventsOf(number.id)).length;
  await takeUpDueTrunks(server.deps);
  const before = probed.length;
  server.clock.advance(3_590_000);
  await takeUpDueTrunks(server.deps);
  expect(await rowOf(number.id)).toMatchObject({ revision: events });
  server.clock.advance(20_000);
  faults.probe = async () => ({ valid: false, reachable: false, credentials: 'unverified', reason: 'unreachable' });
  await takeUpDueTrunks(server.deps);
  expect(probed.length).toBeGreaterThan(before);
  expect((await read(number.id))?.isOutboundReady).toBe(false);
  server.clock.advance(3_610_000);
  await takeUpDueTrunks(server.deps);
  expect((await eventsOf(number.id)).map(({ isOutboundReady }) => isOutboundReady)).toEqual([false, true, false]);
  const { trunk } = await rowOf(number.id);
  expect(new Date(trunk!.due_at!).getTime()).toBeGreaterThan(server.clock.now().getTime());
});

test('a check of a trunk that was changed meanwhile counts for nothing', async () => {
  const number = await imported({ outboundAgentId: 'agent_out', sipConfig: { terminationUrl: hostOf('dead.sim') } });
  const { trunk_id } = await rowOf(number.id);
  const rows = await server.deps.database.inWorkspace(workspaceId, (tx) => readTrunks(tx, [trunk_id]));
  let answer = (_probe: TrunkProbe) => {};
  faults.probe = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const check = checkTrunks(server.deps, rows);
  faults = {};
  expect((await patch(number.id, { outboundTermination: 'ok.sim' })).data?.isOutboundReady).toBe(true);
  answer({ valid: false, reachable: false, credentials: 'not_given', reason: 'unreachable' });
  await check;
  expect((await read(number.id))?.isOutboundReady).toBe(true);
});

test('a PATCH changes what it names, null empties, and the whole number comes back', async () => {
  const number = await bought();
  const full = {
    friendlyName: 'Desk',
    label: 'nyc',
    inboundAgentId: 'agent_in',
    outboundAgentId: 'agent_out',
    allowedInboundCountries: ['US'],
    allowedOutboundCountries: ['US', 'CA'],
    inboundWebhookUrl: 'https://crm.example.com/in',
  };
  const { data, response } = await patch(number.id, full);
  expect(response.status).toBe(200);
  const { outboundReason: before, ...whole } = number;
  expect(before).toBe('no_outbound_agent');
  expect(data).toMatchObject({
    ...whole,
    friendlyName: 'Desk',
    isInboundReady: true,
    isOutboundReady: true,
    updatedAt: data!.updatedAt,
  });
  expect(data).toMatchObject({
    allowedInboundCountries: ['US'],
    allowedOutboundCountries: ['US', 'CA'],
    inboundAgentPublicId: 'agent_in',
  });
  expect(await read(number.id)).toEqual(data);
  expect(await eventsOf(number.id)).toEqual([number, data]);
  expect((await patch(number.id, {})).data).toEqual(data);
  expect(await eventsOf(number.id)).toHaveLength(2);
  const emptied = await patch(number.id, Object.fromEntries(Object.keys(full).map((key) => [key, null])));
  const { updatedAt, ...rest } = number;
  expect(emptied.data).toEqual({ ...rest, updatedAt: emptied.data!.updatedAt });
});

test('one agent both ways', async () => {
  const number = await bought();
  const both = await patch(number.id, { outboundAgentId: 'agent_a', useSameForInbound: true });
  expect(both.data).toMatchObject({
    inboundAgentPublicId: 'agent_a',
    inboundAgentName: 'Name of agent_a',
    isInboundReady: true,
  });
  expect((await patch(number.id, { outboundAgentId: 'agent_b', useSameForInbound: false })).data).toMatchObject({
    inboundAgentPublicId: 'agent_a',
  });
  expect((await patch(number.id, { useSameForInbound: true })).data).toMatchObject({ inboundAgentPublicId: 'agent_b' });
  expect((await patch(number.id, { useSameForInbound: true, inboundAgentId: 'agent_b' })).response.status).toBe(200);
  for (const inboundAgentId of ['agent_a', null]) {
    const { response, error } = await patch(number.id, { useSameForInbound: true, inboundAgentId });
    expect([response.status, error?.code, error?.details?.[0]?.path]).toEqual([
      400,
      'invalid_request',
      '/body/inboundAgentId',
    ]);
  }
  const seen = async (body: object) => {
    const { data } = await patch(number.id, body);
    return [data!.useSameForInbound, data!.inboundAgentPublicId];
  };
  expect(await seen({ outboundAgentId: 'agent_c' })).toEqual([true, 'agent_c']);
  expect(await seen({ outboundAgentId: 'agent_d', useSameForInbound: false })).toEqual([false, 'agent_c']);
  expect(await seen({ outboundAgentId: 'agent_e' })).toEqual([false, 'agent_c']);
  expect(await seen({ useSameForInbound: true })).toEqual([true, 'agent_e']);
  expect(await seen({ label: 'Desk' })).toEqual([true, 'agent_e']);
  expect(await seen({ inboundAgentId: 'agent_a' })).toEqual([false, 'agent_a']);
  expect(await seen({ outboundAgentId: 'agent_f' })).toEqual([false, 'agent_a']);
  const none = await patch(number.id, { outboundAgentId: null, useSameForInbound: true });
  expect(none.data).not.toHaveProperty('inboundAgentPublicId');
});

test('a change of the trunk is checked at once, and credentials go with their user', async () => {
  const number = await imported({ outboundAgentId: 'agent_out', sipConfig: { terminationUrl: hostOf('dead.sim') } });
  const fixed = await patch(number.id, {
    outboundTermination: 'sips:ok.sim',
    sipConfig: { username: 'me', password, transport: 'tls', ipAllowlist: ['::1'] },
  });
  expect(fixed.data).toMatchObject({
    isOutboundReady: true,
    sipConfig: { terminationUrl: 'sips:ok.sim', username: 'me', transport: 'tls', ipAllowlist: ['::1'] },
  });
  expect(probed.at(-1)).toMatchObject({ terminationUrl: 'sips:ok.sim', username: 'me', password, transport: 'tls' });
  const checks = probed.length;
  await patch(number.id, { friendlyName: 'x', sipConfig: { ipAllowlist: null } });
  expect(probed).toHaveLength(checks);
  const removed = await patch(number.id, { sipConfig: { username: null } });
  expect(removed.data?.sipConfig).toEqual({ terminationUrl: 'sips:ok.sim', transport: 'tls' });
  expect((await rowOf(number.id)).trunk?.password).toBeNull();
  expect(probed.at(-1)).toMatchObject({ terminationUrl: 'sips:ok.sim', transport: 'tls' });
  expect(probed.at(-1)).not.toHaveProperty('username');
  const without = await patch(number.id, { outboundTermination: null });
  expect(without.data).toMatchObject({ isOutboundReady: false });
  expect(without.data).not.toHaveProperty('sipConfig');
  expect((await rowOf(number.id)).trunk).toBeNull();
  const { error } = await patch(number.id, { sipConfig: { transport: 'tls' } });
  expect(error?.details?.[0]?.path).toBe('/body/sipConfig');
});

test('a webhook of inbound calls may be plain http only where the settings allow the host', async () => {
  const number = await imported();
  const inboundWebhookUrl = 'http://127.0.0.1:8799/inbound';
  expect((await patch(number.id, { inboundWebhookUrl })).data).toMatchObject({ inboundWebhookUrl });
  const { error } = await patch(number.id, { inboundWebhookUrl: 'http://127.0.0.2/inbound' });
  expect(error?.details).toEqual([
    {
      path: '/body/inboundWebhookUrl',
      message: 'must not lead into the network of the server, unless OUTBOUND_ALLOWED_ADDRESSES names it',
    },
  ]);
  expect((await patch(number.id, { inboundWebhookUrl: null })).data).not.toHaveProperty('inboundWebhookUrl');
});

test('faults of agents and trunks are 400 and say where, and nothing is changed', async () => {
  const [own, theirs] = [await imported(), await bought()];
  const cases: [string, object, string][] = [
    [own.id, { inboundAgentId: 'nobody' }, '/body/inboundAgentId'],
    [own.id, { outboundAgentId: 'nobody' }, '/body/outboundAgentId'],
    [own.id, { outboundTermination: 'host:70000' }, '/body/outboundTermination'],
    [own.id, { sipConfig: { ipAllowlist: ['1.2.3'] } }, '/body/sipConfig/ipAllowlist/0'],
    [own.id, { sipConfig: { username: null, password } }, '/body/sipConfig/password'],
    [theirs.id, { outboundTermination: null }, '/body/outboundTermination'],
    [theirs.id, { sipConfig: { transport: 'tls' } }, '/body/sipConfig'],
    [own.id, { inboundWebhookUrl: 'http://crm.example.com' }, '/body/inboundWebhookUrl'],
    [own.id, { inboundWebhookUrl: 'https://10.0.0.1/in' }, '/body/inboundWebhookUrl'],
    [own.id, { inboundWebhookUrl: 'ftp://crm.example.com' }, '/body/inboundWebhookUrl'],
    [own.id, { status: 'active' }, '/body/status'],
  ];
  for (const [id, body, where] of cases) {
    const { response, error } = await patch(id, { label: 'no', ...body });
    expect([response.status, error?.code, error?.details?.[0]?.path]).toEqual([400, 'invalid_request', where]);
  }
  expect(await read(own.id)).toEqual(own);
  expect(await read(theirs.id)).toEqual(theirs);
  for (const body of [
    { outboundAgentId: 'nobody' },
    { inboundWebhookUrl: 'http://crm.example.com' },
    { sipConfig: { terminationUrl: 'host:0' } },
    { sipConfig: { terminationUrl: 'host', ipAllowlist: ['1.2.3.4/99'] } },
    { sipConfig: { terminationUrl: 'host', password } },
    { phoneNumbers: [] },
    { phoneNumbers: Array(101).fill('+14155550100') },
  ]) {
    expect((await send(body)).response.status).toBe(400);
  }
  expect((await patch(own.id, { outboundAgentId: 'agent_down' })).error?.code).toBe('unavailable');
});

test('pages, order and search, taken literally and whatever the case', async () => {
  await imported({ phoneNumbers: ['+12125559001'], friendlyName: 'Größe 100%', label: 'a_b' });
  await imported({ phoneNumbers: ['+12125559002'], friendlyName: 'Other', label: 'aXb' });
  await imported({ phoneNumbers: ['+12125559003'], friendlyName: 'back\\slash' });
  const numbers = async (query: object) => (await list(query)).items.map(({ phoneNumber }) => phoneNumber);
  expect(await numbers({ searchText: 'GRÖSSE 100%' })).toEqual([]);
  expect(await numbers({ searchText: 'GRÖßE' })).toEqual(['+12125559001']);
  expect(await numbers({ searchText: '%' })).toEqual(['+12125559001']);
  expect(await numbers({ searchText: 'A_B' })).toEqual(['+12125559001']);
  expect(await numbers({ searchText: '\\' })).toEqual(['+12125559003']);
  const search = { searchText: '+1212555900', column: 'phone_number' };
  expect(await numbers({ ...search, order: 'asc' })).toEqual(['+12125559001', '+12125559002', '+12125559003']);
  expect(await numbers({ ...search, perPage: 2 })).toEqual(['+12125559003', '+12125559002']);
  expect(await numbers({ ...search, perPage: 2, page: 2 })).toEqual(['+12125559001']);
  expect(await numbers({ ...search, page: 9 })).toEqual([]);
  const page = await list({ ...search, perPage: 2 });
  expect(page).toMatchObject({
    page: 1,
    perPage: 2,
    totalCount: 3,
    column: 'phone_number',
    order: 'desc',
    searchText: search.searchText,
  });
  const newest = await list();
  expect(newest).toMatchObject({ perPage: 20, column: 'created_at', order: 'desc', searchText: '' });
  expect(await list({ column: 'createdAt', searchText: '' })).toEqual(newest);
  const times = newest.items.map(({ createdAt }) => createdAt);
  expect(times).toEqual(times.toSorted().toReversed());
});

/** A campaign or a call that uses a number, as far as a release looks at it. */
const campaignOf = (numberId: string, status: NonNullable<Given<'campaigns'>['status']>) =>
  seedRow(server.deps.database, 'campaigns', {
    workspace_id: workspaceId,
    name: `A "${status}" one`,
    phone_number_id: fromId(numberId),
    status,
  });
const callOf = (numberId: string) =>
  seedRow(server.deps.database, 'calls', {
    workspace_id: workspaceId,
    phone_number_id: fromId(numberId),
    to_number: 14155550001,
    status: 'in_progress',
  });

test('a released number is gone, told to webhooks, and can be had again', async () => {
  for (const number of [await imported(), await bought()]) {
    const { data, response } = await remove(number.id);
    expect([response.status, data]).toEqual([200, { id: number.id, deleted: true }]);
    for (const gone of [
      await server.client.GET(`${path}/{id}`, at(number.id)),
      await patch(number.id, {}),
      await remove(number.id),
    ]) {
      expect([gone.response.status, gone.error?.code]).toEqual([404, 'not_found']);
    }
    expect(await list({ searchText: number.phoneNumber })).toMatchObject({ items: [], totalCount: 0 });
    expect((await eventsOf(number.id)).at(-1)?.status).toBe('released');
    expect((await imported({ phoneNumbers: [number.phoneNumber] })).phoneNumber).toBe(number.phoneNumber);
  }
});

test('a number in use is not released', async () => {
  for (const status of ['scheduled', 'running', 'paused'] as const) {
    const { id } = await imported();
    await campaignOf(id, status);
    const { response, error } = await remove(id);
    expect([response.status, error?.code]).toEqual([409, 'number_in_use']);
    expect(error?.error).toContain(`The campaign "A "${status}" one"`);
    expect((await read(id))?.status).toBe('active');
  }
  const called = await bought();
  await callOf(called.id);
  expect((await remove(called.id)).error?.code).toBe('number_in_use');
  await inWorkspace(sql`update calls set ended_at = queued_at`);
  expect((await remove(called.id)).response.status).toBe(200);
  for (const status of ['draft', 'completed', 'stopped'] as const) {
    const { id } = await imported();
    await campaignOf(id, status);
    expect((await remove(id)).response.status).toBe(200);
  }
});

test('of a release and a campaign that begins at once one sees the other', async () => {
  for (const number of [await imported(), await bought()]) {
    const campaign = { workspace_id: workspaceId, phone_number_id: fromId(number.id) };
    const release = await meanwhile(
      server.deps.database,
      async ({ db }) => {
        const numbers = db.selectFrom('phone_numbers').select('status').where('workspace_id', '=', workspaceId);
        const held = await numbers.where('id', '=', fromId(number.id)).forShare().execute();
        expect(held).toEqual([{ status: 'active' }]);
        await insertRows(db, 'campaigns', [campaign]);
      },
      () => remove(number.id),
    );
    expect(release.error?.code).toBe('number_in_use');
  }
});

test('a provider that fails keeps the number: 502, and again later', async () => {
  const number = await bought();
  faults.release = async () => {
    throw new Error('vendor stack');
  };
  const { response, error } = await remove(number.id);
  expect([response.status, error?.code]).toEqual([502, 'provider_error']);
  expect(error?.error).not.toContain('vendor');
  expect(await read(number.id)).toEqual(number);
  faults = {};
  expect((await remove(number.id)).response.status).toBe(200);
});

test('of releases at once one gives the number back', async () => {
  const number = await bought();
  let given = 0;
  faults.release = async () => {
    given += 1;
    await new Promise((resolve) => setTimeout(resolve, 300));
  };
  const statuses = (await Promise.all(Array.from({ length: 5 }, () => remove(number.id)))).map(
    ({ response }) => response.status,
  );
  expect(statuses.toSorted()).toEqual([200, 409, 409, 409, 409]);
  expect(given).toBe(1);
});

test('a release that its server died over is ended by another', async () => {
  const number = await bought();
  await inWorkspace(sql`update phone_numbers set status = 'suspended', releasing_from = 'active', due_at = ${server.clock.now()}
    where id = ${fromId(number.id)}`);
  await takeUpDueNumbers(server.deps);
  expect(await read(number.id)).toBeUndefined();
  expect(
    (await server.client.POST(`${path}/buy`, { body: { phoneNumber: number.phoneNumber, provider: 'simulator' } }))
      .response.status,
  ).toBe(201);
});

test('a number that another workspace has bought since is not taken from it', async () => {
  const number = await bought();
  await simulator.releaseNumber({ phoneNumber: number.phoneNumber });
  await inWorkspace(sql`update phone_numbers set status = 'suspended', releasing_from = 'active', due_at = ${server.clock.now()}
    where id = ${fromId(number.id)}`);
  const other = await server.clientWith(['*'], 'Third');
  const order = { body: { phoneNumber: number.phoneNumber, provider: 'simulator' as const } };
  const theirs = await other.POST(`${path}/buy`, order);
  expect(theirs.data?.status).toBe('active');
  await takeUpDueNumbers(server.deps);
  expect(await read(number.id)).toBeUndefined();
  expect((await server.client.POST(`${path}/buy`, order)).error?.code).toBe('number_unavailable');
  expect((await other.GET(`${path}/{id}`, at(theirs.data!.id))).data?.status).toBe('active');
});

test('SIP passwords stand nowhere in plain text', async () => {
  const number = await imported({ phoneNumbers: ['+12125559100', '+12125559101'] });
  await patch(number.id, { sipConfig: { password: `${password}-2` } });
  const tables = await inWorkspace(sql<{ all: string }>`
    select n::text as all from phone_numbers n union all select t::text from trunks t union all select e::text from events e union all select a::text from audit_log a`);
  expect(tables.length).toBeGreaterThan(2);
  expect(tables.map((row) => row.all).join()).not.toContain('correct-horse');
  expect(server.logged.join()).not.toContain('correct-horse');
  expect(JSON.stringify([number, await read(number.id), await list()])).not.toContain('assword');
  const passwords = await inWorkspace(sql<{ password: string }>`
    select t.password from phone_numbers n join trunks t on t.id = n.trunk_id
    where n.phone_number in ('+12125559100', '+12125559101')`);
  expect(passwords).toHaveLength(2);
  for (const row of passwords) expect(row.password).toMatch(/^v1\./);
});

test('a password that the key does not open makes the number unready, and others go on', async () => {
  const [broken, good] = [
    await imported({ outboundAgentId: 'agent_out' }),
    await imported({ outboundAgentId: 'agent_out' }),
  ];
  const { trunk } = await rowOf(good.id);
  const { trunk_id } = await rowOf(broken.id);
  await inWorkspace(sql`update trunks set password = ${trunk!.password} where id = ${trunk_id}`);
  server.clock.advance(3_700_000);
  while ((await takeUpDueTrunks(server.deps)) > 0);
  expect(await read(broken.id)).toMatchObject({ isOutboundReady: false, trunkReason: 'unreadable' });
  expect((await read(good.id))?.isOutboundReady).toBe(true);
});

test('calls can be placed from an active number whose trunk has passed, and a released one is gone', async () => {
  const { id } = await imported({ sipConfig: { terminationUrl: hostOf('dead.sim') } });
  const find = () => server.deps.database.inWorkspace(workspaceId, (tx) => findNumber(tx, fromId(id)));
  const row = await find();
  expect(whyNotCallable(row!)).toBe('trunk_paused');
  const ready = { ...row!, trunk_status: 'active' as const };
  expect(whyNotCallable(ready)).toBeUndefined();
  expect(whyNotCallable({ ...ready, status: 'suspended' })).toBe('not_active');
  expect(whyNotCallable({ ...row!, provider: 'simulator' })).toBeUndefined();
  expect(whyNotCallable({ ...row!, trunk_id: null, trunk_status: null })).toBe('no_trunk');
  expect(outboundReason(ready)).toBe('no_outbound_agent');
  expect((await read(id))?.outboundReason).toBe('trunk_paused');
  expect(whyNotFrom(row!, ['sip'])).toMatch(/is paused \(unreachable\)/);
  expect(whyNotFrom(ready, ['sip'])).toBeUndefined();
  expect(whyNotFrom(ready, ['simulator'])).toMatch(/sip .* is not configured/);
  await remove(id);
  expect(await find()).toBeUndefined();
});

test('another workspace can neither see, change, release nor import a number, until it is released', async () => {
  const number = await imported();
  const other = await server.clientWith(['*'], 'Other');
  const never = await server.client.GET(`${path}/{id}`, at('pn_01932f3c8a7e7bd0a1b2c3d4e5f60718'));
  for (const answer of [
    await other.GET(`${path}/{id}`, at(number.id)),
    await other.PATCH(`${path}/{id}`, { ...at(number.id), body: { label: 'mine' } }),
    await other.DELETE(`${path}/{id}`, at(number.id)),
  ]) {
    expect(answer.response.status).toBe(404);
    expect(answer.error).toEqual(never.error);
  }
  expect((await other.GET(path)).data).toMatchObject({ items: [], totalCount: 0 });
  const again = { body: { phoneNumbers: [number.phoneNumber], sipConfig: trunk() } };
  const { data } = await other.POST(`${path}/import/manual`, again);
  expect(data).toEqual({
    imported: [],
    rejected: [{ phoneNumber: number.phoneNumber, code: 'number_unavailable', error: expect.any(String) }],
  });
  expect(JSON.stringify(data)).not.toMatch(/ws_|Default/);
  const bought = { body: { phoneNumber: number.phoneNumber, provider: 'simulator' as const } };
  expect((await other.POST(`${path}/buy`, bought)).error?.code).toBe('number_unavailable');
  expect(await read(number.id)).toEqual(number);
  await remove(number.id);
  expect((await other.POST(`${path}/import/manual`, again)).data?.imported).toHaveLength(1);
});

test('the operator moves a number to the workspace whose it is', async () => {
  const [imports, buys] = [await imported({ outboundAgentId: 'agent_out' }), await bought()];
  const other = await server.clientWith(['*'], 'Owner');
  const { database } = server.deps;
  for (const { id, phoneNumber, provider: of } of [imports, buys]) {
    await moveNumber(database, phoneNumber, 'Owner', server.clock.now());
    expect(await read(id)).toBeUndefined();
    expect((await eventsOf(id)).at(-1)?.status).toBe('released');
    const { items } = (await other.GET(path, { params: { query: { searchText: phoneNumber } } })).data!;
    expect(items).toMatchObject([{ phoneNumber, status: 'active', provider: of, isOutboundReady: false }]);
    expect(items[0]).not.toHaveProperty('trunkId');
  }
  const refused = (number: string, workspace: string) =>
    expect(moveNumber(database, number, workspace, server.clock.now())).rejects;
  await refused(buys.phoneNumber, 'Owner').toThrow('already');
  await refused(buys.phoneNumber, 'Nobody').toThrow('no workspace');
  await refused(freeNumber(), 'Owner').toThrow('No workspace has');
  const used = await imported();
  await callOf(used.id);
  await refused(used.phoneNumber, 'Owner').toThrow(/uses .* in Default/);
  const end = (id: string) =>
    inWorkspace(sql`
      update calls set status = 'completed', outcome = 'answered', ended_by = 'agent', ended_at = now()
      where phone_number_id = ${fromId(id)} returning id`);
  await end(used.id);

  // What is bought takes the place of what the other workspace has at a carrier of its own, unless that is in use.
  const twin = await imported();
  await inWorkspace(sql`update phone_numbers set shared = false where id = ${fromId(twin.id)} returning id`);
  const buys2 = await other.POST(`${path}/buy`, { body: { phoneNumber: twin.phoneNumber, provider: 'simulator' } });
  expect(buys2.error).toBeUndefined();
  await callOf(twin.id);
  await refused(twin.phoneNumber, 'Default').toThrow(/uses .* in Default/);
  await end(twin.id);
  await moveNumber(database, twin.phoneNumber, 'Default', server.clock.now());
  expect(await read(twin.id)).toBeUndefined();
  const { items } = await list({ searchText: twin.phoneNumber });
  expect(items).toMatchObject([{ status: 'active', provider: 'simulator' }]);
});

test('who may not is refused: 400, 401, 403, 413, 415', async () => {
  const { id } = await imported();
  const stranger = server.clientOf('tl_test_0123456789012345678901234567890123456789012');
  const reader = await server.clientWith(['phone_numbers:read']);
  const writer = await server.clientWith(['phone_numbers:write']);
  const imports = { body: { phoneNumbers: [freeNumber()], sipConfig: trunk() } };
  for (const [client, status] of [
    [stranger, 401],
    [reader, 403],
  ] as const) {
    expect((await client.POST(`${path}/import/manual`, imports)).response.status).toBe(status);
    expect((await client.PATCH(`${path}/{id}`, { ...at(id), body: {} })).response.status).toBe(status);
    expect((await client.DELETE(`${path}/{id}`, at(id))).response.status).toBe(status);
  }
  for (const [client, status] of [
    [stranger, 401],
    [writer, 403],
  ] as const) {
    expect((await client.GET(path)).response.status).toBe(status);
    expect((await client.GET(`${path}/{id}`, at(id))).response.status).toBe(status);
  }
  const wrong = 'run_01932f3c8a7e7bd0a1b2c3d4e5f60718';
  expect((await server.client.GET(`${path}/{id}`, at(wrong))).response.status).toBe(400);
  expect((await remove(wrong)).response.status).toBe(400);
  expect((await server.client.GET(path, { params: { query: { perPage: 101 } } })).response.status).toBe(400);
  for (const [method, where] of [
    ['POST', 'import/manual'],
    ['PATCH', id],
  ] as const) {
    const raw = (body: string, type: string) =>
      fetch(`${server.url}${path}/${where}`, {
        method,
        headers: { 'X-API-Key': server.apiKey, 'Content-Type': type },
        body,
      });
    expect((await raw('{}', 'text/plain')).status).toBe(415);
    expect((await raw(JSON.stringify({ label: 'x'.repeat(3_000_000) }), 'application/json')).status).toBe(413);
  }
});
