import { chances } from '../chances.ts';
import { doFaults } from './faults.ts';
import type { History } from './history.ts';
import { laws } from './laws/laws.ts';
import { createClients } from './load/client-record.ts';
import { makeLoad } from './load/load.ts';
import { makeSetting } from './load/setting.ts';
import type { ChaosOptions } from './options.ts';
import { readHistory } from './read-history.ts';
import { tellOfCalls, waitForRest } from './rest.ts';
import { startWorld } from './world.ts';

/** What came of a run. */
export interface ChaosResult {
  history: History;
  /** Breaches by the law that they break. */
  broken: { law: string; breaches: string[] }[];
  /** What the servers logged, from warnings on; kept where a law is broken. */
  log: string;
}

/** Judges a history by every law. */
export const judge = (history: History): ChaosResult['broken'] =>
  laws.flatMap(({ name, breaches }) => {
    const found = breaches(history);
    return found.length > 0 ? [{ law: name, breaches: found }] : [];
  });

/**
 * Load and faults for a while, until everything has come to rest; then the laws. Leaves nothing running.
 * @param signal ends it at once
 */
export async function chaos(options: ChaosOptions, signal?: AbortSignal): Promise<ChaosResult> {
  const { seed, seconds, tell } = options;
  tell('starting PostgreSQL, the servers and a carrier');
  const world = await startWorld(options);
  const ended = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
    if (signal?.aborted) reject(signal.reason);
  });
  ended.catch(() => {});
  const run = async () => {
    let isOver = false;
    const clients = createClients(world, chances(seed), () => isOver);
    const setting = await makeSetting(world, clients);
    tell(`load, and faults for ${seconds} s`);
    const loading = makeLoad(world.database, clients, { ...options, setting });
    const faults = await doFaults(world, options).finally(() => {
      isOver = true;
    });
    tell(`all faults are undone: ${countsOf(faults, options.faults)}; waiting for what was begun`);
    const began = performance.now();
    await loading;
    tell(`the load has ended after ${Math.round((performance.now() - began) / 1000)} s`);
    const open = await waitForRest(world.database, clients, options);
    if (open.length > 0) await tellOfCalls(world, tell);
    const history = await readHistory(world, clients.record, { faults, open });
    tell(
      `at rest after ${Math.round((performance.now() - began) / 1000)} s: ${summary(history, clients.record.answered)}`,
    );
    return { history, broken: judge(history), log: await world.log() };
  };
  try {
    return await Promise.race([run(), ended]);
  } finally {
    await world.stop();
  }
}

/** How often each fault was done; one may have been left out, or not have had its turn. */
const countsOf = (faults: History['faults'], names: ChaosOptions['faults']): string =>
  names
    .map((name) => `${name} ${faults.filter((one) => one.name === name && !one.what.startsWith('left out')).length}`)
    .join(', ');

function summary({ promised, placed, invited, arrived, delivered, streams }: History, answered: number): string {
  const parts = [
    `${answered} requests answered`,
    `${promised.length} things promised`,
    `${placed.length} calls placed`,
  ];
  parts.push(
    `${invited.length} over SIP`,
    `${arrived.length} calls arrived`,
    `${delivered.length} events delivered`,
    `${streams.length} streams followed`,
  );
  return parts.join(', ');
}
