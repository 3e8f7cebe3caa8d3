import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect } from 'vitest';
import { freePort } from '../../../../../packages/sip/test/peers/peer-process.ts';
import type { Connection } from '../../../src/foundation/database/connection.ts';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { findPlace } from '../../../src/foundation/database/postgres/place.ts';
import { standbyFault } from '../../../src/platform/installation/standbys.ts';
import { startOwnPostgres, superuserOf } from '../../chaos/postgres.ts';
import { configure, copyFolder, folderOf, standbyOf } from '../../chaos/standby.ts';
import { statementOn } from '../../foundation/database/statement-on.ts';
import { startCarrier } from '../../lines/telephony/carrier.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { type ServerProcess, startServerProcess } from '../../server-process.ts';
import { until } from '../../until.ts';

/** How a database comes to lose its last commits, or, as the control, does not. */
export interface Loss {
  /** A copy of its folder is put back; or a standby is promoted that has not heard all, or has. */
  by: 'copy' | 'standby' | 'synchronous';
  /** Of how many milliseconds the commits are lost. */
  lossMs: number;
  servers: number;
  /** Whether all servers are killed with it, and started again after. */
  killed: boolean;
}

/** Calls that are placed a second, and of how many contacts: more than the longest loss takes. */
const PACE = 12;
const CONTACTS = 400;
/** Calls that are placed before anything is done. */
const BEFORE = 10;

/**
 * A campaign over SIP whose database loses commits in the middle, with a carrier that counts as judge: nobody is called
 * twice before dialing is held, and it is held; or, where nothing was lost, nothing is held and everybody is called once.
 */
export async function runLoss(loss: Loss): Promise<void> {
  const undo: (() => unknown)[] = [];
  try {
    await lose(loss, undo);
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

async function lose({ by, lossMs, servers: count, killed }: Loss, undo: (() => unknown)[]): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-loss-'));
  // PostgreSQL, which root runs as another user, has to pass through here.
  await chmod(folder, 0o711);
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const home = path.join(folder, 'primary');
  const primary = await startOwnPostgres(home);
  undo.push(primary.remove);
  const standby = by === 'copy' ? undefined : await standbyOf(primary, home, path.join(folder, 'standby'));
  if (standby) undo.push(standby.remove);
  if (by === 'synchronous') await configure(primary, "synchronous_standby_names = '*'");
  const relay = await openRelay(primary.connection);
  undo.push(relay.close);

  const carrier = await startCarrier(() => async (call) => {
    call.ring();
    await sleep(1500);
    call.reject(486);
  });
  undo.push(carrier.stop);
  // Nobody answers, so that it is never connected to.
  const agents = path.join(folder, 'agents.yaml');
  const connection = { type: 'stream', url: 'ws://127.0.0.1:1' };
  await writeFile(agents, JSON.stringify({ agents: [{ id: 'agent', name: 'Anna', connection }] }));
  const ports = await Promise.all(Array.from({ length: count }, () => freePort()));
  const start = (at: number) =>
    startServerProcess({
      ...{
        DATABASE_URL: relay.url,
        DATA_DIR: path.join(folder, `server-${at}`),
        WITNESS_PATH: path.join(folder, 'witness'),
      },
      ...{ ENCRYPTION_KEY: '0'.repeat(64), LEASE_SECONDS: '5', LOG_LEVEL: 'fatal', POOL_SIZE: '6' },
      ...{ SIP_HOST: '127.0.0.1', SIP_PORT: String(ports[at]), SIP_ALLOWED_ADDRESSES: '127.0.0.1' },
      ...{ AGENTS_FILE: agents, OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1' },
      ...{ RTP_PORT_MIN: String(36_000 + 400 * at), RTP_PORT_MAX: String(36_399 + 400 * at) },
    });
  const running: ServerProcess[] = [];
  undo.push(() => Promise.all(running.map((server) => server.kill())));
  const startAll = async () => {
    for (let at = 0; at < count; at += 1) running.push(await start(at));
  };
  await startAll();

  const contacts = by === 'synchronous' ? CONTACTS / 4 : CONTACTS;
  const database = openDatabase({ connection: primary.connection, poolSize: 1, log: pino({ level: 'silent' }) });
  const { campaignId } = await seedCampaign(database, {
    contacts,
    campaign: { calls_per_second: PACE, retry_policy: [], ring_timeout_seconds: 30 },
    phoneNumber: { trunk: { termination_url: `sip:127.0.0.1:${carrier.port}`, transport: 'udp' } },
  });
  const told = by === 'standby' ? expect.stringContaining('has a standby that it does not wait for') : undefined;
  expect(await standbyFault(database)).toEqual(told);
  await database.close();
  const rung = () => new Set(carrier.calls.map(({ user }) => user));
  const twice = () => carrier.calls.map(({ user }) => user).filter((user, at, all) => all.indexOf(user) < at);
  await until(() => carrier.calls.length >= BEFORE);

  const copy = path.join(folder, 'copy');
  const { data } = await findPlace(home);
  if (by === 'copy') {
    await primary.signal('SIGSTOP');
    await copyFolder(data, copy);
    await primary.signal('SIGCONT');
  }
  if (by === 'standby') await configure(standby!, "primary_conninfo = ''");
  if (by !== 'synchronous') await sleep(lossMs);
  const atLoss = carrier.calls.length;
  await until(() => carrier.calls.length > atLoss);
  if (killed) await Promise.all(running.splice(0).map((server) => server.kill()));
  await primary.crash();
  if (by === 'copy') {
    await rm(data, { recursive: true });
    await copyFolder(copy, data);
    await primary.start();
  } else await statementOn(superuserOf(standby!.connection), 'select pg_promote()');
  const now = by === 'copy' ? primary : standby!;
  relay.leadTo(now.connection);
  if (killed) await startAll();

  const heldOf = async () => (await statementOn(now.connection, 'select held_reason from installation')).rows[0];
  if (by !== 'synchronous') {
    await until(async () => expect(await heldOf()).toEqual({ held_reason: expect.stringContaining('older') }));
    for (const { url } of running)
      await until(async () => expect(await (await fetch(`${url}/readyz`)).text()).toContain('dialing is held'));
    expect(twice()).toEqual([]);
    return;
  }
  const statusOf = () =>
    statementOn(superuserOf(now.connection), `select status from campaigns where id = '${campaignId}'`);
  await until(async () => expect((await statusOf()).rows).toEqual([{ status: 'completed' }]));
  expect(await heldOf()).toEqual({ held_reason: null });
  expect(twice()).toEqual([]);
  expect(rung().size).toBe(contacts);
}

/** An address of the database that leads to another PostgreSQL when it is told to, as a floating one does. */
async function openRelay(connection: Connection) {
  let target = socketOf(connection);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `postgresql://trunkline@127.0.0.1:${(server.address() as AddressInfo).port}/trunkline`,
    leadTo: (other: Connection) => {
      target = socketOf(other);
      cut();
    },
    close: () => {
      cut();
      server.close();
    },
  };
}

const socketOf = (connection: Connection) => path.join(folderOf(connection), '.s.PGSQL.5432');
