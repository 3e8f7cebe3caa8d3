import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inboundSecretPlace } from '../../../src/platform/workspace/inbound-secret.ts';
import { type NumberServer, startNumberServer } from '../../lines/phone-numbers/number-server.ts';
import { seedRows } from '../../seed/rows.ts';

let server: NumberServer;
let workspaceId: string;

beforeAll(async () => {
  server = await startNumberServer();
  const { rows } = await server.deps.database.inEngine((tx) =>
    sql<{ id: string }>`select id from workspaces`.execute(tx.db),
  );
  workspaceId = rows[0]!.id;
});
afterAll(() => server.stop());

const read = async () => (await server.client.GET('/v1/workspace')).data!.data;
/** Also what the contract forbids. */
const patch = (body: object) =>
  server.client.PATCH('/v1/workspace', { body: body as components['schemas']['UpdateWorkspace'] });
const actions = async () => {
  const { rows } = await server.deps.database.inEngine((tx) =>
    sql<{ action: string }>`select action from audit_log where resource_type = 'workspace' order by id`.execute(tx.db),
  );
  return rows.map((row) => row.action);
};

test('a new workspace has no limits but quiet hours that nobody has set, and has used nothing', async () => {
  const workspace = await read();
  expect(workspace).toMatchObject({
    id: `ws_${workspaceId.replaceAll('-', '')}`,
    name: 'Default',
    limits: {},
    quietHours: { start: 21 * 60, end: 8 * 60 },
    quietHoursAreDefault: true,
    usage: { callsToday: 0, numbersBoughtToday: 0, liveCalls: 0 },
  });
  expect(workspace).not.toHaveProperty('trustedNumbers');
  expect(workspace).not.toHaveProperty('dialingPausedAt');
});

test('a change changes what it names; null lifts, and hours that change are told', async () => {
  const all = {
    maxConcurrentCalls: 5,
    maxAttemptsPerPersonPerDay: 3,
    maxAttemptsPerPerson: [{ attempts: 7, hours: 168 }],
    maxCallsPerDay: 9,
    maxNumbersPerDay: 0,
    allowedCountries: ['US', 'DE'],
    premiumRateAllowed: true,
  };
  const first = await patch({ name: 'Clinic', limits: all, quietHours: { start: 0, end: 480 } });
  expect(first.response.status).toBe(200);
  expect(first.data?.data).toMatchObject({ name: 'Clinic', limits: all, quietHours: { start: 0, end: 480 } });
  expect(server.hoursChanged).toEqual([workspaceId]);
  await patch({ quietHours: { start: 0, end: 480 } });
  await patch({ limits: { maxCallsPerDay: null, allowedCountries: [] } });
  expect(server.hoursChanged).toHaveLength(1);
  const { maxCallsPerDay, allowedCountries, ...rest } = all;
  expect((await read()).limits).toEqual(rest);
  await patch({
    limits: {
      maxConcurrentCalls: null,
      maxAttemptsPerPersonPerDay: null,
      maxAttemptsPerPerson: [],
      maxNumbersPerDay: null,
      premiumRateAllowed: false,
    },
    quietHours: null,
  });
  expect(await read()).toMatchObject({ name: 'Clinic', limits: {} });
  expect(await read()).not.toHaveProperty('quietHours');
  expect(server.hoursChanged).toHaveLength(2);
});

test('an empty change changes nothing and leaves no trace', async () => {
  const [before, traces] = [await read(), await actions()];
  expect((await patch({})).data?.data).toEqual(before);
  expect((await patch({ limits: {} })).data?.data).toEqual(before);
  expect(await actions()).toEqual(traces);
});

test('quiet hours may run past midnight; those that end when they start are refused', async () => {
  const night = { start: 1260, end: 480 };
  expect((await patch({ quietHours: night })).data?.data).toMatchObject({ quietHours: night });
  const { response, error } = await patch({ quietHours: { start: 480, end: 480 } });
  expect(response.status).toBe(400);
  expect(error).toMatchObject({ code: 'invalid_request', details: [{ path: '/body/quietHours' }] });
  await patch({ quietHours: null });
});

