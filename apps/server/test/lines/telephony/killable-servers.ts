import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient, type TrunklineClient } from '@trunkline/client';
import type { Database } from '../../../src/foundation/database/database.ts';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { type ServerProcess, startServerProcess } from '../../server-process.ts';

/** Ports that each of them has. */
export const RTP_PORTS = 200;

/** Servers of one installation that place calls by SIP on loopback, and that are missed two seconds after they were killed. */
export interface KillableServers {
  start(name: string, rtpPort: number): Promise<ServerProcess>;
  clientOf(server: { url: string }): TrunklineClient;
  /** Removes their files. */
  clear(): Promise<void>;
}

export async function killableServers({ connection }: Database): Promise<KillableServers> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sip-crash-'));
  const apiKey = newKey('test');
  return {
    start: (name, rtpPort) =>
      startServerProcess({
        ...{ DATABASE_URL: connection.connectionString, DATA_DIR: path.join(folder, name) },
        ...{ BOOTSTRAP_API_KEY: apiKey, ENCRYPTION_KEY: '0'.repeat(64), LEASE_SECONDS: '2', LOG_LEVEL: 'error' },
        ...{ SIP_HOST: '127.0.0.1', SIP_PORT: '0', SIP_ALLOWED_ADDRESSES: '127.0.0.1' },
        // One workspace's work takes half of the connections, and tests have several things wait at once.
        ...{ OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1', POOL_SIZE: '10' },
        ...{ RTP_PORT_MIN: String(rtpPort), RTP_PORT_MAX: String(rtpPort + RTP_PORTS - 1) },
      }),
    clientOf: ({ url }) => createClient({ baseUrl: url, apiKey, maxRetries: 0 }),
    clear: () => rm(folder, { recursive: true, force: true }),
  };
}
