import type { components } from '@trunkline/client/schema';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId, toId } from '../../src/foundation/values/ids.ts';
import { chances } from '../chances.ts';
import { startAgent } from '../lines/media/agent.ts';
import { type Carrier, startCarrier } from '../lines/telephony/carrier.ts';
import { seedList } from '../seed/list.ts';
import { seedPool } from '../seed/pool.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { until } from '../until.ts';

/** An area code of each state, by the time zones that the state's map shows for it; not what the server reads them from. */
const codesIn: Record<string, number[]> = {
  'America/Chicago': [205, 501, 312, 515, 504, 612, 601, 314, 405, 615, 214, 414, 402, 316],
  'America/New_York': [203, 302, 305, 404, 207, 301, 617, 313, 603, 201, 212, 704, 216, 215, 401, 803, 802, 703, 304],
  'America/Los_Angeles': [213, 702, 206, 503],
  'America/Denver': [303, 406, 505, 801, 307],
  'America/Phoenix': [602],
  'Pacific/Honolulu': [808],
  'America/Anchorage America/Adak': [907],
  'America/Boise America/Los_Angeles': [208],
  'America/Indiana/Indianapolis': [317],
  'America/Kentucky/Louisville': [502],
  'America/Chicago America/Denver': [605, 701],
};
const states = Object.entries(codesIn).flatMap(([zones, codes]) =>
  codes.map((code) => [code, zones.split(' ')] as const),
);
const zonesOf = new Map(states.map(([code, timezones]) => [String(code), timezones]));

/** So many people of random states, Hawaii and Alaska among them. The last digits tell one group from another. */
function people(count: number, group: number): string[] {
  const chance = chances(group + 1);
  const codes = Array.from({ length: count - 2 }, () => states[Math.floor(chance() * states.length)]![0]);
  return [808, 907, ...codes].map((code, at) => `+1${code}555${String(group * 1000 + at).padStart(4, '0')}`);
}

