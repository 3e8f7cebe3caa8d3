import { chmod, cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient, type TrunklineClient } from '@trunkline/client';
import { pino } from 'pino';
import { freePort } from '../../../../packages/sip/test/peers/peer-process.ts';
import { type Database, openDatabase } from '../../src/foundation/database/database.ts';
import { newKey } from '../../src/platform/api-keys/key.ts';
import { chances } from '../chances.ts';
import { startNameServer } from '../fairness/name-server.ts';
import { mayMount, mount, unmount } from '../foundation/objects/mount.ts';
import { type Agent, sayHello, startAgent } from '../lines/media/agent.ts';
import { createNetwork, hasNetworks, type Network } from '../lines/telephony/network.ts';
import { addingRelease } from '../other-release.ts';
import { type Carrier, startCarrierProcess } from './carrier.ts';
import { type Endpoints, startEndpoints } from './endpoints.ts';
import type { ChaosOptions } from './options.ts';
import { type OwnPostgres, startOwnPostgres } from './postgres.ts';
import { type ServerSlot, serverSlot } from './server-slot.ts';

export const LEASE_SECONDS = 5;
export const SIMULATOR_SPEED = 6;
export const SIMULATOR_SEED = 1;

const HOST = '127.0.0.1';
const CARRIER_NAME = 'carrier.example';
/** How long servers may remember its address. */
const NAME_SECONDS = 1;
/** Of each disk that can be filled. */
export const DISK_SIZE = '1500m';

/** Everything that runs while there is chaos. */
export interface World {
  folder: string;
  /** Folders on disks of their own, which can be filled; none where this user may not mount. */
  disks: string[];
  /** What the servers have logged. */
  log(): Promise<string>;
  servers: ServerSlot[];
  postgres: OwnPostgres;
  /** Looks at what the servers write. */
  database: Database;
  endpoints: Endpoints;
  agent: Agent;
  carrier: Carrier;
  /** Where servers speak SIP to the carrier: a name, and a port. */
  carrierAddress: string;
  /** Who knows that name. */
  names: Awaited<ReturnType<typeof startNameServer>>;
  /** Where PostgreSQL is at home. */
  databaseHome: string;
  /** Between the servers and the carrier; nothing where this user may not make networks. */
  network: Network | undefined;
  client(server: ServerSlot): TrunklineClient;
  stop(): Promise<void>;
}

/** Starts everything; what can't be started leaves nothing behind. */
export async function startWorld({ seed, servers: count, faults }: ChaosOptions): Promise<World> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-chaos-'));
  // PostgreSQL, which root runs as another user, has to pass through here to its disk.
  await chmod(folder, 0o711);
  const undo: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const step of undo.reverse()) await step();
  };
  try {
    return { ...(await begin()), folder, stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function begin() {
    const disks = mayMount ? [path.join(folder, 'database'), path.join(folder, 'files')] : [];
    for (const disk of disks) {
      await mount(disk, DISK_SIZE);
      undo.push(() => unmount(disk));
    }
    const [databaseDisk = path.join(folder, 'database'), fileDisk = path.join(folder, 'files')] = disks;
    const databaseHome = path.join(databaseDisk, 'home');
    const postgres = await startOwnPostgres(databaseHome);
    undo.push(postgres.remove);
    const { connection } = postgres;
    const database = openDatabase({ connection, poolSize: 3, log: pino({ level: 'silent' }) });
    undo.push(database.close);
    const endpoints = await startEndpoints(chances(seed));
    undo.push(endpoints.stop);
    const agent = await startAgent(sayHello);
    undo.push(agent.stop);
    const network = hasNetworks ? createNetwork(1) : undefined;
    if (network) {
      undo.push(network.remove);
      network.showWay();
    }
    const { own, far: [carrierHost = HOST] = [], behind } = network ?? { own: HOST };
    const carrier = await startCarrierProcess(carrierHost, behind);
    undo.push(carrier.stop);
    const names = await startNameServer({ [CARRIER_NAME]: carrierHost }, NAME_SECONDS);
    undo.push(names.stop);
    const newer = faults.includes('version') ? await newerVersion() : undefined;
    if (newer) undo.push(newer.remove);

    const apiKey = newKey('test');
    const logFile = path.join(folder, 'servers.log');
    const servers: ServerSlot[] = [];
    for (let at = 0; at < count; at += 1) {
      const port = await freePort();
      const sipPort = await freePort();
      const rtpPort = 33_000 + 400 * at;
      const environment = {
        ...{ DATABASE_URL: connection.connectionString, DATA_DIR: path.join(fileDisk, 'data'), LOG_LEVEL: 'warn' },
        ...{ WITNESS_PATH: path.join(fileDisk, 'witness'), CHAOS_NAME_SERVER: names.address },
        ...{ BOOTSTRAP_API_KEY: apiKey, ENCRYPTION_KEY: '0'.repeat(64), LEASE_SECONDS: String(LEASE_SECONDS) },
        ...{ PUBLIC_URL: `http://127.0.0.1:${port}`, RATE_LIMIT_PER_MINUTE: '0', POOL_SIZE: '6' },
        ...{ SIMULATOR_SPEED: String(SIMULATOR_SPEED), SIMULATOR_SEED: String(SIMULATOR_SEED) },
        ...{ OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1', SIP_ALLOWED_ADDRESSES: carrierHost },
        ...{ SIP_HOST: own, SIP_PORT: String(sipPort) },
        ...{ RTP_PORT_MIN: String(rtpPort), RTP_PORT_MAX: String(rtpPort + 399) },
      };
      const sip = { host: own, port: sipPort };
      const slot = { port, sip, logFile, environment, newerEntry: newer?.entry };
      servers.push(serverSlot(`server ${at + 1}`, slot));
    }
    undo.push(() => Promise.all(servers.map((server) => server.signal('SIGKILL'))));
    // The first one makes the tables and the key.
    await servers[0]!.start();
    await Promise.all(servers.slice(1).map((server) => server.start()));
    const client = ({ url }: ServerSlot) => createClient({ baseUrl: url, apiKey, maxRetries: 0, timeoutMs: 8000 });
    const log = () => readFile(logFile, 'utf8').catch(() => '');
    const carrierAddress = `${CARRIER_NAME}:${carrier.address.split(':').at(-1)}`;
    const beside = { endpoints, agent, carrier, carrierAddress, names, network };
    return { disks, log, servers, postgres, databaseHome, database, ...beside, client };
  }
}

/** The next release, with a server that can be put out of order. */
async function newerVersion() {
  const { folder, remove } = await addingRelease();
  const entry = path.join(folder, 'test/chaos/chaos-server.ts');
  await cp(path.join(import.meta.dirname, 'chaos-server.ts'), entry);
  return { entry, remove };
}
