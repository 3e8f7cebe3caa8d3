import { SdpSession, type Target } from '@trunkline/sip';
import { expect, onTestFinished, test } from 'vitest';
import { moveNumber } from '../../../src/commands/move-number.ts';
import { grantTrunks, listGrants, revokeTrunks, type TrunkGrant } from '../../../src/commands/trunk-grants.ts';
import { CommandRefused } from '../../../src/commands/workspace-named.ts';
import { startNameServer } from '../../fairness/name-server.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { startTestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { startAgent } from '../media/agent.ts';
import { type Callee, type Carrier, startCarrier } from './carrier.ts';

const OURS = '+14155550100';
const THEIRS = '+14155550200';
const CALLEE = '+14155550111';
const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };
const answers: Callee = async (call, answer) => {
  await answer();
  await call.hangUp();
};

type Client = Awaited<ReturnType<typeof startTestServer>>['client'];

/** Two carriers that know the server by its address, and a workspace at each; the first stood before there was a second. */
async function twoTenants() {
  const carriers = [
    await startCarrier(() => answers, { host: '127.0.0.2' }),
    await startCarrier(() => answers, { host: '127.0.0.3' }),
  ] as const;
  const names: Record<string, string> = { 'ours.example': '127.0.0.2', 'theirs.example': '127.0.0.3' };
  const dns = await startNameServer(names, 1);
  const agent = await startAgent();
  const rtpPortMin = 31_000 + 2 * Math.floor(Math.random() * 4000);
  const server = await startTestServer({
    nameServers: [dns.address],
    config: {
      ...{ drainSeconds: 0, sipHost: '127.0.0.1', sipPort: 0, rtpPortMin, rtpPortMax: rtpPortMin + 99 },
      ...{ sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback },
    },
  });
  onTestFinished(async () => {
    await server.stop();
    await Promise.all([...carriers.map((carrier) => carrier.stop()), dns.stop(), agent.stop()]);
  });
  const join = async (client: Client, terminationUrl: string, number: string) => {
    const connection = { type: 'stream' as const, url: agent.url };
    const made = await client.POST('/v1/agents', { body: { name: 'Anna', connection } });
    const agentId = made.data!.data.agent.id;
    const trunk = await client.POST('/v1/telephony/trunks', { body: { terminationUrl } });
    expect(trunk.error).toBeUndefined();
    const body = { phoneNumbers: [number], trunkId: trunk.data!.id, inboundAgentId: agentId };
    const imported = await client.POST('/v1/telephony/phone-numbers/import/manual', { body });
    expect(imported.data!.rejected).toEqual([]);
    return { client, agentId, number, trunk: trunk.data! };
  };
  const hosts = [`ours.example:${carriers[0].port}`, `theirs.example:${carriers[1].port}`] as const;
  const us = await join(server.client, hosts[0], OURS);
  const client = server.clientOf(await keyWith(server, { permissions: ['*'], workspace: 'Theirs' }));
  await client.PATCH('/v1/workspace', { body: { quietHours: null } });
  const grant = (given: Omit<TrunkGrant, 'byName'> & { byName?: boolean }) =>
    grantTrunks(server.database, { byName: false, ...given }, new Date(), async (host) => [names[host]!]);
  const revoke = (workspace: string, address: string) =>
    revokeTrunks(server.database, { workspace, address }, new Date());
  return {
    server,
    carriers,
    names,
    hosts,
    us,
    them: { client },
    join: (number = THEIRS) => join(client, hosts[1], number),
    grant,
    revoke,
  };
}

type Tenant = { client: Client; agentId: string; number: string };

/** Calls somebody. Answers what came of it. */
async function call({ client, agentId, number }: Tenant): Promise<string | undefined> {
  const body = { agentId, fromNumber: number, toNumber: CALLEE };
  const { data } = await client.POST('/v1/calls', { body });
  const read = async () =>
    (await client.GET('/v1/calls/{roomId}', { params: { path: { roomId: data!.roomId } } })).data!;
  await until(async () => (await read()).endedAt !== undefined);
  return (await read()).outcome;
}

