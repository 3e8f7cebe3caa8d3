import { createUserAgent, type SipRequest, type UserAgent } from '@trunkline/sip';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { createSecrets } from '../../../src/foundation/database/secrets.ts';
import { systemClock } from '../../../src/foundation/values/clock.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { watchInboundPeers } from '../../../src/lines/telephony/sip/inbound-peers.ts';
import { startRegistrar } from '../../../src/lines/telephony/sip/registrar.ts';
import { registeredTrunks } from '../../../src/lines/trunks/registered-trunks.ts';
import { shapeTrunk } from '../../../src/lines/trunks/shape-trunk.ts';
import { findTrunk } from '../../../src/lines/trunks/store.ts';
import { passwordPlace } from '../../../src/lines/trunks/trunk.ts';
import { freshDatabase } from '../../database.ts';
import { seedTrunk } from '../../seed/trunk.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { until } from '../../until.ts';
import { type RegistrarPeer, startRegistrarPeer } from './registrar-peer.ts';

const log = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' });
const secrets = createSecrets(Buffer.alloc(32, 1));
const LEASE_SECONDS = 3;

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const fresh = await freshDatabase();
  drop = fresh.drop;
  database = openDatabase({ connection: fresh.connection, poolSize: 6, log });
});
afterAll(async () => {
  await database.close();
  await drop();
});

/** A server as far as registrations go. `cut` takes its database away. */
async function server() {
  const userAgent: UserAgent = await createUserAgent({ host: '127.0.0.1', port: 0, keepaliveSeconds: 0 });
  const trunks = registeredTrunks({ database, secrets, clock: systemClock, log });
  const serverId = newUuid();
  const lease = { id: serverId, lease_until: new Date(Date.now() + 3_600_000) };
  await database.inEngine(({ db }) => db.insertInto('servers').values(lease).execute());
  let isCut = false;
  const rounds = { count: 0 };
  const registrar = startRegistrar({
    trunks: {
      ...trunks,
      take: async (...given) => {
        if (isCut) throw new Error('no database');
        const taken = await trunks.take(...given);
        rounds.count += 1;
        return taken;
      },
    },
    serverId: () => serverId,
    leaseSeconds: LEASE_SECONDS,
    register: (options) => userAgent.register(options),
    locate: async () => {},
    log,
  });
  const stop = async () => {
    await registrar.close();
    await userAgent.stop(0);
  };
  onTestFinished(stop);
  return {
    registrar,
    contact: expect.stringContaining(`@127.0.0.1:${userAgent.port}>`),
    rounds,
    cut: () => {
      isCut = true;
    },
    stop,
  };
}

async function registrarPeer(): Promise<RegistrarPeer> {
  const registrar = await startRegistrarPeer();
  onTestFinished(() => registrar.close());
  return registrar;
}

/** A trunk that is to be registered with. */
async function trunkAt(registrar: RegistrarPeer) {
  const workspaceId = await seedWorkspace(database);
  const id = newUuid();
  await seedTrunk(database, workspaceId, {
    id,
    termination_url: `127.0.0.1:${registrar.port}`,
    transport: 'udp',
    username: 'ada',
    password: secrets.encrypt('secret', passwordPlace({ workspace_id: workspaceId, id })),
    from_domain: 'example.com',
    register: true,
  });
  const change = (columns: { from_user?: string; register?: boolean }) =>
    database.inWorkspace(workspaceId, ({ db }) => db.updateTable('trunks').set(columns).where('id', '=', id).execute());
  const standing = async () =>
    shapeTrunk((await database.inWorkspace(workspaceId, (tx) => findTrunk(tx, id)))!, new Date()).registration;
  /** What was told of it: how it stood, event by event. */
  const told = async () => {
    const { rows } = await database.inWorkspace(workspaceId, ({ db }) =>
      sql<{ type: string; data: { registration: { status: string } } }>`
        select type, data from events where workspace_id = ${workspaceId} and resource_id = ${id} order by revision`.execute(
        db,
      ),
    );
    return rows.map(({ type, data }) => `${type} ${data.registration.status}`);
  };
  return { id, workspaceId, change, standing, told };
}

test('one server registers, anew where the trunk changes, and another takes it over where that one is lost', async () => {
  const registrar = await registrarPeer();
  const { change, standing } = await trunkAt(registrar);
  const first = await server();
  await until(async () => expect(await standing()).toMatchObject({ status: 'registered' }));
  expect(await standing()).toEqual({ status: 'registered', registeredAt: expect.any(String) });
  expect(registrar.taken).toEqual([{ address: 'sip:ada@example.com', contact: first.contact, seconds: 3600 }]);

  const second = await server();
  await until(() => expect(second.rounds.count).toBeGreaterThan(1));
  expect(registrar.taken).toHaveLength(1);

  await change({ from_user: 'bea' });
  await until(() => expect(registrar.taken).toHaveLength(3));
  expect(registrar.taken.slice(1)).toEqual([
    { address: 'sip:ada@example.com', contact: first.contact, seconds: 0 },
    { address: 'sip:bea@example.com', contact: first.contact, seconds: 3600 },
  ]);

  first.cut();
  await until(() => expect(registrar.taken).toHaveLength(5));
  expect(registrar.taken.slice(3)).toEqual(
    expect.arrayContaining([
      { address: 'sip:bea@example.com', contact: first.contact, seconds: 0 },
      { address: 'sip:bea@example.com', contact: second.contact, seconds: 3600 },
    ]),
  );

  const third = await server();
  await second.stop();
  await until(() => expect(registrar.taken).toHaveLength(7));
  expect(registrar.taken.slice(5)).toEqual([
    { address: 'sip:bea@example.com', contact: second.contact, seconds: 0 },
    { address: 'sip:bea@example.com', contact: third.contact, seconds: 3600 },
  ]);

  await change({ register: false });
  await until(() => expect(registrar.taken).toHaveLength(8));
  expect(registrar.taken[7]).toEqual({ address: 'sip:bea@example.com', contact: third.contact, seconds: 0 });
  expect(await standing()).toBeUndefined();
});

