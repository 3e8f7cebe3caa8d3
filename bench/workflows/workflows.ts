import { asSuperuser, startPostgres } from '../postgres.ts';
import { cpuBetween, cpuOf } from '../processes.ts';
import { untilQuiet } from '../quiet.ts';
import { inTurns, median, percentile } from '../rounds.ts';
import type { Found, Row } from '../table.ts';
import { startDbos } from './dbos.ts';
import { installPeers } from './peers/install.ts';
import { startRestate } from './restate.ts';
import type { Order, System } from './starts.ts';
import { startTrunkline } from './trunkline.ts';
import { benchWake } from './wake.ts';

const ROUNDS = 5;
const CLIENTS = 64;
const RUNS = { 1: 6000, 5: 2000 };
/** For the acceptance: as many starts as every system keeps up with, on 2 cores. */
const STARTS_PER_SECOND = 100;
const PACED_RUNS = 500;
const SHARES = { p50: 0.5, p99: 0.99 };

type Systems = Record<'Trunkline' | 'Restate' | 'DBOS' | 'DBOS over HTTP' | 'DBOS queue', System>;
const PEERS = ['Restate', 'DBOS', 'DBOS queue'] as const;
const ASKED_PEERS = [...PEERS, 'DBOS over HTTP'] as const;

/** Runs a second, and how long a start takes, against Restate and against DBOS on the same PostgreSQL; and wakes. */
export async function benchWorkflows(): Promise<Found> {
  await installPeers();
  const postgres = await startPostgres();
  const trunkline = await startTrunkline(postgres);
  await refuseUnlessDurable(trunkline.connectionString);
  const systems = { Trunkline: trunkline.system, Restate: await startRestate(), ...(await startDbos(postgres)) };
  const rows = [
    ...(await compareRuns(systems, 1, 'one step')),
    ...(await compareRuns(systems, 5, 'five steps')),
    ...(await compareAcceptance(systems)),
  ];
  return { rows, costs: await benchWake(trunkline) };
}

async function refuseUnlessDurable(connectionString: string): Promise<void> {
  const settings = "current_setting('fsync') = 'on' and current_setting('synchronous_commit') = 'on'";
  const { durable } = await asSuperuser<{ durable: boolean }>(connectionString, `select ${settings} as durable`);
  if (!durable) throw new Error('This PostgreSQL loses what it has committed when the power goes.');
}

async function compareRuns(systems: Systems, steps: 1 | 5, title: string): Promise<Row[]> {
  const runs = RUNS[steps];
  const turns = await inTurns(['Trunkline', ...PEERS], ROUNDS, async (name) => {
    await untilQuiet();
    const turn = await turnOf(systems[name], { runs, steps, clients: CLIENTS });
    console.error(`  ${title}, ${name}: ${Math.round(turn.rate)} /s`);
    return turn;
  });
  const of = (name: keyof typeof turns, figure: 'rate' | 'cpu') => median(turns[name].map((turn) => turn[figure]));
  return PEERS.flatMap((peer) => [
    {
      what: `runs of ${title}`,
      ours: of('Trunkline', 'rate'),
      peer,
      theirs: of(peer, 'rate'),
      unit: '/s',
      ...(peer === 'Restate' && { aim: '≥ 1.5' }),
    },
    { what: `runs of ${title}, CPU of one`, ours: of('Trunkline', 'cpu'), peer, theirs: of(peer, 'cpu'), unit: 'ms' },
  ]);
}

async function compareAcceptance(systems: Systems): Promise<Row[]> {
  const order = { runs: PACED_RUNS, steps: 1, perSecond: STARTS_PER_SECOND } as const;
  const turns = await inTurns(['Trunkline', ...ASKED_PEERS], ROUNDS, async (name) => {
    await untilQuiet();
    return (await systems[name].carryOut(order)).latencies;
  });
  const of = (name: keyof typeof turns, share: number) => median(turns[name].map((turn) => percentile(turn, share)));
  return ASKED_PEERS.flatMap((peer) =>
    Object.entries(SHARES).map(([title, share]) => ({
      what: `start accepted, at ${STARTS_PER_SECOND} /s, ${title}`,
      ours: of('Trunkline', share),
      peer,
      theirs: of(peer, share),
      unit: 'ms',
      ...(peer === 'DBOS' && title === 'p99' && { aim: '≤ 1' }),
    })),
  );
}

async function turnOf({ carryOut, pids }: System, order: Order) {
  const cpu = () => Promise.all(pids.map(cpuOf));
  const before = await cpu();
  const { seconds } = await carryOut(order);
  const after = await cpu();
  const cpuSeconds = after.reduce((sum, each, at) => sum + cpuBetween(before[at]!, each), 0);
  return { rate: order.runs / seconds, cpu: (cpuSeconds / order.runs) * 1000 };
}
