import { setTimeout as sleep } from 'node:timers/promises';
import { run, runMigrations } from 'graphile-worker';
import pg from 'pg';
import type { Database } from '../apps/server/src/database/database.ts';
import { campaignRow, seedCampaign, startTestDialer } from '../apps/server/test/dialing.ts';
import { benchDatabase } from './postgres.ts';
import type { Row } from './table.ts';

const JOBS = 20_000;

/** No-op jobs a second of graphile-worker, taken and finished one by one, as it does by default. */
async function graphileWorker(connectionString: string): Promise<number> {
  await runMigrations({ connectionString });
  const pool = new pg.Pool({ connectionString, max: 12 });
  await pool.query(
    `select graphile_worker.add_jobs(array(
      select json_populate_record(null::graphile_worker.job_spec, '{"identifier": "noop"}') from generate_series(1, ${JOBS})))`,
  );
  const left = async () => Number((await pool.query('select count(*) as n from graphile_worker.jobs')).rows[0].n);
  const startedAt = performance.now();
  const runner = await run({ pgPool: pool, concurrency: 10, noHandleSignals: true, taskList: { noop: () => {} }, logger: quiet() });
  while ((await left()) > 0) await sleep(50);
  const rate = JOBS / ((performance.now() - startedAt) / 1000);
  await runner.stop();
  await pool.end();
  return rate;
}

const { Logger } = await import('graphile-worker');
const quiet = () => new Logger(() => () => {});

/** Finished calls a second of one campaign: claimed, placed, answered, ended, recorded; ring and talk time zero. */
async function dialling(database: Database, contacts: number, calls: number): Promise<number> {
  const { campaignId } = await seedCampaign(database, {
    contacts,
    number: (i) => 20_000_000_000 + i * 7,
    campaign: { max_concurrency: 2000, status: 'paused' },
  });
  const { stop } = await startTestDialer(database);
  while (!(await campaignRow(database, campaignId)).contacts_added) await sleep(100);
  const ended = async () => {
    const row = await campaignRow(database, campaignId);
    return row.attempts - row.in_flight;
  };
  await database.inEngine(({ db }) =>
    db.updateTable('campaigns').set({ status: 'running' }).where('id', '=', campaignId).execute(),
  );
  const startedAt = performance.now();
  while ((await ended()) < calls) await sleep(20);
  const rate = (await ended()) / ((performance.now() - startedAt) / 1000);
  await stop();
  return rate;
}

/** Dialing against graphile-worker on the same PostgreSQL. */
export async function benchDialing(): Promise<Row[]> {
  const { database, connectionString, remove } = await benchDatabase();
  try {
    const peer = await graphileWorker(connectionString);
    const small = await dialling(database, 100_000, 40_000);
    const large = await dialling(database, 1_000_000, 40_000);
    const row = (what: string, ours: number): Row => ({ what, ours, peer: 'graphile-worker, no-op jobs one by one', theirs: peer, unit: '/s', aim: 1 });
    return [row('finished calls, campaign of 100k', small), row('finished calls, campaign of 1M', large)];
  } finally {
    await remove();
  }
}
