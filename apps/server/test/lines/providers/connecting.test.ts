import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { moveNumber } from '../../../src/commands/move-number.ts';
import { takeUpDueNumbers } from '../../../src/lines/phone-numbers/tasks.ts';
import { passwordPlace, type TrunkRow } from '../../../src/lines/trunks/trunk.ts';
import { chance, type Fate, testAccount } from '../telephony/twilio/double.ts';
import { startTwilioServer, type TwilioServer } from './twilio-server.ts';

const ORIGIN = 'sip:203.0.113.5:5060';
let server: TwilioServer;
beforeAll(async () => {
  server = await startTwilioServer((provider) => provider, { originUri: ORIGIN });
  await server.save();
});
afterEach(() => {
  server.double.fate = () => undefined;
  expect(server.double.faults).toEqual([]);
});
afterAll(() => server.stop());

const number = async (id: string) =>
  (await server.client.GET('/v1/telephony/phone-numbers/{id}', { params: { path: { id } } })).data!;
const trunks = async () => (await server.client.GET('/v1/telephony/trunks')).data!.items;
const managedRows = () =>
  server.deps.database.inEngine(async ({ db }) => {
    const { rows } = await sql<TrunkRow>`select * from trunks where managed_by is not null`.execute(db);
    return rows;
  });
const pass = async (minutes: number) => {
  server.clock.advance(minutes * 60_000);
  await takeUpDueNumbers(server.deps);
};
const eventsOf = (id: string) =>
  server.deps.database.inEngine(async ({ db }) => {
    const { rows } = await sql<{ data: { status: string } }>`
      select data from events where data->>'id' = ${id} order by revision`.execute(db);
    return rows.map(({ data }) => data.status);
  });

test('the trunk comes with the first number, is one for all of them, and is made whole whatever fails meanwhile', async () => {
  let turn = 0;
  const fates: Fate[] = ['drop', 'lose', 'broken', 'brokenAfter', 'busy'];
  const bought = await Promise.all(['+14155550210', '+14155550211', '+14155550212'].map((each) => server.buy(each)));
  const ids = bought.map(({ data }) => data!.id);
  expect(bought.map(({ data }) => data!.outboundReason)).toEqual(['no_trunk', 'no_trunk', 'no_trunk']);
  server.double.fate = () => {
    const drawn = chance(`trunk ${turn++}`);
    return drawn < 0.3 ? fates[Math.floor((drawn / 0.3) * fates.length)] : undefined;
  };
  for (let tries = 0; tries < 60; tries += 1) {
    await Promise.all([takeUpDueNumbers(server.deps), pass(11)]);
    const all = await Promise.all(ids.map(number));
    if (all.every(({ trunkId }) => trunkId !== undefined)) break;
  }
  server.double.fate = () => undefined;
  const [trunk] = await trunks();
  const [row] = await managedRows();
  expect(await trunks()).toHaveLength(1);
  const name = `trunkline-${trunk!.id === undefined ? '' : row!.workspace_id.replaceAll('-', '')}`;
  expect(trunk).toMatchObject({
    ...{ managedBy: 'twilio', terminationUrl: `${name}.pstn.twilio.com`, username: 'trunkline', hasPassword: true },
    ...{ status: 'active', phoneNumberCount: 3 },
  });
  expect(trunk!.ipAllowlist).toContain('54.172.60.0/30');
  for (const id of ids)
    expect(await number(id)).toMatchObject({ trunkId: trunk!.id, outboundReason: 'no_outbound_agent' });

  const { double } = server;
  expect(double.trunks).toMatchObject([{ name, domain: `${name}.pstn.twilio.com` }]);
  expect(double.trunks[0]!.origins).toContain(ORIGIN);
  expect([...double.numbers.values()].map((each) => each.trunk_sid)).toEqual(Array(3).fill(double.trunks[0]!.sid));
  const lists = double.credentialLists.filter(({ sid }) => double.trunks[0]!.credentialLists.includes(sid));
  const password = server.deps.secrets.decrypt(row!.password!, passwordPlace(row!));
  expect(lists.map(({ passwords }) => passwords.get('trunkline')?.password)).toContain(password);

  const change = {
    params: { path: { trunkId: trunk!.id } },
    body: { username: 'other', terminationUrl: 'other.example' },
  };
  const refused = await server.client.PATCH('/v1/telephony/trunks/{trunkId}', change);
  expect(refused.error?.details?.map(({ path }) => path)).toEqual(['/body/terminationUrl', '/body/username']);
  const paced = { ...change, body: { callsPerSecond: 5 } };
  expect((await server.client.PATCH('/v1/telephony/trunks/{trunkId}', paced)).data?.callsPerSecond).toBe(5);

  for (const id of ids) expect((await server.release(id)).response.status).toBe(200);
  expect(double.numbers.size).toBe(0);
  expect(double.trunks).toHaveLength(1);
});