test('quiet windows and holidays are kept, told when they change, and taken away', async () => {
  const quietWindows = [{ days: [7], start: 0, end: 1440 }];
  const before = server.hoursChanged.length;
  const { data } = await patch({ quietWindows, holidays: ['2027-01-01', '2026-12-25'] });
  expect(data?.data).toMatchObject({ quietWindows, holidays: ['2026-12-25', '2027-01-01'] });
  await patch({ quietWindows });
  expect(server.hoursChanged).toHaveLength(before + 1);
  await patch({ quietWindows: null, holidays: [] });
  expect(server.hoursChanged).toHaveLength(before + 2);
  expect(await read()).not.toHaveProperty('quietWindows');
  expect(await read()).not.toHaveProperty('holidays');
});

test('the kill switch keeps its first time, and going on twice is going on', async () => {
  const pause = async () => (await server.client.POST('/v1/workspace/pause-dialing')).data!.data.dialingPausedAt;
  const resume = async () => (await server.client.POST('/v1/workspace/resume-dialing')).response.status;
  const first = await pause();
  expect(first).toMatch(/Z$/);
  server.clock.advance(60_000);
  expect(await pause()).toBe(first);
  expect((await read()).dialingPausedAt).toBe(first);
  expect([await resume(), await resume()]).toEqual([200, 200]);
  expect(await read()).not.toHaveProperty('dialingPausedAt');
  expect((await actions()).slice(-2)).toEqual(['workspace.dialing_paused', 'workspace.dialing_resumed']);
});

test('usage counts this UTC day and the calls that are up', async () => {
  const now = server.clock.now();
  const workspace = { workspace_id: workspaceId };
  await seedRows(server.deps.database, 'workspace_usage', [
    { ...workspace, day: now.toISOString().slice(0, 10), calls: 7, numbers_bought: 2 },
    { ...workspace, day: '2020-01-01', calls: 100, numbers_bought: 100 },
  ]);
  await seedRows(server.deps.database, 'calls', [
    { ...workspace, to_number: 14155550001 },
    { ...workspace, to_number: 14155550002, ended_at: now },
  ]);
  expect((await read()).usage).toEqual({ callsToday: 7, numbersBoughtToday: 2, liveCalls: 1 });
});

test('a rotated secret is shown once and kept encrypted', async () => {
  const rotate = async () => (await server.client.POST('/v1/workspace/rotate-inbound-secret')).data!.data;
  const [{ secret: old }, { secret, rotatedAt }] = [await rotate(), await rotate()];
  expect(secret).toMatch(/^whsec_/);
  expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
  expect(secret).not.toBe(old);
  expect(rotatedAt).toBe((await read()).updatedAt);
  const { rows } = await server.deps.database.inEngine((tx) =>
    sql<{ inbound_secret: string; all: string }>`select inbound_secret, w::text as all from workspaces w`.execute(
      tx.db,
    ),
  );
  expect(rows[0]!.all).not.toContain(secret.slice(6));
  expect(server.deps.secrets.decrypt(rows[0]!.inbound_secret, inboundSecretPlace(workspaceId))).toBe(secret);
  expect(JSON.stringify(await read())).not.toContain('whsec_');
  expect(server.logged.join()).not.toContain(secret.slice(6));
});