/** Calls our number from a carrier. Answers whether somebody took it. */
async function arrive(carrier: Carrier, address: string, source: Target): Promise<boolean> {
  const sdp = new SdpSession({ address, port: 9, codecs: ['PCMU'] }).offer();
  const to = `sip:${OURS}@127.0.0.1:${source.port}`;
  const made = carrier.userAgent.invite({ to, from: '<sip:+14155550177@ours.example>', targets: [source], sdp });
  const isAnswered = (await made.answered) !== undefined;
  await made.hangUp();
  return isAnswered;
}

test('who may call a carrier is the operator’s to say, once there is a second workspace', async () => {
  const { server, carriers, names, hosts, us, them, join, grant, revoke } = await twoTenants();
  const [ours, theirs] = carriers;
  expect(await call(us)).toBe('answered');

  // They can name our carrier in no way, with a password or without.
  const credentials = { username: 'anybody', password: 'anything' };
  const refused = async (path: string, body: object, of = '/v1/telephony/trunks' as const) => {
    const { response, error } = await them.client.POST(of, { body: body as never });
    expect(response.status).toBe(400);
    const [detail] = error!.details as { path: string; message: string }[];
    expect(detail).toMatchObject({ path, message: expect.stringContaining('trunkline-server trunks grant') });
  };
  await refused('/body/terminationUrl', { terminationUrl: hosts[0] });
  await refused('/body/terminationUrl', { terminationUrl: hosts[0].toUpperCase(), ...credentials });
  await refused('/body/terminationUrl', { terminationUrl: `sip:127.0.0.2:${ours.port}` });
  await refused('/body/terminationUrl', { terminationUrl: hosts[1], outboundProxy: hosts[0] });
  const sipConfig = { terminationUrl: hosts[0], ipAllowlist: ['127.0.0.2'] };
  const imported = await them.client.POST('/v1/telephony/phone-numbers/import/manual', {
    body: { phoneNumbers: [THEIRS], sipConfig },
  });
  expect(imported.error!.details).toMatchObject([
    { path: '/body/sipConfig/terminationUrl' },
    { path: '/body/sipConfig/ipAllowlist/0' },
  ]);
  await expect(grant({ workspace: 'Theirs', address: 'ours.example' })).rejects.toThrow(CommandRefused);
  await expect(grant({ workspace: 'Theirs', address: '127.0.0.0/24' })).rejects.toThrow(
    /Default's by its grant of ours/,
  );

  // Their own is theirs, and stays so under any name.
  await grant({ workspace: 'Theirs', address: 'theirs.example' });
  const there = await join();
  expect(there.trunk.status).toBe('active');
  expect(await call(there)).toBe('answered');
  expect(await listGrants(server.database)).toEqual([
    expect.stringMatching(/^ws_\w{32} {2}Default {2}ours.example {2}127.0.0.2$/),
    expect.stringMatching(/^ws_\w{32} {2}Theirs {2}theirs.example {2}127.0.0.3$/),
  ]);
  const path = { trunkId: there.trunk.id };
  const listing = await them.client.PATCH('/v1/telephony/trunks/{trunkId}', {
    params: { path },
    body: { ipAllowlist: ['127.0.0.2'] },
  });
  expect(listing.response.status).toBe(400);
  names['theirs.example'] = '127.0.0.2';
  const check = async () =>
    (await them.client.GET('/v1/telephony/trunks/{trunkId}/validate', { params: { path } })).data!;
  await until(async () => expect(await check()).toMatchObject({ valid: false, reason: 'not_granted' }));
  expect(await call(there)).toBe('trunk_error');
  const callers = () => ours.calls.map(({ call: each }) => each.request.headers.get('from') ?? '');
  expect(callers().filter((from) => from.includes(THEIRS))).toEqual([]);
  names['theirs.example'] = '127.0.0.3';
  await until(async () => expect(await check()).toMatchObject({ valid: true }));

  // Our callers reach us still.
  await until(() => arrive(ours, '127.0.0.2', ours.calls[0]!.call.source));

  // A carrier that tells its customers by name is granted to both.
  await expect(grant({ workspace: 'Theirs', address: 'ours.example', byName: true })).rejects.toThrow(/--by-name/);
  await grant({ workspace: 'Default', address: 'ours.example', byName: true });
  await grant({ workspace: 'Theirs', address: 'ours.example', byName: true });
  await expect(grant({ workspace: 'Theirs', address: '127.0.0.2' })).rejects.toThrow(CommandRefused);
  const shared = await them.client.POST('/v1/telephony/trunks', { body: { terminationUrl: hosts[0] } });
  expect(shared.data).toMatchObject({ status: 'active' });

  // What is taken back calls nobody any more.
  await revoke('Theirs', 'theirs.example');
  const trunk = async () => (await them.client.GET('/v1/telephony/trunks/{trunkId}', { params: { path } })).data!;
  await until(async () => expect(await trunk()).toMatchObject({ status: 'paused', reason: 'not_granted' }));
  expect(theirs.calls).toHaveLength(1);
  await grant({ workspace: 'Theirs', address: 'theirs.example' });
  await until(async () => expect((await trunk()).status).toBe('active'));
});

