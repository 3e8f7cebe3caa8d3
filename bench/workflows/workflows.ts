import { asSuperuser, startPostgres } from '../postgres.ts';
import { cpuBetween, cpuOf } from '../processes.ts';
import { untilQuiet } from '../quiet.ts';
import { type Effort, inTurns, median, percentile } from '../rounds.ts';
import type { Cost, Found, Row } from '../table.ts';
import { startDbos } from './dbos.ts';
import { installPeers } from './peers/install.ts';
import { startRestate } from './restate.ts';
import type { Order, System } from './starts.ts';
import { startTrunkline } from './trunkline.ts';
import { benchWake } from './wake.ts';

const CLIENTS = 64;
const SIZES = {
  whole: { rounds: 3, runs: { 1: 6000, 5: 2000 }, pacedRuns: 500 },
  quick: { rounds: 1, runs: { 1: 1000, 5: 400 }, pacedRuns: 200 },
};
/** For the acceptance: as many starts as every system keeps up with, on 2 cores. */
const STARTS_PER_SECOND = 100;
const SHARES = { p50: 0.5, p99: 0.99 };

const PEERS = ['Restate', 'DBOS', 'DBOS queue'] as const;
const ASKED_PEERS = [...PEERS, 'DBOS over HTTP'] as const;
/** The peers are not there if it is to be quick. */
type Systems = { Trunkline: System } & Partial<Record<(typeof ASKED_PEERS)[number], System>>;

/** Runs a second, and how long a start takes, against Restate and against DBOS on the same PostgreSQL; and wakes. */
export async function benchWorkflows(effort: Effort): Promise<Found> {
  if (effort === 'whole') await installPeers();
  else console.error('  without Restate and DBOS, which are 240 MB to install, and without wakes');
  const postgres = await startPostgres();
  const trunkline = await startTrunkline(postgres);
  await refuseUnlessDurable(trunkline.connectionString);
  const peers = effort === 'whole' && { Restate: await startRestate(), ...(await startDbos(postgres)) };
  const systems: Systems = { Trunkline: trunkline.system, ...peers };
  const found = [
    await compareRuns(effort, systems, 1, 'one step'),
    await compareRuns(effort, systems, 5, 'five steps'),
    await compareAcceptance(effort, systems),
  ];
  return {
    rows: found.flatMap(({ rows = [] }) => rows),
    costs: effort === 'whole' ? await benchWake(trunkline) : found.flatMap(({ costs = [] }) => costs),
  };
}

async function refuseUnlessDurable(connectionString: string): Promise<void> {
  const settings = "current_setting('fsync') = 'on' and current_setting('synchronous_commit') = 'on'";
  const { durable } = await asSuperuser<{ durable: boolean }>(connectionString, `select ${settings} as durable`);
  if (!durable) throw new Error('This PostgreSQL loses what it has committed when the power goes.');
}

async function compareRuns(effort: Effort, systems: Systems, steps: 1 | 5, title: string): Promise<Required<Found>> {
  const { rounds, runs } = SIZES[effort];
  const peers = PEERS.filter((peer) => peer in systems);
  const turns = await inTurns(['Trunkline', ...peers], rounds, async (name) => {
    await untilQuiet(effort);
    const turn = await turnOf(systems[name]!, { runs: runs[steps], steps, clients: CLIENTS });
    console.error(`  ${title}, ${name}: ${Math.round(turn.rate)} /s`);
    return turn;
  });
  const of = (name: keyof typeof turns, figure: 'rate' | 'cpu') => median(turns[name].map((turn) => turn[figure]));
  const rate = { what: `runs of ${title}`, value: of('Trunkline', 'rate'), unit: '/s' };
  const cpu = { what: `runs of ${title}, CPU of one`, value: of('Trunkline', 'cpu'), unit: 'ms' };
  const rows = peers.flatMap((peer) => [
    { ...beside(rate, peer, of(peer, 'rate')), ...(peer === 'Restate' && { aim: '≥ 1.5' }) },
    beside(cpu, peer, of(peer, 'cpu')),
  ]);
  return { rows, costs: [rate, cpu] };
}

async function compareAcceptance(effort: Effort, systems: Systems): Promise<Required<Found>> {
  const { rounds, pacedRuns } = SIZES[effort];
  const order = { runs: pacedRuns, steps: 1, perSecond: STARTS_PER_SECOND } as const;
  const peers = ASKED_PEERS.filter((peer) => peer in systems);
  const turns = await inTurns(['Trunkline', ...peers], rounds, async (name) => {
    await untilQuiet(effort);
    return (await systems[name]!.carryOut(order)).latencies;
  });
  const of = (name: keyof typeof turns, share: number) => median(turns[name].map((turn) => percentile(turn, share)));
  const shares = Object.entries(SHARES).map(([title, share]) => {
    const what = `start accepted, at ${STARTS_PER_SECOND} /s, ${title}`;
    return { title, share, cost: { what, value: of('Trunkline', share), unit: 'ms' } };
  });
  const rows = peers.flatMap((peer) =>
    shares.map(({ title, share, cost }) => ({
      ...beside(cost, peer, of(peer, share)),
      ...(peer === 'DBOS over HTTP' && title === 'p99' && { aim: '≤ 1' }),
    })),
  );
  return { rows, costs: shares.map(({ cost }) => cost) };
}

const beside = ({ what, value, unit }: Cost, peer: string, theirs: number): Row => ({
  ...{ what, ours: value, peer, theirs, unit },
});

async function turnOf({ carryOut, pids }: System, order: Order) {
  const cpu = () => Promise.all(pids.map(cpuOf));
  const before = await cpu();
  const { seconds } = await carryOut(order);
  const after = await cpu();
  const cpuSeconds = after.reduce((sum, each, at) => sum + cpuBetween(before[at]!, each), 0);
  return { rate: order.runs / seconds, cpu: (cpuSeconds / order.runs) * 1000 };
}
