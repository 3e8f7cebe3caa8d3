import { setTimeout as sleep } from 'node:timers/promises';
import { chances } from '../chances.ts';
import { databaseFaults } from './faults-of-database.ts';
import { diskFaults } from './faults-of-disks.ts';
import { serverFaults } from './faults-of-servers.ts';
import type { FaultDone } from './history.ts';
import type { ChaosOptions, FaultName } from './options.ts';
import { drawOrder } from './order.ts';
import type { World } from './world.ts';

/**
 * A fault: does something, waits, and undoes it, whatever happens.
 * @param told is given what it does, once, and to which server
 */
export type Fault = (
  world: World,
  chance: () => number,
  told: (what: string, server?: { name: string }) => void,
) => Promise<void>;

const faults: Readonly<Record<FaultName, Fault>> = {
  ...serverFaults,
  ...databaseFaults,
  ...diskFaults,
};

/** So many kinds at least come also on a machine that is slow. */
const FEWEST_KINDS = 3;

/** Does faults in the order that the seed makes, until the time is over; all are undone by then. */
export async function doFaults(world: World, options: ChaosOptions): Promise<FaultDone[]> {
  const { seed, seconds, tell } = options;
  const began = performance.now();
  const done: FaultDone[] = [];
  const running = new Set<Promise<void>>();
  const perform = async (name: FaultName, chance: () => number) => {
    const record: FaultDone = {
      ...{ name, what: name, server: undefined, from: Date.now(), to: Number.POSITIVE_INFINITY },
    };
    done.push(record);
    await faults[name](world, chance, (what, server) => {
      Object.assign(record, { what, server: server?.name });
      const whom = server ? `${server.name} ` : '';
      tell(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${name}: ${whom}${what}`);
    });
    record.to = Date.now();
    tell(`          ${name}: undone after ${record.to - record.from} ms`);
  };
  for (const drawn of drawOrder(seed, options.faults)) {
    if (drawn.waits) await Promise.all(running);
    await sleep(drawn.pauseMs);
    const kinds = new Set(done.map(({ name }) => name)).size;
    if (performance.now() - began > seconds * 1000 && kinds >= Math.min(FEWEST_KINDS, options.faults.length)) break;
    const one: Promise<void> = perform(drawn.name, chances(drawn.seed)).finally(() => running.delete(one));
    running.add(one);
    // Two faults of one thing at a time would undo each other.
    if (running.size > 1) await Promise.race(running);
  }
  await Promise.all(running);
  return done;
}
