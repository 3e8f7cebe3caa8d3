import { setTimeout as sleep } from 'node:timers/promises';
import { SdpSession } from '@trunkline/sip';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { moveNumber } from '../../../src/commands/move-number.ts';
import { grantTrunks, revokeTrunks } from '../../../src/commands/trunk-grants.ts';
import { CommandRefused } from '../../../src/commands/workspace-named.ts';
import type { TrunkRow } from '../../../src/lines/trunks/trunk.ts';
import { sharingNow } from '../../../src/lines/trunks/trunk-grants.ts';
import { chances } from '../../chances.ts';
import { startNameServer } from '../../fairness/name-server.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { startTestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { startAgent } from '../media/agent.ts';
import { type Callee, startCarrier } from './carrier.ts';

const SECONDS = 90;
const SEED = Number(process.env.TENANTS_SEED ?? 1);

const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };
const answers: Callee = async (call, answer) => {
  const phone = await answer();
  await phone.speak(Buffer.alloc(800, 0xff));
  await call.hangUp();
};

/** What an operator is told may be anything; it must be no fault. */
const isRefused = (error: unknown) => {
  if (!(error instanceof CommandRefused)) throw error;
};

/** Of the workspace that nobody may harm: at its own carrier, and at one that all share. */
const OWN = '+498912345678';
const SHARED = '+4930901820101';
const numbers = [OWN, SHARED, '+438912345678', '+4930901820102', '+12125550142', '+12125550143'];
const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'] as const;
const [AT_OURS, , , AT_SHARED] = addresses;

