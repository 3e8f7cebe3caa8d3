import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ConflictError } from '@trunkline/client';
import { findPlace } from '../../src/foundation/database/postgres/place.ts';
import { statementOn } from '../foundation/database/statement-on.ts';
import { program } from '../program.ts';
import { until } from '../until.ts';
import type { Loss } from './history.ts';
import type { Clients } from './load/client-record.ts';
import type { LossName } from './options.ts';
import { superuserOf } from './postgres.ts';
import { configure, copyFolder, standbyOf } from './standby.ts';
import type { World } from './world.ts';

/** Something new is under way by then, in milliseconds. */
const WARM_UP_MS = 3000;
const LONGEST_LOSS_MS = 5000;
/** How long servers have to find out, in seconds. */
const FIND_SECONDS = 60;

const main = await program('main');

/** Keeps the database as it is in one moment. @returns what brings it back to that */
type Keep = (world: World) => Promise<() => Promise<void>>;

/** Puts a folder in place of PostgreSQL's, which is down. */
async function replaceData({ databaseHome, postgres }: World, by: string): Promise<void> {
  const { data } = await findPlace(databaseHome);
  await rm(data, { recursive: true });
  await copyFolder(by, data);
  await postgres.start();
}

const ways: Readonly<Record<LossName, Keep>> = {
  copy: async (world) => {
    const kept = path.join(world.folder, 'kept');
    await world.postgres.signal('SIGSTOP');
    await copyFolder((await findPlace(world.databaseHome)).data, kept).finally(() => world.postgres.signal('SIGCONT'));
    return async () => {
      await world.postgres.crash();
      await replaceData(world, kept);
    };
  },
  standby: async (world) => {
    const home = path.join(world.folder, 'standby');
    const standby = await standbyOf(world.postgres, world.databaseHome, home);
    await sleep(WARM_UP_MS);
    await configure(standby, "primary_conninfo = ''");
    return async () => {
      await world.postgres.crash();
      await statementOn(superuserOf(standby.connection), 'select pg_promote()');
      await standby.stop();
      await replaceData(world, (await findPlace(home)).data);
      await standby.remove();
    };
  },
  dump: async ({ postgres }) => {
    const maintenance = superuserOf(postgres.connection);
    maintenance.connectionString = maintenance.connectionString.replace(/\/trunkline(?=\?|$)/, '/postgres');
    const ask = (text: string) => statementOn(maintenance, text);
    // A database that is copied has nobody connected to it.
    await ask('alter database trunkline with allow_connections false');
    await ask("select pg_terminate_backend(pid) from pg_stat_activity where datname = 'trunkline'");
    await until(() => ask('create database kept template trunkline owner trunkline'));
    await ask('alter database trunkline with allow_connections true');
    return async () => {
      await ask('drop database trunkline with (force)');
      await ask('alter database kept rename to trunkline');
    };
  },
};

/** Has the database lose its last commits under a load, all servers killed with it or not; then confirms it, as an operator would. */
export async function loseCommits(
  world: World,
  { by, chance, tell }: { by: LossName; chance: () => number; tell: (line: string) => void },
): Promise<Loss> {
  const { servers, carrier } = world;
  const [lossMs, kills] = [Math.round(300 + chance() * LONGEST_LOSS_MS), chance() < 0.5];
  tell(
    `the database loses ${lossMs} ms or more (${by}), ${kills ? 'all servers are killed' : 'under servers that run'}`,
  );
  await sleep(WARM_UP_MS);
  const loss: Loss = { by, from: Date.now(), heldAt: undefined, confirmedAt: undefined };
  const lose = await ways[by](world);
  const before = carrier.invited().length;
  await sleep(lossMs);
  await until(() => carrier.invited().length > before);
  if (kills) await Promise.all(servers.map((server) => server.signal('SIGKILL')));
  await lose();
  if (kills) await Promise.all(servers.map((server) => server.start()));
  const isHeld = async ({ url }: { url: string }) =>
    (await fetch(`${url}/readyz`)).text().then((text) => text.includes('dialing is held'));
  const areHeld = until(async () => (await Promise.all(servers.map(isHeld))).every(Boolean), FIND_SECONDS);
  if (
    await areHeld.then(
      () => true,
      () => false,
    )
  )
    loss.heldAt = Date.now();
  tell(loss.heldAt ? `dialing is held after ${loss.heldAt - loss.from} ms` : 'dialing is not held');
  await sleep(LONGEST_LOSS_MS * chance());
  loss.confirmedAt = Date.now();
  const env = { PATH: process.env['PATH'], ...servers[0]!.environment };
  const args = [...main, 'confirm-restore'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  tell(`confirmed: ${stdout.trim().split('\n').at(-1)}`);
  return loss;
}

/** Resumes all dialing, and what a confirmed restore has paused. */
export async function resumeAll({ insist }: Clients): Promise<void> {
  await insist('resumeDialing', (client) => client.workspace.resumeDialing());
  const past = (error: unknown) => {
    if (!(error instanceof ConflictError)) throw error;
  };
  const query = { status: ['paused' as const], perPage: 100 };
  const campaigns = await insist('listCampaigns', (client) => client.campaigns.list(query));
  for (const { id } of campaigns.items)
    await insist('resumeCampaign', (client) => client.campaigns.resume(id).catch(past));
  const batches = await insist('listBatches', (client) => client.batches.list(query));
  for (const { batchId } of batches.items)
    await insist('resumeBatch', (client) => client.batches.resume(batchId).catch(past));
}