/** The local hour of somebody at an instant, in each time zone in which they may be, as Node formats it. */
const localHours = (number: string, at: Date): number[] =>
  zonesOf
    .get(number.slice(2, 5))!
    .map((timeZone) => Number(new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit' }).format(at)));
const mayRing = (number: string, at: Date) => localHours(number, at).every((hour) => hour >= 8 && hour < 21);

const [REAL, SIMULATED] = ['+14155550100', '+12125550100'];
const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };

/** Who was rung when, by the clock of business and the callees' own list. */
const rung: { number: string; at: Date }[] = [];
let [carrier, server]: [Carrier, TestServer] = [] as never;
let [agentId, workspaceId, closeAgent]: [string, string, () => Promise<void>] = [] as never;

beforeAll(async () => {
  carrier = await startCarrier((user) => {
    rung.push({ number: user, at: server.clock.now() });
    return (call) => call.reject(486);
  });
  const agent = await startAgent();
  closeAgent = agent.stop;
  const rtpPortMin = 31_000 + 2 * Math.floor(Math.random() * 4000);
  server = await startTestServer({
    keepsDefaultHours: true,
    config: {
      ...{ drainSeconds: 0, sipHost: '127.0.0.1', sipPort: 0, rtpPortMin, rtpPortMax: rtpPortMin + 399 },
      ...{ sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback, simulatorSpeed: 100 },
    },
  });
  const { client } = server;
  workspaceId = fromId((await workspace()).id);
  const connection = { type: 'stream' as const, url: agent.url };
  agentId = (await client.POST('/v1/agents', { body: { name: 'Anna', connection } })).data!.data.agent.id;
  const trunk = { terminationUrl: `127.0.0.1:${carrier.port}`, callsPerSecond: 100 };
  const trunkId = (await client.POST('/v1/telephony/trunks', { body: trunk })).data!.id;
  await client.POST('/v1/telephony/phone-numbers/import/manual', { body: { phoneNumbers: [REAL], trunkId } });
  const simulated = { phoneNumber: SIMULATED, provider: 'simulator' as const };
  expect((await client.POST('/v1/telephony/phone-numbers/buy', { body: simulated })).error).toBeUndefined();
});
afterAll(async () => {
  await server.stop();
  await closeAgent();
  await carrier.stop();
});

const workspace = async () => (await server.client.GET('/v1/workspace')).data!.data;
const numbersRung = (among: readonly string[]) => rung.map(({ number }) => number).filter((n) => among.includes(n));

type Caller = { fromNumber: string } | { numberPoolId: string };
type Window = components['schemas']['CallingWindow'];

/** Starts a campaign over some numbers; answers its ID and what the start told. */
async function startCampaign(numbers: readonly string[], from: Caller, callingWindows?: Window[]) {
  const entries = numbers.map((number) => ({ phone_number: Number(number) }));
  const listId = toId('list', await seedList(server.database, workspaceId, entries));
  const body = {
    name: 'People',
    agentId,
    ...from,
    ...(callingWindows && { callingWindows }),
    lists: [{ id: listId, role: 'contacts' as const }],
    maxConcurrency: 50,
  };
  const { id } = (await server.client.POST('/v1/calls/campaigns', { body })).data!.data;
  const path = { params: { path: { id } } };
  const { data: preview } = (await server.client.POST('/v1/calls/campaigns/{id}/preview', path)).data!;
  const { data, error } = await server.client.POST('/v1/calls/campaigns/{id}/start', path);
  return { id, preview, started: data?.data, error };
}

const campaign = async (id: string) =>
  (await server.client.GET('/v1/calls/campaigns/{id}', { params: { path: { id } } })).data!.data;
const contacts = async (id: string) =>
  (await server.client.GET('/v1/calls/campaigns/{id}/contacts', { params: { path: { id }, query: { perPage: 100 } } }))
    .data!.data.items;

/** Waits until all that is due was looked at: a simulated campaign, which begins now, has come to its end. */
async function turn(): Promise<void> {
  const { id } = await startCampaign(['+12005550186'], { fromNumber: SIMULATED });
  await until(async () => expect((await campaign(id)).status).toBe('completed'));
}

test('a campaign whose windows lie within the quiet hours does not start, where a phone would ring', async () => {
  const late = [{ days: [1, 2, 3, 4, 5, 6, 7], start: 21 * 60 + 30, end: 22 * 60 }];
  const { error } = await startCampaign(['+12125550187'], { fromNumber: REAL }, late);
  expect(error).toMatchObject({ code: 'campaign_not_startable', error: expect.stringMatching(/^No hour is open: /) });
  expect((await startCampaign(['+12125550187'], { fromNumber: SIMULATED }, late)).error).toBeUndefined();
});

test('a new workspace rings nobody before 8:00 or after 21:00 where they are; simulated calls are not held', async () => {
  expect(await workspace()).toMatchObject({ quietHours: { start: 1260, end: 480 }, quietHoursAreDefault: true });
  server.clock.set('2026-11-20T06:30:00Z');
  const numbers = people(50, 0);
  const { id, preview, started } = await startCampaign(numbers, { fromNumber: REAL });
  expect(preview).toMatchObject({ callable: 50, defaultQuietHours: 'held' });
  expect(preview.localHours).toMatchObject({ earliest: 480, latest: 1260, earlyOrLate: 0 });
  expect(started!.localHours).toEqual(preview.localHours);
  // Only Hawaii is awake. A simulated campaign of the same people is over meanwhile.
  const simulated = await startCampaign(numbers, { fromNumber: SIMULATED });
  expect(simulated.preview.defaultQuietHours).toBe('simulated');
  expect(simulated.started!.localHours).toMatchObject({ earliest: 0, latest: 1440, earlyOrLate: 50 });
  await until(
    async () => expect((await contacts(simulated.id)).every(({ attempts }) => attempts === 1)).toBe(true),
    30,
  );
  const awake = numbers.filter((number) => number.startsWith('+1808'));
  await until(() => expect(numbersRung(numbers).toSorted()).toEqual(awake.toSorted()));
  const left = (await contacts(id)).filter(({ phoneNumber }) => !awake.includes(phoneNumber));
  expect(new Set(left.map(({ reason }) => reason))).toEqual(new Set(['quiet_hours']));

  for (const time of ['12:59:40', '13:00:05', '13:59:40', '14:00:05', '14:59:40', '15:00:05', '15:59:40', '16:00:05']) {
    server.clock.set(`2026-11-20T${time}Z`);
    await turn();
  }
  for (const time of ['16:59:40', '17:00:05', '17:59:40', '18:00:05']) {
    server.clock.set(`2026-11-20T${time}Z`);
    await turn();
  }
  await until(() => expect(numbersRung(numbers).toSorted()).toEqual(numbers.toSorted()));
  expect(rung.filter(({ number, at }) => !mayRing(number, at))).toEqual([]);
});

test('a batch in the evening rings those alone where it is not 21:00 yet', async () => {
  const numbers = people(50, 1);
  const evening = '2026-11-21T03:30:00Z';
  server.clock.set(evening);
  const recipients = numbers.map((phoneNumber) => ({ phoneNumber }));
  await server.client.POST('/v1/calls/batch', { body: { agentId, fromNumber: REAL, recipients, maxConcurrency: 50 } });
  const awake = numbers.filter((number) => mayRing(number, new Date(evening)));
  await until(() => expect(numbersRung(numbers).toSorted()).toEqual(awake.toSorted()));
  await turn();
  expect(numbersRung(numbers)).toHaveLength(awake.length);
  expect(awake.length).toBeGreaterThan(2);
  expect(awake.length).toBeLessThan(48);
  expect(rung.filter(({ number, at }) => !mayRing(number, at))).toEqual([]);
});

type Five = [string, string, string, string, string];

test('single calls and test calls keep them too, and one’s own phone rings at any hour', async () => {
  server.clock.set('2026-11-22T03:00:00Z');
  const [own, tried, inList, other, late] = ['0', '1', '2', '3', '4'].map((at) => `+1212555911${at}`) as Five;
  const another = '+12125559115';
  const { client } = server;
  const call = (toNumber: string) => client.POST('/v1/calls', { body: { agentId, fromNumber: REAL, toNumber } });
  const { items } = (await client.GET('/v1/telephony/phone-numbers')).data!;
  const realId = items.find(({ phoneNumber }) => phoneNumber === REAL)!.id;
  const testCall = (toNumber: string) =>
    client.POST('/v1/telephony/phone-numbers/{id}/test-call', { params: { path: { id: realId } }, body: { toNumber } });
  const held = await call(own);
  expect(held.data).toMatchObject({ status: 'queued', reason: 'quiet_hours' });
  const refused = await testCall(own);
  expect(refused.error).toMatchObject({ code: 'call_refused', details: [{ reason: 'quiet_hours' }] });
  expect(JSON.stringify(refused.error)).toContain('trustedNumbers');
  const { id } = await startCampaign([inList, other], { fromNumber: REAL });
  await turn();
  expect(numbersRung([own, tried, other, inList])).toEqual([]);

  const trustedNumbers = [own, tried, inList, another];
  const trusted = await client.PATCH('/v1/workspace', { body: { trustedNumbers } });
  expect(trusted.data!.data).toMatchObject({ quietHoursAreDefault: true, trustedNumbers });
  expect((await testCall(tried)).error).toBeUndefined();
  await until(() => expect(numbersRung([tried, inList]).toSorted()).toEqual([tried, inList].toSorted()));
  expect((await call(another)).error).toBeUndefined();
  // The call that waited rings with the new one.
  await until(() => expect(numbersRung([own, another]).toSorted()).toEqual([own, another]));
  await turn();
  expect(numbersRung([other])).toEqual([]);
  expect((await contacts(id)).find(({ phoneNumber }) => phoneNumber === other)).toMatchObject({
    reason: 'quiet_hours',
  });

  // Hours that somebody has set hold for one's own phone and the simulator too.
  const body = { quietHours: { start: 1260, end: 480 } };
  expect((await client.PATCH('/v1/workspace', { body })).data!.data.quietHoursAreDefault).toBe(false);
  expect((await testCall(tried)).error).toMatchObject({ code: 'call_refused' });
  const simulated = await startCampaign([late], { fromNumber: SIMULATED });
  expect(simulated.preview).not.toHaveProperty('defaultQuietHours');
  expect((await contacts(simulated.id))[0]?.reason ?? 'quiet_hours').toBe('quiet_hours');
  // Without any everybody rings, who waits first.
  await client.PATCH('/v1/workspace', { body: { quietHours: null } });
  await until(() => expect(numbersRung([other])).toEqual([other]));
  await until(async () => expect((await campaign(simulated.id)).status).toBe('completed'));
  await server.database.inEngine(({ db }) =>
    db
      .updateTable('workspaces')
      .set({ quiet_hours_start: 1260, quiet_hours_end: 480, quiet_hours_are_default: true, trusted_numbers: [] })
      .where('id', '=', workspaceId)
      .execute(),
  );
});

test('of a pool of both kinds simulated numbers call, and those that ring wait', async () => {
  server.clock.set('2026-11-24T04:00:00Z');
  const members = [
    { phone_number: '+12125550301', provider: 'simulator' as const },
    {
      phone_number: '+12125550302',
      trunk: { termination_url: `127.0.0.1:${carrier.port}`, transport: 'udp' as const },
    },
  ];
  const { poolId } = await seedPool(server.database, workspaceId, members, { max_calls_per_number_per_day: 4 });
  const numbers = Array.from({ length: 8 }, (_, at) => `+1212555820${at}`);
  const { id, preview } = await startCampaign(numbers, { numberPoolId: toId('pool', poolId) });
  expect(preview).toMatchObject({ callable: 8, defaultQuietHours: 'mixed', localHours: { earlyOrLate: 0 } });
  const called = async () => (await contacts(id)).filter(({ attempts }) => attempts > 0).length;
  await until(async () => expect(await called()).toBe(4));
  await turn();
  expect(await called()).toBe(4);
  const left = (await contacts(id)).filter(({ attempts }) => attempts === 0);
  expect(left.map(({ reason }) => reason)).toEqual(Array.from({ length: 4 }, () => 'quiet_hours'));
  expect(numbersRung(numbers)).toEqual([]);
  server.clock.set('2026-11-24T13:00:05Z');
  await until(async () => expect((await contacts(id)).every(({ attempts }) => attempts > 0)).toBe(true));
  await until(() => expect(numbersRung(numbers)).toHaveLength(4));
});

test('whose hours are never open together but for one’s own phone, which waits for its own', async () => {
  // In Anchorage and Adak it is noon, and eleven.
  server.clock.set('2026-11-25T21:00:00Z');
  const [own, other] = ['+19075557001', '+19075557002'] as [string, string];
  await server.client.PATCH('/v1/workspace', { body: { trustedNumbers: [own] } });
  const evening = [{ days: [1, 2, 3, 4, 5, 6, 7], start: 20 * 60 + 30, end: 23 * 60 }];
  const { id, preview } = await startCampaign([own, other], { fromNumber: REAL }, evening);
  expect(preview).toMatchObject({ callable: 1, leftOut: { no_common_hour: 1 }, localHours: { earlyOrLate: 1 } });
  await turn();
  const stateOf = async (number: string) => (await contacts(id)).find(({ phoneNumber }) => phoneNumber === number);
  await until(async () => expect(await stateOf(other)).toMatchObject({ state: 'skipped', reason: 'no_common_hour' }));
  expect(numbersRung([own, other])).toEqual([]);
  // 21:45 and 20:45.
  server.clock.set('2026-11-26T06:45:00Z');
  await until(() => expect(numbersRung([own])).toEqual([own]));
  expect(await stateOf(other)).toMatchObject({ state: 'skipped' });
});