test('where the operator takes the address back nothing more is sent, and it is registered anew once it is granted', async () => {
  const registrar = await registrarPeer();
  const { workspaceId, change, standing } = await trunkAt(registrar);
  const grants = async (since: Date | null) =>
    database.inEngine(({ db }) => sql`update installation set trunks_granted_since = ${since}`.execute(db));
  const grant = () =>
    database.inWorkspace(workspaceId, ({ db }) =>
      db
        .insertInto('trunk_grants')
        .values({ workspace_id: workspaceId, address: '127.0.0.1', created_at: new Date() })
        .execute(),
    );
  onTestFinished(async () => void (await grants(null)));
  await grant();
  await grants(new Date());
  const ours = await server();
  await until(async () => expect(await standing()).toMatchObject({ status: 'registered' }));

  await database.inWorkspace(workspaceId, ({ db }) => db.deleteFrom('trunk_grants').execute());
  await until(async () =>
    expect(await standing()).toMatchObject({ status: 'failed', message: expect.stringContaining('not granted') }),
  );
  expect(ours.registrar.at('127.0.0.1').size).toBe(0);
  const { count } = ours.rounds;
  await until(() => expect(ours.rounds.count).toBeGreaterThan(count + 1));
  expect(registrar.taken.map(({ seconds }) => seconds)).toEqual([3600]);

  await grant();
  await until(async () => expect(await standing()).toMatchObject({ status: 'registered' }));
  await change({ register: false });
  await until(() => expect(registrar.taken.map(({ seconds }) => seconds)).toEqual([3600, 3600, 0]));
});

test('servers share the trunks, and who is left has them all', async () => {
  const registrar = await registrarPeer();
  for (let trunks = 0; trunks < 3; trunks += 1) await trunkAt(registrar);
  const registeredBy = ({ contact }: Awaited<ReturnType<typeof server>>, seconds: number) =>
    registrar.taken.filter((each) => each.seconds === seconds && contact.asymmetricMatch(each.contact)).length;
  const first = await server();
  await until(() => expect(registeredBy(first, 3600)).toBe(3));
  const second = await server();
  await until(() => expect([registeredBy(first, 0), registeredBy(second, 3600)]).toEqual([1, 1]));
  const rounds = second.rounds.count;
  await until(() => expect(second.rounds.count).toBeGreaterThan(rounds + 1));
  expect(registrar.taken).toHaveLength(5);
  await first.stop();
  await until(() => expect([registeredBy(first, 0), registeredBy(second, 3600)]).toEqual([3, 3]));
});

test('a trunk says why it is not registered with, and calls from where it is registered are let in', async () => {
  const registrar = await registrarPeer();
  registrar.refuse(403);
  const { id, change, standing, told } = await trunkAt(registrar);
  const { registrar: ours } = await server();
  await until(async () => expect(await standing()).toEqual({ status: 'failed', message: '403 Said' }));
  expect(await told()).toEqual(['trunk.updated failed']);

  const plain = { mediaEncryption: 'none', keysInClear: false } as const;
  const trunk = {
    ...plain,
    id,
    terminationUrl: '192.0.2.1',
    transport: 'udp',
    ipAllowlist: [],
    country: 'US',
  } as const;
  const inbound = { ...trunk, workspaceId: newUuid(), digestNumbers: [], alikeNumbers: [], headersToAgent: [] };
  const owned = async ([number]: readonly string[]) => [
    { number: number!, workspaceId: inbound.workspaceId, trunkId: id },
  ];
  const peers = watchInboundPeers({
    directory: { trunks: async () => [inbound], trunk: async () => undefined, numbersOf: owned },
    locate: async () => [],
    registeredAt: ours.at,
    log,
  });
  onTestFinished(() => peers.close());
  expect(peers.knows('127.0.0.1')).toBe(false);

  registrar.refuse(undefined);
  await change({ from_user: 'cleo' });
  await until(() => peers.knows('127.0.0.1'));
  expect(peers.knows('127.0.0.2')).toBe(false);
  await until(async () =>
    expect(await told()).toEqual(['trunk.updated failed', 'trunk.updated registering', 'trunk.updated registered']),
  );
  const headers = { get: () => undefined, all: () => [], tokens: () => [] };
  const request = { uri: 'sip:+14155550100@127.0.0.1', headers } as unknown as SipRequest;
  expect(await peers.read(request, { address: '127.0.0.1', port: 5060, transport: 'udp' }, undefined)).toMatchObject({
    to: '+14155550100',
  });
});
