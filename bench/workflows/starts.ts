import { setTimeout as sleep } from 'node:timers/promises';

export type Steps = 1 | 5;

/**
 * Runs to be started: by clients of which each starts the next one after its answer, or so many a second, whether they
 * are answered or not. Each of their steps is committed by itself.
 */
export type Order = { runs: number; steps: Steps } & ({ clients: number } | { perSecond: number });

export interface Turn {
  /** From the first start to the last end. */
  seconds: number;
  /** Of each start, from the call until it is accepted for good, in milliseconds. */
  latencies: number[];
}

/** Something that runs workflows. */
export interface System {
  carryOut(order: Order): Promise<Turn>;
  /** The processes that it consists of; those that they have started belong to it too. */
  pids: number[];
}

/** How to start runs somewhere. */
export interface Runner {
  /** Starts a run under a key that nothing else bears, and resolves once it is accepted for good. */
  start(key: string, steps: Steps): Promise<unknown>;
  /** How many runs have ended, of all there ever were. */
  ended(): Promise<number>;
}

let orders = 0;

/** Starts runs and waits until the last of them has ended. */
export async function carryOut(order: Order, { start, ended }: Runner): Promise<Turn> {
  const latencies: number[] = [];
  orders += 1;
  const name = `${process.pid}-${orders}`;
  const startOne = async (i: number) => {
    const from = performance.now();
    await start(`${name}-${i}`, order.steps);
    latencies.push(performance.now() - from);
  };
  const last = (await ended()) + order.runs;
  const from = performance.now();
  if ('clients' in order) await afterEachOther(order.runs, order.clients, startOne);
  else await evenly(order.runs, order.perSecond, startOne);
  while ((await ended()) < last) await sleep(10);
  return { seconds: (performance.now() - from) / 1000, latencies };
}

async function afterEachOther(times: number, clients: number, start: (i: number) => Promise<void>): Promise<void> {
  let started = 0;
  const one = async () => {
    while (started < times) {
      started += 1;
      await start(started);
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
}

async function evenly(times: number, perSecond: number, start: (i: number) => Promise<void>): Promise<void> {
  const from = performance.now();
  const starts: Promise<void>[] = [];
  for (let i = 0; i < times; i += 1) {
    const early = (i / perSecond) * 1000 - (performance.now() - from);
    if (early > 0) await sleep(early);
    starts.push(start(i));
  }
  await Promise.all(starts);
}