test('what other tenants do at random changes nothing for ours, and reaches no carrier but their own', async () => {
  const random = chances(SEED);
  for (let skipped = 0; skipped < 5; skipped += 1) random();
  const one = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)]!;
  const carriers = await Promise.all(addresses.map((host) => startCarrier(() => answers, { host, port: 25_060 })));
  const names: Record<string, string> = {
    ...{ 'ours.example': AT_OURS, 'b.example': '127.0.0.3', 'c.example': '127.0.0.4', 'shared.example': AT_SHARED },
    ...{ 'moving-b.example': '127.0.0.3', 'moving-c.example': '127.0.0.4' },
  };
  const dns = await startNameServer(names, 1);
  const agent = await startAgent();
  const server = await startTestServer({
    nameServers: [dns.address],
    config: {
      ...{ drainSeconds: 0, sipHost: '127.0.0.1', sipPort: 25_060, rtpPortMin: 32_000, rtpPortMax: 32_999 },
      ...{ sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback },
    },
  });
  onTestFinished(async () => {
    await server.stop();
    await Promise.all([...carriers.map((carrier) => carrier.stop()), dns.stop(), agent.stop()]);
  });
  const grant = (workspace: string, address: string, byName = false) =>
    grantTrunks(server.database, { workspace, address, byName }, new Date(), async (host) => [names[host]!]);

  const join = async (workspace?: string) => {
    const client = workspace
      ? server.clientOf(await keyWith(server, { permissions: ['*'], workspace }))
      : server.client;
    await client.PATCH('/v1/workspace', { body: { quietHours: null } });
    const connection = { type: 'stream' as const, url: agent.url };
    const made = await client.POST('/v1/agents', { body: { name: 'Anna', connection } });
    return { client, agentId: made.data!.data.agent.id };
  };
  type Tenant = Awaited<ReturnType<typeof join>>;
  const trunkTo = async ({ client }: Tenant, terminationUrl: string, more = {}) =>
    (await client.POST('/v1/telephony/trunks', { body: { terminationUrl, ...more } })).data?.id;
  const importTo = ({ client, agentId }: Tenant, trunkId: string, phoneNumbers: string[]) =>
    client.POST('/v1/telephony/phone-numbers/import/manual', {
      body: { phoneNumbers, trunkId, inboundAgentId: agentId },
    });

  const us = await join();
  const ours = (await trunkTo(us, 'ours.example:25060', { country: 'DE' }))!;
  expect((await importTo(us, ours, [OWN])).data!.rejected).toEqual([]);
  const others = [await join('B'), await join('C')];
  // Their addresses too: what a name led to is nobody's while the name is revoked.
  await grant('B', '127.0.0.3');
  await grant('C', '127.0.0.4');
  await grant('B', 'b.example');
  await grant('C', 'c.example');
  await grant('B', 'moving-b.example');
  await grant('C', 'moving-c.example');
  for (const workspace of ['Default', 'B', 'C']) await grant(workspace, 'shared.example', true);
  const shared = (await trunkTo(us, 'shared.example:25060'))!;
  expect((await importTo(us, shared, [SHARED])).data!.rejected).toEqual([]);

  /** One thing that a tenant may try. Its answer, of whatever status, is its own matter; it must be none of a fault here. */
  const tried = new Map<string, number>();
  const last: string[] = [];
  const harm = async (at: number): Promise<void> => {
    const tenant = others[at]!;
    const { client } = tenant;
    const hosts = [...Object.keys(names).map((name) => `${name}:25060`), ...addresses.map((ip) => `${ip}:25060`)];
    const trunks = (await client.GET('/v1/telephony/trunks')).data!.items.map(({ id }) => id);
    const owned = (await client.GET('/v1/telephony/phone-numbers')).data!.items;
    const trunk = trunks.length > 0 ? { params: { path: { trunkId: one(trunks) } } } : undefined;
    const number = owned.length > 0 ? one(owned) : undefined;
    const settings = () => ({
      terminationUrl: one(hosts),
      ...(random() < 0.3 && { outboundProxy: one(hosts) }),
      ...(random() < 0.3 && { ipAllowlist: [one([...addresses, '127.0.0.0/29'])] }),
      ...(random() < 0.3 && { country: one(['DE', 'AT', 'US']) }),
      ...(random() < 0.3 && { username: one(['a', 'b']), password: 'a long and random one', inboundDigest: true }),
    });
    const doings = {
      make: () => client.POST('/v1/telephony/trunks', { body: settings() }),
      change: () => trunk && client.PATCH('/v1/telephony/trunks/{trunkId}', { ...trunk, body: settings() }),
      drop: () => trunk && client.DELETE('/v1/telephony/trunks/{trunkId}', trunk),
      import: () => trunk && importTo(tenant, trunk.params.path.trunkId, [one(numbers), one(numbers)]),
      put: () =>
        number &&
        trunk &&
        client.PATCH('/v1/telephony/phone-numbers/{id}', {
          params: { path: { id: number.id } },
          body: { trunkId: trunk.params.path.trunkId },
        }),
      short: () =>
        client.POST('/v1/telephony/phone-numbers/import/manual', {
          body: {
            phoneNumbers: [one(numbers)],
            inboundAgentId: tenant.agentId,
            sipConfig: { terminationUrl: one(hosts) },
          },
        }),
      bring: () =>
        number &&
        client.PATCH('/v1/telephony/phone-numbers/{id}', {
          params: { path: { id: number.id } },
          body: random() < 0.3 ? { trunkId: null } : { sipConfig: { ipAllowlist: [one(addresses)] } },
        }),
      /** Of the operator: what the tenant is granted is taken back while it tries something, and given again. */
      regrant: async () => {
        const workspace = ['B', 'C'][at]!;
        const address = one([`${workspace.toLowerCase()}.example`, 'shared.example']);
        await revokeTrunks(server.database, { workspace, address }, new Date()).catch(isRefused);
        await harm(at);
        await grant(workspace, address, address === 'shared.example').catch(isRefused);
      },
      release: () =>
        number && client.DELETE('/v1/telephony/phone-numbers/{id}', { params: { path: { id: number.id } } }),
      call: () =>
        number &&
        client.POST('/v1/calls', {
          body: {
            agentId: tenant.agentId,
            fromNumber: number.phoneNumber,
            toNumber: `+1415555${at + 2}1${Math.floor(random() * 90 + 10)}`,
          },
        }),
      repoint: () => {
        names[one(['moving-b.example', 'moving-c.example'])] = one(addresses);
      },
    };
    const doing = one(Object.keys(doings) as (keyof typeof doings)[]);
    const answer = await doings[doing]();
    const status = (answer as { response?: Response } | undefined)?.response?.status ?? 0;
    last.push(`${doing} ${status} ${JSON.stringify((answer as { data?: object } | undefined)?.data ?? {})}`);
    tried.set(`${doing} ${status}`, (tried.get(`${doing} ${status}`) ?? 0) + 1);
    expect(status).toBeLessThan(500);
  };

  const source = { transport: 'udp' as const, address: '127.0.0.1', port: 25_060 };
  const arrive = async (at: number, user: string): Promise<string> => {
    const address = addresses[at]!;
    const sdp = new SdpSession({ address, port: 9, codecs: ['PCMU'] }).offer();
    const made = carriers[at]!.userAgent.invite({
      ...{ to: `sip:${user}@127.0.0.1:25060`, from: '<sip:+14155550177@carrier.example>' },
      ...{ targets: [source], sdp },
    });
    const isAnswered = (await made.answered) !== undefined;
    await made.hangUp();
    return isAnswered ? 'answered' : JSON.stringify(await made.ended);
  };
  const callOut = (fromNumber: string) =>
    us.client.POST('/v1/calls', { body: { agentId: us.agentId, fromNumber, toNumber: '+14155551111' } });
  await until(async () => (await arrive(0, OWN)) === 'answered');
  await until(async () => (await arrive(3, SHARED)) === 'answered');
  const arrivals = async () =>
    (await us.client.GET('/v1/calls', { params: { query: { direction: 'inbound', includeTotal: true } } })).data!
      .totalCount!;
  const before = await arrivals();

  let rung = 0;
  const ends = performance.now() + SECONDS * 1000;
  while (performance.now() < ends) {
    await harm(0);
    await harm(1);
    const [at, user] = one([
      [0, OWN],
      [0, OWN.slice(1)],
      [0, '08912345678'],
      [3, SHARED],
    ] as const);
    expect(await arrive(at, user), `${user} at ${addresses[at]} after ${last.slice(-12).join(', ')}`).toBe('answered');
    rung += 1;
    if (rung % 5 === 0) expect((await callOut(one([OWN, SHARED]))).error).toBeUndefined();
    await sleep(20);
  }
  await until(async () => expect(await arrivals()).toBe(before + rung));
  const calledOver = carriers.map(({ calls }) => calls.map(({ user }) => user));
  const [owns, theirs, thirds] = calledOver as [string[], string[], string[], string[]];
  const isOf = (at: number) => (user: string) => new RegExp(`^\\+?1415555${at}1`).test(user);
  expect(owns.filter((user) => !isOf(1)(user))).toEqual([]);
  expect(theirs.filter((user) => !isOf(2)(user))).toEqual([]);
  expect(thirds.filter((user) => !isOf(3)(user))).toEqual([]);
  expect(owns.length).toBeGreaterThan(0);
  console.log(JSON.stringify({ seed: SEED, rung, invites: calledOver.map(({ length }) => length), tried: [...tried] }));
});

