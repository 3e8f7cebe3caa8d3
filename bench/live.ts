import { setTimeout as sleep } from 'node:timers/promises';
import { seedCampaign } from '../apps/server/test/seed/campaign.ts';
import { forkServer } from './child.ts';
import { asSuperuser, settle, startPostgres } from './postgres.ts';
import { cpuBetween, cpuOf, memoryOf } from './processes.ts';
import type { Found } from './table.ts';

const CALLS = 10_000;
const SECONDS = 20;
/** Until idle connections have told what they wrote before. */
const COUNTS_LAG_MS = 11_000;
/** The server's default. */
const LEASE_SECONDS = 10;

/** What 10,000 calls cost while they are up and nothing happens to them: CPU, memory, and what is written. */
export async function benchLive(): Promise<Found> {
  const postgres = await startPostgres();
  const { database, connectionString } = await postgres.database();
  await seedCampaign(database, { contacts: CALLS, campaign: { max_concurrency: CALLS, max_call_seconds: 7200 } });
  const settings = { connectionString, leaseSeconds: LEASE_SECONDS };
  const from = performance.now();
  const server = await forkServer(new URL('./live-server.ts', import.meta.url), settings);
  while ((await answered(connectionString)) < CALLS) await sleep(200);
  console.error(`  all are up after ${((performance.now() - from) / 1000).toFixed(1)} s`);
  await settle(connectionString);
  await sleep(COUNTS_LAG_MS);

  const before = await figures(connectionString, server.pid, postgres.pid);
  await sleep(SECONDS * 1000);
  const after = await figures(connectionString, server.pid, postgres.pid);
  const up = await answered(connectionString);
  if (up < CALLS) throw new Error(`Only ${up} calls are still up.`);
  const cost = (what: string, value: number, unit: string) => ({ what: `10,000 live calls, ${what}`, value, unit });
  const cpu = (of: 'server' | 'postgres') => (cpuBetween(before[of], after[of]) / SECONDS) * 100;
  return {
    costs: [
      cost('CPU of the server', cpu('server'), '% of a core'),
      cost('CPU of PostgreSQL', cpu('postgres'), '% of a core'),
      cost('memory of the server', (await memoryOf(server.pid)).now, 'MB'),
      cost('rows written', (after.rows - before.rows) / SECONDS, '/s'),
      cost('write-ahead log', (after.walBytes - before.walBytes) / SECONDS / 1000, 'kB/s'),
    ],
  };
}

async function answered(connectionString: string): Promise<number> {
  const up = 'select count(*)::int as n from calls where answered_at is not null and ended_at is null';
  return (await asSuperuser<{ n: number }>(connectionString, up)).n;
}

async function figures(connectionString: string, serverPid: number, postgresPid: number) {
  const written = await asSuperuser<{ rows: number; walBytes: number }>(
    connectionString,
    `select (tup_inserted + tup_updated + tup_deleted)::int as rows,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as "walBytes"
    from pg_stat_database where datname = current_database()`,
  );
  return { ...written, server: await cpuOf(serverPid), postgres: await cpuOf(postgresPid) };
}