test('a number is a workspace’s own at its own carrier, and one workspace’s at carriers that several share', async () => {
  const { server, carriers, hosts, us, them, join, grant } = await twoTenants();
  expect(await call(us)).toBe('answered');
  const { source } = carriers[0].calls[0]!.call;
  const arrivals = async ({ client }: { client: Client }) =>
    (await client.GET('/v1/calls', { params: { query: { direction: 'inbound', includeTotal: true } } })).data!
      .totalCount;
  const arrivedAt = async () => [await arrivals(us), await arrivals(them)];

  // Nobody takes a number by naming it: each workspace's callers come from its carrier.
  await grant({ workspace: 'Theirs', address: 'theirs.example' });
  const there = await join(OURS);
  await until(() => arrive(carriers[1], '127.0.0.3', source));
  await until(async () => expect(await arrivedAt()).toEqual([0, 1]));
  expect(await arrive(carriers[0], '127.0.0.2', source)).toBe(true);
  await until(async () => expect(await arrivedAt()).toEqual([1, 1]));
  await expect(moveNumber(server.database, OURS, 'Theirs', new Date())).rejects.toThrow(/already|alone/);

  // At a carrier that both share the first has it, whatever brings it there.
  await grant({ workspace: 'Default', address: 'ours.example', byName: true });
  await grant({ workspace: 'Theirs', address: 'ours.example', byName: true });
  const toGrant = grant({ workspace: 'Theirs', address: 'theirs.example', byName: true });
  await expect(toGrant).rejects.toThrow(/Default has \+14155550100 too.*move-number/);
  const path = { trunkId: there.trunk.id };
  const numbers = await them.client.GET('/v1/telephony/phone-numbers');
  const number = { id: numbers.data!.items[0]!.id };
  const shared = await them.client.POST('/v1/telephony/trunks', { body: { terminationUrl: hosts[0] } });
  const trunk = (body: object) => them.client.PATCH('/v1/telephony/trunks/{trunkId}', { params: { path }, body });
  const moved = (body: object) =>
    them.client.PATCH('/v1/telephony/phone-numbers/{id}', { params: { path: number }, body });
  const digest = { inboundDigest: true, username: 'theirs', password: 'a long and random one' };
  for (const [field, refused] of [
    ['outboundProxy', trunk({ outboundProxy: hosts[0] })],
    ['inboundDigest', trunk(digest)],
    ['trunkId', moved({ trunkId: shared.data!.id })],
    ['sipConfig', moved({ sipConfig: { ipAllowlist: ['127.0.0.2'] } })],
  ] as const) {
    const { error, response } = await refused;
    expect(response.status).toBe(400);
    if (field === 'sipConfig') continue;
    expect(error!.details).toEqual([{ path: `/body/${field}`, message: expect.stringMatching(/operator to move it/) }]);
  }
  const body = { phoneNumbers: [OURS, THEIRS], trunkId: shared.data!.id };
  expect(
    (await them.client.DELETE('/v1/telephony/phone-numbers/{id}', { params: { path: number } })).error,
  ).toBeUndefined();
  const imported = await them.client.POST('/v1/telephony/phone-numbers/import/manual', { body });
  expect(imported.data).toMatchObject({
    imported: [{ phoneNumber: THEIRS }],
    rejected: [{ phoneNumber: OURS, code: 'number_unavailable' }],
  });

  // The operator decides.
  await moveNumber(server.database, OURS, 'Theirs', new Date());
  const [, again] = (await them.client.GET('/v1/telephony/phone-numbers')).data!.items.toSorted((a, b) =>
    b.phoneNumber.localeCompare(a.phoneNumber),
  );
  expect(again).toMatchObject({ phoneNumber: OURS, status: 'active' });
  const patch = {
    params: { path: { id: again!.id } },
    body: { trunkId: shared.data!.id, inboundAgentId: there.agentId },
  };
  expect((await them.client.PATCH('/v1/telephony/phone-numbers/{id}', patch)).error).toBeUndefined();
  await until(() => arrive(carriers[0], '127.0.0.2', source));
  await until(async () => expect(await arrivedAt()).toEqual([1, 2]));
});

