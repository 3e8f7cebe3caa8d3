import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient, type TrunklineClient } from '@trunkline/client';
import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Database } from '../../src/foundation/database/database.ts';
import { newKey } from '../../src/platform/api-keys/key.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { addingRelease } from '../other-release.ts';
import { type ServerProcess, startServerProcess } from '../server-process.ts';
import { until } from '../until.ts';

export type Version = 'former' | 'newer';

/** Servers of two releases on one database, of which the newer has added a column and a table. */
export interface MixedServers {
  database: Database;
  /** Starts a server in a place, and waits until it is ready. Throws what it has said if it ends instead. */
  start(place: number, version: Version): Promise<void>;
  /** Ends the server of a place, in order or as a power cut does. */
  end(place: number, how: 'stop' | 'kill'): Promise<void>;
  /** To any server that runs. */
  client(): TrunklineClient;
  version(place: number): Version | undefined;
}

/** @param environment of each server, by its place */
export const withMixedServers = (
  environment: (place: number) => Record<string, string>,
  act: (servers: MixedServers) => Promise<void>,
): Promise<void> =>
  withDatabase(async (database) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-mixed-'));
    const newer = await addingRelease();
    const apiKey = newKey('test');
    const running = new Map<number, { process: ServerProcess; version: Version }>();
    try {
      await act({
        database,
        start: async (place, version) => {
          const settings = {
            ...{ DATABASE_URL: database.connection.connectionString, DATA_DIR: folder, BOOTSTRAP_API_KEY: apiKey },
            ...{ LEASE_SECONDS: '2', LOG_LEVEL: 'error', ...environment(place) },
          };
          const process = await startServerProcess(settings, version === 'newer' ? newer.main : undefined);
          running.set(place, { process, version });
        },
        end: async (place, how) => {
          const { process } = running.get(place)!;
          running.delete(place);
          await process[how]();
        },
        client: () => createClient({ baseUrl: [...running.values()][0]!.process.url, apiKey, maxRetries: 0 }),
        version: (place) => running.get(place)?.version,
      });
    } finally {
      for (const { process } of running.values()) await process.kill();
      await newer.remove();
      await rm(folder, { recursive: true });
    }
  });

/** Has people called by a batch, each once. Answers its ID. */
export async function callOnce(
  client: TrunklineClient,
  { agentId, fromNumber, numbers }: { agentId: string; fromNumber: string; numbers: string[] },
): Promise<string> {
  const recipients = numbers.map((phoneNumber) => ({ phoneNumber }));
  const { data, error } = await client.POST('/v1/calls/batch', {
    body: { agentId, fromNumber, recipients, maxConcurrency: 50 },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return data.batchId;
}

/** Numbers of people whom nobody else has, from one on. */
export const peopleFrom = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `+1415${String(2_000_000 + first + at)}`);

/** Waits until batches are over. */
export async function untilOver(servers: MixedServers, batches: readonly string[], seconds: number): Promise<void> {
  for (const batchId of batches)
    await until(async () => {
      const { data } = await servers.client().GET('/v1/calls/batch/{batchId}', { params: { path: { batchId } } });
      expect(data).toMatchObject({ status: 'completed' });
    }, seconds);
}

/** A number of the simulator, from which people can be called at any hour. */
export async function simulatedNumber(client: TrunklineClient): Promise<string> {
  await client.PATCH('/v1/workspace', { body: { quietHours: null } });
  const query = { provider: 'simulator', country: 'US' } as const;
  const { data } = await client.GET('/v1/telephony/available-phone-numbers', { params: { query } });
  const phoneNumber = data!.items[0]!.phoneNumber;
  const bought = await client.POST('/v1/telephony/phone-numbers/buy', { body: { phoneNumber, provider: 'simulator' } });
  expect(bought.error).toBeUndefined();
  await until(async () => {
    const { data: numbers } = await client.GET('/v1/telephony/phone-numbers');
    return numbers!.items[0]?.status === 'active';
  });
  return phoneNumber;
}

/** Whom the simulated provider was asked to call, and how often each. */
export async function simulatedPlacements(database: Database): Promise<Map<string, number>> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ to_number: string; times: number }>`
      select to_number, sum(placements)::int as times from simulator_calls group by 1`.execute(db),
  );
  return new Map(rows.map(({ to_number, times }) => [to_number, times]));
}
