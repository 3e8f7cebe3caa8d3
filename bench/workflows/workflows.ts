import { asSuperuser, startPostgres } from '../postgres.ts';
import { cpuBetween, cpuOf } from '../processes.ts';
import { inTurns, median, percentile } from '../rounds.ts';
import type { Cost, Found } from '../table.ts';
import { startDbos } from './dbos.ts';
import { installPeers } from './peers/install.ts';
import { startRestate } from './restate.ts';
import type { Order, System } from './starts.ts';

const ROUNDS = 3;
const CLIENTS = 64;
const RUNS = { 1: 3000, 5: 1000 };
/** For the acceptance: as many starts as every system keeps up with, on 2 cores. */
const STARTS_PER_SECOND = 100;
const PACED_RUNS = 500;

/** Runs a second, CPU of a run and acceptance of a start, against DBOS on the same PostgreSQL and Restate. */
export async function benchWorkflows(): Promise<Found> {
  await installPeers();
  const postgres = await startPostgres();
  const { connectionString } = await postgres.database();
  const durable = "select current_setting('synchronous_commit') || current_setting('fsync') as on";
  if ((await asSuperuser<{ on: string }>(connectionString, durable)).on !== 'onon')
    throw new Error('PostgreSQL is not durable.');

  const systems = { ...(await startDbos(postgres)), Restate: await startRestate() };
  const names = Object.keys(systems) as (keyof typeof systems)[];
  const costs: Cost[] = [];
  for (const steps of [1, 5] as const) {
    const runs = RUNS[steps];
    const turns = await inTurns(names, ROUNDS, (name) => turnOf(systems[name], { runs, steps, clients: CLIENTS }));
    for (const name of names) {
      const what = `${name}, runs of ${steps === 1 ? 'one step' : 'five steps'}`;
      const of = (figure: 'rate' | 'cpu') => median(turns[name].map((turn) => turn[figure]));
      costs.push(
        { what, value: of('rate'), unit: '/s' },
        { what: `${what}, CPU of one`, value: of('cpu'), unit: 'ms' },
      );
    }
  }
  const paced = await inTurns(names, ROUNDS, (name) =>
    turnOf(systems[name], { runs: PACED_RUNS, steps: 1, perSecond: STARTS_PER_SECOND }),
  );
  for (const name of names) {
    for (const [what, share] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const) {
      const value = median(paced[name].map(({ latencies }) => percentile(latencies, share)));
      costs.push({ what: `${name}, acceptance at ${STARTS_PER_SECOND} starts/s, ${what}`, value, unit: 'ms' });
    }
  }
  return { costs };
}

async function turnOf({ carryOut, pids }: System, order: Order) {
  const cpu = () => Promise.all(pids.map(cpuOf));
  const before = await cpu();
  const { seconds, latencies } = await carryOut(order);
  const after = await cpu();
  const cpuSeconds = after.reduce((sum, each, at) => sum + cpuBetween(before[at]!, each), 0);
  return { rate: order.runs / seconds, cpu: (cpuSeconds / order.runs) * 1000, latencies };
}