test('a number is one workspace’s at shared carriers, however imports, changes and grants cross each other', async () => {
  const sip = { drainSeconds: 0, sipHost: '127.0.0.1', sipPort: 0, sipAllowedAddresses: loopback };
  const server = await startTestServer({ config: sip });
  onTestFinished(() => server.stop());
  const { database } = server;
  const workspaces = ['One', 'Two', 'Three'];
  const clients: Awaited<ReturnType<typeof startTestServer>>['client'][] = [];
  for (const workspace of workspaces) {
    const grant = (address: string, byName: boolean) =>
      grantTrunks(database, { workspace, address, byName }, new Date(), async () => []);
    const client = server.clientOf(await keyWith(server, { permissions: ['*'], workspace }));
    await grant(`${workspace.toLowerCase()}.example`, false);
    await grant('shared.example', true);
    clients.push(client);
  }
  const faults: unknown[] = [];
  const random = chances(SEED);
  const one = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)]!;
  const settings = (workspace: string) => ({
    terminationUrl: one([`${workspace.toLowerCase()}.example`, 'shared.example']),
    ...(random() < 0.2 && { inboundDigest: true, username: 'a', password: 'a long and random one' }),
  });
  const tenant = async (at: number) => {
    const [client, workspace] = [clients[at]!, workspaces[at]!];
    for (let turn = 0; turn < 150; turn += 1) {
      const trunks = (await client.GET('/v1/telephony/trunks')).data!.items;
      const numbers = (await client.GET('/v1/telephony/phone-numbers')).data!.items;
      const [trunk, number] = [
        trunks.length > 0 ? one(trunks) : undefined,
        numbers.length > 0 ? one(numbers) : undefined,
      ];
      const acts = [
        () => client.POST('/v1/telephony/trunks', { body: { probe: 'none', ...settings(workspace) } }),
        () =>
          client.POST('/v1/telephony/phone-numbers/import/manual', {
            body: { phoneNumbers: [OWN, SHARED], sipConfig: { terminationUrl: settings(workspace).terminationUrl } },
          }),
        () =>
          trunk &&
          client.PATCH('/v1/telephony/trunks/{trunkId}', {
            params: { path: { trunkId: trunk.id } },
            body: settings(workspace),
          }),
        () =>
          trunk &&
          client.POST('/v1/telephony/phone-numbers/import/manual', {
            body: { phoneNumbers: [OWN, SHARED], trunkId: trunk.id },
          }),
        () =>
          trunk &&
          number &&
          client.PATCH('/v1/telephony/phone-numbers/{id}', {
            params: { path: { id: number.id } },
            body: { trunkId: trunk.id },
          }),
        () => number && client.DELETE('/v1/telephony/phone-numbers/{id}', { params: { path: { id: number.id } } }),
      ];
      const answer = await one(acts)();
      const status = (answer as { response?: Response } | undefined)?.response?.status ?? 200;
      if (status >= 500) faults.push(answer);
    }
  };
  let isOver = false;
  const operator = async () => {
    while (!isOver) {
      const [workspace, now] = [one(workspaces), new Date()];
      const address = `${workspace.toLowerCase()}.example`;
      const acts = [
        () => grantTrunks(database, { workspace, address, byName: true }, now, async () => []),
        () => revokeTrunks(database, { workspace, address }, now),
        () => grantTrunks(database, { workspace, address, byName: false }, now, async () => []),
        () => moveNumber(database, one([OWN, SHARED]), workspace, now),
      ];
      await one(acts)()
        .catch(isRefused)
        .catch((error) => faults.push(error));
    }
  };
  const operating = operator();
  await Promise.all(clients.map((_client, at) => tenant(at)));
  isOver = true;
  await operating;
  expect(faults).toEqual([]);
  // Each number that callers of several workspaces may reach is known for one, and so the index keeps it one workspace's.
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ workspace_id: string }>`select id as workspace_id from workspaces`.execute(db),
  );
  for (const { workspace_id: workspaceId } of rows) {
    await database.inWorkspace(workspaceId, async (tx) => {
      const isShared = await sharingNow(tx);
      const numbersOn = await sql<TrunkRow & { shared: boolean }>`
        select t.*, n.shared from phone_numbers n join trunks t on t.id = n.trunk_id
        where n.workspace_id = ${workspaceId} and n.status <> 'released'`.execute(tx.db);
      for (const on of numbersOn.rows) expect(on.shared || !isShared(on)).toBe(true);
    });
  }
});
