import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { openRecordingFiles } from '../../../src/dialing/calls/recordings/recording-files.ts';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { createAddressGuard } from '../../../src/foundation/outbound-http/address-guard.ts';
import { systemClock } from '../../../src/foundation/values/clock.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { startMedia } from '../../../src/lines/media/media.ts';
import type { CallGateway } from '../../../src/lines/telephony/call-gateway.ts';
import { postgresCallStore } from '../../../src/lines/telephony/sip/call-store.ts';
import { openSipGateway, type SipGatewayOptions } from '../../../src/lines/telephony/sip/sip-gateway.ts';
import type { Trunk } from '../../../src/lines/telephony/trunk.ts';
import type { TrunkProber } from '../../../src/lines/telephony/trunk-prober.ts';
import { freshDatabase } from '../../database.ts';
import { unguarded } from '../../unguarded.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import type { Callee } from './carrier.ts';

const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };
const log = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' });

const rings = async (call: Parameters<Callee>[0]) => {
  call.ring();
  await sleep(60);
};
const talks: Callee = async (call, answer) => {
  await rings(call);
  await answer();
};
const refuses =
  (status: number): Callee =>
  async (call) => {
    await rings(call);
    call.reject(status);
  };
const answers: Callee = async (call, answer) => {
  await rings(call);
  await answer();
  setTimeout(() => void call.hangUp(), 150);
};
/** Callees by their numbers. */
export const callees: Record<string, Callee> = {
  '+14155550101': answers,
  '+14155550102': talks,
  '+14155550103': refuses(603),
  '+14155550108': (call) => call.ring(),
  '+14155550150': refuses(500),
  '+14155550186': refuses(486),
};

/** A trunk to a carrier on loopback. */
export const trunkTo = (port: number): Trunk => ({
  id: newUuid(),
  workspaceId: newUuid(),
  revision: 1,
  terminationUrl: `127.0.0.1:${port}`,
  transport: 'udp',
  register: false,
  registerExpiresSeconds: 3600,
  ipAllowlist: [],
  inboundDigest: false,
  probe: 'options',
  callsPerSecond: 100,
  numberFormat: 'e164_plus',
  callerIdHeader: 'from',
  codecs: ['PCMU', 'PCMA'],
  dtmf: 'rtp',
  mediaEncryption: 'none',
  keysInClear: false,
  headers: {},
});

/** Whose the calls of tests are. */
export const byItself = { kind: 'intent', id: newUuid() };

/** Below the ports that the kernel gives to anybody's sockets, and those that other tests take. */
let nextPort = 10_000 + 2 * (process.pid % 2000);

/** Gateways over SIP on one database, whose calls one agent takes. */
export interface SipGateways {
  database: Database;
  agent: Agent;
  /** @param calls the most that it has room for */
  gatewayFor(calls?: number, given?: Partial<SipGatewayOptions>): Promise<CallGateway & TrunkProber>;
  close(): Promise<void>;
}

/** Opens what gateways over SIP need. */
export async function openSipGateways(): Promise<SipGateways> {
  const fresh = await freshDatabase();
  const database = openDatabase({ connection: fresh.connection, poolSize: 4, log });
  const agent = await startAgent();
  const folder = await mkdtemp(join(tmpdir(), 'recordings-'));
  async function gatewayFor(calls = 20, given: Partial<SipGatewayOptions> = {}): Promise<CallGateway & TrunkProber> {
    const portMin = nextPort;
    nextPort += 2 * calls;
    const { media } = startMedia({
      workers: 1,
      host: '127.0.0.1',
      portMin,
      portMax: portMin + 2 * calls - 1,
      peerAddresses: loopback,
      agentAddresses: loopback,
      onThreadDied: () => {},
    });
    const serverId = newUuid();
    return openSipGateway({
      settings: { host: '127.0.0.1', port: 0, tls: {}, localNetworks: [], drainSeconds: 0, optionsSeconds: 30 },
      lease: { serverId: () => serverId, leftMs: () => 1000 },
      clock: systemClock,
      log,
      secret: 'a secret',
      media,
      store: postgresCallStore(database, unguarded(database)),
      recorder: await openRecordingFiles(folder),
      trunkGuard: createAddressGuard(loopback),
      trunkNames: {},
      granted: async (_workspaceId, _host, addresses) => addresses,
      brief: async () => undefined,
      words: { fill: (text) => text, localTime: () => '' },
      serve: async () => undefined,
      resolveAgent: async () => ({
        connection: {
          type: 'stream',
          url: agent.url,
          headers: {},
          connectAt: 'answered',
          connectTimeoutSeconds: 2,
          reconnect: false,
        },
      }),
      inbound: { trunks: async () => [], trunk: async () => undefined, numbersOf: async () => [] },
      registered: { take: async () => [], note: async () => {}, leave: async () => {} },
      leaseSeconds: 10,
      ...given,
    });
  }
  return {
    ...{ database, agent, gatewayFor },
    close: async () => {
      await agent.stop();
      await database.close();
      await fresh.drop();
      await rm(folder, { recursive: true });
    },
  };
}