test('whatever an operator grants, revokes and moves, and in whichever order, no number is free for others meanwhile', async () => {
  const sip = { drainSeconds: 0, sipHost: '127.0.0.1', sipPort: 0, sipAllowedAddresses: loopback };
  const server = await startTestServer({ config: sip });
  onTestFinished(() => server.stop());
  const { database } = server;
  const clientOf = async (workspace: string) =>
    server.clientOf(await keyWith(server, { permissions: ['*'], workspace }));
  const [us, them, others] = [await clientOf('Us'), await clientOf('Them'), await clientOf('Others')];
  const grant = (workspace: string, address: string, byName = false) =>
    grantTrunks(database, { workspace, address, byName }, new Date(), async () => []);
  const revoke = (workspace: string, address: string) => revokeTrunks(database, { workspace, address }, new Date());
  const move = (number: string, workspace: string) => moveNumber(database, number, workspace, new Date());
  const trunkTo = async (client: Client, terminationUrl: string) =>
    (await client.POST('/v1/telephony/trunks', { body: { terminationUrl, probe: 'none' } })).data!.id;
  const take = async (client: Client, trunkId: string, ...phoneNumbers: string[]) => {
    const body = { phoneNumbers, trunkId };
    const { data } = await client.POST('/v1/telephony/phone-numbers/import/manual', { body });
    return data!.rejected.map(({ code }) => code);
  };
  const numbersOf = async (client: Client) =>
    (await client.GET('/v1/telephony/phone-numbers')).data!.items.map(({ phoneNumber }) => phoneNumber).toSorted();

  // What is revoked and still granted by name is shared from then on.
  await grant('Us', '127.0.0.5');
  await grant('Us', '127.0.0.0/24', true);
  const there = await trunkTo(us, '127.0.0.5');
  expect(await take(us, there, OURS)).toEqual([]);
  await revoke('Us', '127.0.0.5');
  await grant('Them', '127.0.0.0/24', true);
  const beside = await trunkTo(them, '127.0.0.5');
  expect(await take(them, beside, OURS)).toEqual(['number_unavailable']);
  // Nor is it free while nothing is granted, to be granted anew.
  await revoke('Us', '127.0.0.0/24');
  expect(await take(them, beside, OURS)).toEqual(['number_unavailable']);
  await grant('Us', '127.0.0.0/24', true);

  // Who is granted nothing keeps no number from others, and gets none from them when it is granted anew.
  await revoke('Them', '127.0.0.0/24');
  expect(await take(them, beside, THEIRS)).toEqual([]);
  expect(await take(us, there, THEIRS)).toEqual([]);
  await grant('Them', 'them.example');
  await expect(grant('Them', '127.0.0.0/24', true)).rejects.toThrow(
    `Us has ${THEIRS} too, at carriers that workspaces share. If it is Them's, first run: trunkline-server move-number --number ${THEIRS} --workspace 'Them'.`,
  );

  // What the operator has decided can't be undone by importing it anew.
  await move(THEIRS, 'Them');
  expect([await numbersOf(us), await numbersOf(them)]).toEqual([[OURS], [THEIRS]]);
  expect(await take(us, there, THEIRS)).toEqual(['number_unavailable']);
  await grant('Them', '127.0.0.0/24', true);
  expect(await take(us, there, THEIRS)).toEqual(['number_unavailable']);

  // At a carrier that is one's alone a number is in nobody's way, and stays.
  await grant('Others', 'others.example');
  const theirs = await trunkTo(others, 'others.example');
  expect(await take(others, theirs, OURS, CALLEE)).toEqual([]);
  await expect(move(CALLEE, 'Us')).rejects.toThrow(/alone \(Others\), and is in nobody's way. Import it in Us/);
  await move(OURS, 'Others');
  expect([await numbersOf(us), await numbersOf(others)]).toEqual([[], [OURS, CALLEE].toSorted()]);
  expect(await take(us, there, OURS)).toEqual(['number_unavailable']);
});
