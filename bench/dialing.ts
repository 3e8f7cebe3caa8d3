import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, run, runMigrations } from 'graphile-worker';
import pg from 'pg';
import type { Database } from '../apps/server/src/foundation/database/database.ts';
import { campaignRow, startTestDialer } from '../apps/server/test/dialing/dialing.ts';
import { seedCampaign } from '../apps/server/test/seed/campaign.ts';
import { POOL_SIZE, type Postgres, settle, startPostgres } from './postgres.ts';
import { type Effort, inTurns, median } from './rounds.ts';
import type { Found } from './table.ts';

/** Jobs are those of each turn. With the warm-up they are fewer than the small campaign has contacts. */
const SIZES = {
  whole: { rounds: 3, jobs: 20_000, campaigns: { '100k': 100_000, '1M': 1_000_000 } },
  quick: { rounds: 1, jobs: 4000, campaigns: { '10k': 10_000 } },
};

const ONE_BY_ONE = 'graphile-worker, no-op jobs one by one';
/** How graphile-worker takes and finishes jobs: as it does by default, and as its page on performance has it. */
const PEERS: Record<string, GraphileConfig.WorkerOptions> = {
  [ONE_BY_ONE]: { concurrentJobs: POOL_SIZE },
  'graphile-worker at its fastest': {
    ...{ concurrentJobs: 24, localQueue: { size: 500 } },
    ...{ completeJobBatchDelay: 0, failJobBatchDelay: 0 },
  },
};

const quiet = new Logger(() => () => {});

/** Something that does so many jobs, and tells how many it did a second. */
type Turn = () => Promise<number>;

/** No-op jobs of graphile-worker. */
async function graphileWorker(postgres: Postgres, jobs: number, worker: GraphileConfig.WorkerOptions): Promise<Turn> {
  const { connectionString } = await postgres.database();
  await runMigrations({ connectionString, logger: quiet });
  return async () => {
    const pool = new pg.Pool({ connectionString, max: POOL_SIZE }).on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
    await pool.query(
      `select graphile_worker.add_jobs(array(
        select json_populate_record(null::graphile_worker.job_spec, '{"identifier": "noop"}')
        from generate_series(1, ${jobs})))`,
    );
    await settle(connectionString);
    let left = jobs;
    const noop = () => {
      left -= 1;
    };
    const from = performance.now();
    const runner = await run({
      pgPool: pool,
      preset: { worker },
      noHandleSignals: true,
      taskList: { noop },
      logger: quiet,
    });
    while (left > 0) await sleep(20);
    const seconds = (performance.now() - from) / 1000;
    await runner.stop();
    await pool.end();
    return jobs / seconds;
  };
}

/** Finished calls of a campaign: claimed, placed, answered, ended, recorded; ring and talk time zero. */
async function campaign(postgres: Postgres, jobs: number, contacts: number): Promise<Turn> {
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
    while (done < jobs) {
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
export async function benchDialing(effort: Effort): Promise<Found> {
  const { rounds, jobs, campaigns } = SIZES[effort];
  const postgres = await startPostgres();
  const turns = new Map<string, Turn>();
  for (const [peer, options] of Object.entries(PEERS)) turns.set(peer, await graphileWorker(postgres, jobs, options));
  for (const [name, contacts] of Object.entries(campaigns)) turns.set(name, await campaign(postgres, jobs, contacts));
  console.error('  contacts are there');
  const rates = await inTurns([...turns.keys()], rounds, async (name) => {
    const rate = await turns.get(name)!();
    console.error(`  ${name}: ${Math.round(rate)} /s`);
    return rate;
  });
  return {
    rows: Object.keys(PEERS).flatMap((peer) =>
      Object.keys(campaigns).map((name) => ({
        what: `finished calls, campaign of ${name}`,
        ours: median(rates[name]!),
        peer,
        theirs: median(rates[peer]!),
        unit: '/s',
        ...(peer === ONE_BY_ONE && { aim: '≥ 1' }),
      })),
    ),
  };
}