test('what is not a request is refused: 400, 401, 403, 413, 415', async () => {
  for (const body of [
    { limits: { maxCallsPerDay: 0 } },
    { name: '' },
    { color: 'red' },
    { quietHours: { start: 1 } },
    { quietWindows: [] },
    { quietWindows: [{ days: [8], start: 0, end: 60 }] },
    { holidays: ['2026-02-30'] },
    { holidays: Array.from({ length: 367 }, (_, day) => new Date(day * 86_400_000).toISOString().slice(0, 10)) },
  ]) {
    expect((await patch(body)).response.status).toBe(400);
  }
  expect((await fetch(`${server.url}/v1/workspace?x=1`, { headers: { 'X-API-Key': server.apiKey } })).status).toBe(400);
  const posts = ['pause-dialing', 'resume-dialing', 'rotate-inbound-secret'] as const;
  for (const each of posts) {
    const url = `${server.url}/v1/workspace/${each}?x=1`;
    expect((await fetch(url, { method: 'POST', headers: { 'X-API-Key': server.apiKey } })).status).toBe(400);
  }
  const stranger = server.clientOf('tl_test_0123456789012345678901234567890123456789012');
  const nobody = await server.clientWith([]);
  expect((await nobody.GET('/v1/workspace')).response.status).toBe(200);
  expect((await stranger.GET('/v1/workspace')).response.status).toBe(401);
  for (const [client, status] of [
    [stranger, 401],
    [nobody, 403],
  ] as const) {
    expect((await client.PATCH('/v1/workspace', { body: { name: 'x' } })).response.status).toBe(status);
    for (const each of posts) expect((await client.POST(`/v1/workspace/${each}`)).response.status).toBe(status);
  }
  const send = (body: string, type: string) =>
    fetch(`${server.url}/v1/workspace`, {
      method: 'PATCH',
      headers: { 'X-API-Key': server.apiKey, 'Content-Type': type },
      body,
    });
  expect((await send('{}', 'text/plain')).status).toBe(415);
  expect((await send(JSON.stringify({ name: 'x'.repeat(3_000_000) }), 'application/json')).status).toBe(413);
});

test('each workspace has its own switch and limits', async () => {
  const other = await server.clientWith(['*'], 'Other');
  await other.PATCH('/v1/workspace', { body: { limits: { maxCallsPerDay: 1 } } });
  await other.POST('/v1/workspace/pause-dialing');
  expect((await read()).limits).toEqual({ premiumRateAllowed: false });
  expect(await read()).not.toHaveProperty('dialingPausedAt');
  expect((await other.GET('/v1/workspace')).data?.data).toMatchObject({
    name: 'Other',
    usage: { callsToday: 0, liveCalls: 0 },
  });
});

let workspaces = 0;
/** A workspace that is new. */
async function anotherWorkspace() {
  workspaces += 1;
  return { client: await server.clientWith(['*'], `New ${workspaces}`) };
}

test('quiet hours are somebody’s own once they are set, to the same or to none', async () => {
  for (const quietHours of [{ start: 21 * 60, end: 8 * 60 }, null]) {
    const { client } = await anotherWorkspace();
    expect((await client.PATCH('/v1/workspace', { body: { name: 'Other' } })).data!.data.quietHoursAreDefault).toBe(
      true,
    );
    const before = server.hoursChanged.length;
    const { data } = (await client.PATCH('/v1/workspace', { body: { quietHours } })).data!;
    expect([data.quietHours ?? null, data.quietHoursAreDefault]).toEqual([quietHours, false]);
    expect(server.hoursChanged).toHaveLength(before + 1);
  }
});

test('one’s own phones are twenty numbers of E.164 at most, kept until they are replaced, and audited', async () => {
  const { client } = await anotherWorkspace();
  const set = (trustedNumbers: string[]) => client.PATCH('/v1/workspace', { body: { trustedNumbers } });
  const phones = Array.from({ length: 21 }, (_, at) => `+141555501${String(at).padStart(2, '0')}`);
  const before = (await actions()).length;
  expect((await set(phones.slice(1))).data!.data).toMatchObject({ trustedNumbers: phones.slice(1) });
  expect((await actions()).slice(before)).toEqual(['workspace.trusted_numbers_updated', 'workspace.updated']);
  for (const [wrong, path] of [
    [phones, '/body/trustedNumbers'],
    [[phones[0]!, phones[0]!], '/body/trustedNumbers'],
    [['(415) 555-0100'], '/body/trustedNumbers/0'],
    [['4155550100'], '/body/trustedNumbers/0'],
    [[phones[0]!, '+1911'], '/body/trustedNumbers/1'],
    [['+14150000000'], '/body/trustedNumbers/0'],
  ] as const) {
    const { error, response } = await set([...wrong]);
    expect([response.status, error?.details?.[0]?.path]).toEqual([400, path]);
  }
  const now = async () => (await client.GET('/v1/workspace')).data!.data;
  expect(await now()).toMatchObject({ trustedNumbers: phones.slice(1), quietHoursAreDefault: true });
  await set([]);
  expect(await now()).not.toHaveProperty('trustedNumbers');
});
