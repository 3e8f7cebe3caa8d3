import { chances } from '../chances.ts';
import { doFaults } from './faults.ts';
import type { History } from './history.ts';
import { laws, lawsOfLoss } from './laws/laws.ts';
import { type Clients, createClients } from './load/client-record.ts';
import { makeLoad } from './load/load.ts';
import { makeSetting, type Setting } from './load/setting.ts';
import { watchStreams } from './load/streams.ts';
import { loseCommits, resumeAll } from './lose-commits.ts';
import type { ChaosOptions } from './options.ts';
import { readHistory } from './read-history.ts';
import { staysAfterLoss, tellOfCalls, untilTold, waitForRest } from './rest.ts';
import { startWorld, type World } from './world.ts';

/** What came of a run. */
export interface ChaosResult {
  history: History;
  /** Breaches by the law that they break. */
  broken: { law: string; breaches: string[] }[];
  /** What the servers logged, from warnings on; kept where a law is broken. */
  log: string;
}

/** Judges a history by every law, or by those that hold where commits were lost. */
export const judge = (history: History): ChaosResult['broken'] =>
  (history.loss ? lawsOfLoss : laws).flatMap(({ name, breaches }) => {
    const found = breaches(history);
    return found.length > 0 ? [{ law: name, breaches: found }] : [];
  });

/** Of each act the clients have numbers of their own. */
const NUMBERS_OF_AN_ACT = 500_000;
const since = (began: number) => Math.round((performance.now() - began) / 1000);

/**
 * Load and faults for a while, until everything has come to rest; then the laws. If commits are to be lost, load once more,
 * the loss, and the laws that hold for it. Leaves nothing running.
 * @param signal ends it at once
 */
export async function chaos(options: ChaosOptions, signal?: AbortSignal): Promise<ChaosResult> {
  const { seed, tell } = options;
  tell('starting PostgreSQL, the servers and a carrier');
  const world = await startWorld(options);
  const ended = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
    if (signal?.aborted) reject(signal.reason);
  });
  ended.catch(() => {});
  const run = async () => {
    const acts = { first: false, second: false };
    const clients = createClients(world, chances(seed), () => acts.first);
    const setting = await makeSetting(world, clients);
    const history = await fail(world, { ...options, setting, clients }, () => {
      acts.first = true;
    });
    const broken = judge(history);
    if (options.loss && broken.length === 0) {
      const others = createClients(world, chances(seed + 1), () => acts.second, NUMBERS_OF_AN_ACT);
      const { loss, open } = await lose(world, { ...options, setting, clients: others }, () => {
        acts.second = true;
      });
      broken.push(...judge(await readHistory(world, clients.record, { faults: history.faults, open, loss })));
    }
    return { history, broken, log: await world.log() };
  };
  try {
    return await Promise.race([run(), ended]);
  } finally {
    await world.stop();
  }
}

type Act = ChaosOptions & { setting: Setting; clients: Clients };

/** The first act: load and faults. @param end has no more be asked for */
async function fail(world: World, act: Act, end: () => void): Promise<History> {
  const { clients, tell } = act;
  tell(`load, and faults for ${act.seconds} s`);
  const watching = watchStreams(clients);
  const loading = makeLoad(world.database, clients, { ...act, watching });
  const faults = await doFaults(world, act).finally(end);
  tell(`all faults are undone: ${countsOf(faults, act.faults)}; waiting for what was begun`);
  const began = performance.now();
  await loading;
  tell(`the load has ended after ${since(began)} s`);
  const open = await waitForRest(world.database, clients, act);
  if (open.length > 0) await tellOfCalls(world, tell);
  await untilTold(world.database, clients.record.streams);
  await watching.close();
  const history = await readHistory(world, clients.record, { faults, open });
  tell(`at rest after ${since(began)} s: ${summary(history, clients.record.answered)}`);
  return history;
}

/** The second act: load, and a loss that is confirmed. */
async function lose(world: World, act: Act, end: () => void): Promise<Pick<History, 'open' | 'loss'>> {
  const { clients, tell, seed } = act;
  const watching = watchStreams(clients);
  const loading = makeLoad(world.database, clients, { ...act, watching });
  const loss = await loseCommits(world, { by: act.loss!, chance: chances(seed + 2), tell }).finally(end);
  const began = performance.now();
  await resumeAll(clients);
  await loading;
  await watching.close();
  const open = await waitForRest(world.database, clients, act, staysAfterLoss);
  tell(`at rest after ${since(began)} s: ${world.carrier.invited().length} calls over SIP`);
  return { loss, open };
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
