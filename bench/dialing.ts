import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, run, runMigrations } from 'graphile-worker';
import pg from 'pg';
import type { Database } from '../apps/server/src/database/database.ts';
import { campaignRow, startTestDialer } from '../apps/server/test/dialing/dialing.ts';
import { seedCampaign } from '../apps/server/test/seed/campaign.ts';
import { POOL_SIZE, type Postgres, settle, startPostgres } from './postgres.ts';
import { inTurns, median } from './rounds.ts';
import type { Found } from './table.ts';

const ROUNDS = 3;
/** Of each turn. With the warm-up they are fewer than the small campaign has contacts. */
const JOBS = 20_000;
const SMALL = 100_000;
const LARGE = 1_000_000;

const quiet = new Logger(() => () => {});

/** Something that does so many jobs, and tells how many it did a second. */
type Turn = () => Promise<number>;

/** No-op jobs of graphile-worker, taken and finished one by one, as it does by default. */
async function graphileWorker(postgres: Postgres): Promise<Turn> {
  const { connectionString } = await postgres.database();
  await runMigrations({ connectionString, logger: quiet });
  return async () => {
    const pool = new pg.Pool({ connectionString, max: POOL_SIZE }).on('error', () => {});
    await pool.query(
      `select graphile_worker.add_jobs(array(
        select json_populate_record(null::graphile_worker.job_spec, '{"identifier": "noop"}')
        from generate_series(1, ${JOBS})))`,
    );
    await settle(connectionString);
    let left = JOBS;
    const noop = () => {
      left -= 1;
    };
    const from = performance.now();
    const runner = await run({
      pgPool: pool,
      concurrency: POOL_SIZE,
      noHandleSignals: true,
      taskList: { noop },
      logger: quiet,
    });
    while (left > 0) await sleep(20);
    const seconds = (performance.now() - from) / 1000;
    await runner.stop();
    await pool.end();
    return JOBS / seconds;
  };
}

/** Finished calls of a campaign: claimed, placed, answered, ended, recorded; ring and talk time zero. */
async function campaign(postgres: Postgres, contacts: number): Promise<Turn> {
  const { database, connectionString } = await postgres.database();
  const { campaignId } = await seedCampaign(database, {
    contacts,
    number: (i) => 14_152_000_000 + i * 7,
    campaign: { max_concurrency: 2000, status: 'paused' },
  });
  const row = () => campaignRow(database, campaignId);
  const become = (status: 'running' | 'paused') => setStatus(database, campaignId, status);
  const ended = async () => (await row()).attempts - (await row()).in_flight;

  const adding = await startTestDialer(database);
  while (!(await row()).contacts_added) await sleep(100);
  await adding.stop();
  return async () => {
    await settle(connectionString);
    const { stop } = await startTestDialer(database);
    const before = await ended();
    await become('running');
    const from = performance.now();
    let done = 0;
    while (done < JOBS) {
      await sleep(20);
      done = (await ended()) - before;
    }
    const seconds = (performance.now() - from) / 1000;
    await become('paused');
    while ((await row()).in_flight > 0) await sleep(20);
    await stop();
    return done / seconds;
  };
}

const setStatus = (database: Database, campaignId: string, status: 'running' | 'paused') =>
  database.inEngine(({ db }) => db.updateTable('campaigns').set({ status }).where('id', '=', campaignId).execute());

/** Dialing against graphile-worker on the same PostgreSQL, each in a database of its own. */
export async function benchDialing(): Promise<Found> {
  const postgres = await startPostgres();
  const turns = {
    peer: await graphileWorker(postgres),
    small: await campaign(postgres, SMALL),
    large: await campaign(postgres, LARGE),
  };
  console.error('  contacts are there');
  const rates = await inTurns(['peer', 'small', 'large'], ROUNDS, async (name) => {
    const rate = await turns[name]();
    console.error(`  ${name}: ${Math.round(rate)} /s`);
    return rate;
  });
  const row = (what: string, ours: number[]) => ({
    what,
    ours: median(ours),
    peer: 'graphile-worker, no-op jobs one by one',
    theirs: median(rates.peer),
    unit: '/s',
    aim: '≥ 1',
  });
  return {
    rows: [row('finished calls, campaign of 100k', rates.small), row('finished calls, campaign of 1M', rates.large)],
  };
}