test('a trunk that somebody has chosen stays, and nothing is put on another', async () => {
  const { data } = await server.buy('+14155550220');
  const made = await server.client.POST('/v1/telephony/trunks', { body: { terminationUrl: 'ok.sim' } });
  const params = { path: { id: data!.id } };
  await server.client.PATCH('/v1/telephony/phone-numbers/{id}', { params, body: { trunkId: made.data!.id } });
  await pass(1);
  expect((await number(data!.id)).trunkId).toBe(made.data!.id);
  expect([...server.double.numbers.values()].map((each) => each.trunk_sid)).toEqual([null]);
  await server.release(data!.id);
});

test('a number that Twilio has lost is suspended within an hour, is told, and is active again when it is back', async () => {
  const { data } = await server.buy('+14155550230');
  await pass(1);
  const [[sid, lost]] = [...server.double.numbers] as [
    [string, typeof server.double.numbers extends Map<string, infer N> ? N : never],
  ];
  server.double.numbers.delete(sid);
  server.double.fate = () => 'broken';
  await pass(55);
  expect((await number(data!.id)).status).toBe('active');
  server.double.fate = () => undefined;
  await pass(11);
  expect(await number(data!.id)).toMatchObject({ status: 'suspended', outboundReason: 'not_active' });
  expect((await eventsOf(data!.id)).at(-1)).toBe('suspended');
  server.double.numbers.set(sid, lost);
  await pass(55);
  expect((await number(data!.id)).status).toBe('active');
  expect((await eventsOf(data!.id)).slice(-2)).toEqual(['suspended', 'active']);
  await server.release(data!.id);
});

test('what somebody has removed at Twilio is made again: the number within an hour, the trunk within a day', async () => {
  const { data } = await server.buy('+14155550250');
  await pass(1);
  const { double } = server;
  const [held] = [...double.numbers.values()];
  const [trunk] = double.trunks;
  const [list] = double.credentialLists.filter(({ sid }) => trunk!.credentialLists.includes(sid));
  const password = list!.passwords.get('trunkline')!.password;
  held!.trunk_sid = null;
  trunk!.origins = [];
  trunk!.credentialLists = [];
  list!.passwords.get('trunkline')!.password = 'Another1Password';
  await pass(55);
  expect(held!.trunk_sid).toBe(trunk!.sid);
  expect(trunk!.origins).toEqual([]);
  await pass(24 * 60);
  expect(trunk).toMatchObject({ origins: [ORIGIN], credentialLists: [list!.sid] });
  expect(list!.passwords.get('trunkline')!.password).toBe(password);
  expect(double.trunks).toHaveLength(1);
  await server.release(data!.id);
});

test('a number moves to another workspace only with its account, and gets the trunk of that one', async () => {
  const { data } = await server.buy('+14155550240');
  await pass(1);
  const neighbour = await server.clientWith(['*'], 'Other');
  const move = () => moveNumber(server.deps.database, '+14155550240', 'Other', server.clock.now());
  await expect(move()).rejects.toThrow('was bought with an account');
  expect((await number(data!.id)).status).toBe('active');
  await server.save(testAccount, neighbour);
  await move();
  await pass(1);
  const { items } = (await neighbour.GET('/v1/telephony/phone-numbers')).data!;
  const theirs = (await neighbour.GET('/v1/telephony/trunks')).data!.items;
  expect(items).toMatchObject([{ id: data!.id, status: 'active', trunkId: theirs[0]!.id }]);
  expect(theirs).toMatchObject([{ managedBy: 'twilio' }]);
  const params = { path: { id: data!.id } };
  expect((await neighbour.DELETE('/v1/telephony/phone-numbers/{id}', { params })).response.status).toBe(200);
  expect(server.double.numbers.size).toBe(0);
});

test('another account gets a trunk of its own at once', async () => {
  const { double } = server;
  const other = { ...testAccount, accountId: `AC${'2'.repeat(32)}` };
  double.accounts.add(other.accountId);
  const changes = [() => server.save(other), async () => [await server.forget(), await server.save()][1]!];
  for (const change of changes) {
    // The other account has none.
    double.trunks.length = 0;
    expect((await change()).response.status).toBe(200);
    const { data } = await server.buy('+14155550260');
    await pass(1);
    expect([...double.numbers.values()].map((each) => each.trunk_sid)).toEqual([double.trunks[0]?.sid]);
    expect((await server.release(data!.id)).response.status).toBe(200);
  }
});
