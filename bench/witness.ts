import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../apps/server/src/foundation/database/database.ts';
import { campaignRow, startTestDialer } from '../apps/server/test/dialing/dialing.ts';
import { seedCampaign } from '../apps/server/test/seed/campaign.ts';
import { unguarded } from '../apps/server/test/unguarded.ts';
import { settle, startPostgres } from './postgres.ts';
import { cpuBetween, cpuOf } from './processes.ts';
import { type Effort, inTurns, median } from './rounds.ts';
import type { Found, Row } from './table.ts';

/** Of each turn, after what was placed in the one before has ended. */
const TURN_MS = 2000;
const PASSING_MS = 500;
const WARM_UP_MS = 8000;
const SIZES = { whole: { pairs: 16, contacts: 500_000 }, quick: { pairs: 3, contacts: 150_000 } };

/** What a turn of calls took; CPU time of a call in microseconds. */
interface Turn {
  perSecond: number;
  server: number;
  postgres: number;
  both: number;
}

/** Turns of one campaign that goes on all the while, of which each measures what ends within it. */
async function turnOf(database: Database, campaignId: string, postgresPid: number): Promise<Turn> {
  const look = async () => {
    const row = await campaignRow(database, campaignId);
    if (row.status !== 'running') throw new Error('the campaign has too few contacts');
    const [own, postgres] = [process.cpuUsage(), await cpuOf(postgresPid)];
    return { ended: row.attempts - row.in_flight, at: performance.now(), own: own.user + own.system, postgres };
  };
  await sleep(PASSING_MS);
  const before = await look();
  await sleep(TURN_MS);
  const after = await look();
  const calls = after.ended - before.ended;
  const server = (after.own - before.own) / calls;
  const postgres = (cpuBetween(before.postgres, after.postgres) * 1e6) / calls;
  return { perSecond: (calls * 1000) / (after.at - before.at), server, postgres, both: server + postgres };
}

/** Calls of which a witness on the database's disk is told, beside calls of which none is, by one server in turns. */
export async function benchWitness(effort: Effort): Promise<Found> {
  const { pairs, contacts } = SIZES[effort];
  const postgres = await startPostgres();
  const { database, connectionString } = await postgres.database();
  const { campaignId } = await seedCampaign(database, {
    contacts,
    number: (i) => 14_152_000_000 + i * 7,
    campaign: { max_concurrency: 2000, status: 'paused' },
  });
  let isTold = true;
  const dialer = await startTestDialer(database, {
    config: { witnessPath: path.join(postgres.dataDir, 'witness') },
    guard: (own) => ({
      keepCalls: (...calls) => (isTold ? own : unguarded(database)).keepCalls(...calls),
    }),
  });
  while (!(await campaignRow(database, campaignId)).contacts_added) await sleep(100);
  await settle(connectionString);
  const become = (status: 'running' | 'paused') =>
    database.inEngine(({ db }) => db.updateTable('campaigns').set({ status }).where('id', '=', campaignId).execute());
  await become('running');
  await sleep(WARM_UP_MS);
  const turns = await inTurns(['with', 'without'], pairs, async (name) => {
    isTold = name === 'with';
    return turnOf(database, campaignId, postgres.pid);
  });
  await become('paused');
  await dialer.stop();
  return { rows: rowsOf(turns) };
}

function rowsOf(turns: Record<'with' | 'without', Turn[]>): Row[] {
  const row = (what: string, of: keyof Turn, unit: string, aim?: string): Row => {
    const ratios = turns.with.map((turn, at) => turn[of] / turns.without[at]![of]);
    console.error(`  ${what}: of ${ratios.length} pairs, in the middle ${median(ratios).toFixed(3)}`);
    return {
      what: `calls with a witness, ${what}`,
      ours: median(turns.with.map((turn) => turn[of])),
      peer: 'calls without',
      theirs: median(turns.without.map((turn) => turn[of])),
      unit,
      ...(aim && { aim }),
    };
  };
  return [
    row('finished', 'perSecond', '/s', '≥ 0.97'),
    row('CPU of the server a call', 'server', 'µs'),
    row('CPU of PostgreSQL a call', 'postgres', 'µs'),
    row('CPU of both a call', 'both', 'µs', '≤ 1.03'),
  ];
}
