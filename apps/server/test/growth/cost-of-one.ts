import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';

/** Sets up so many others, under way or remembered; what it answers takes items through beside them, and leaves as many. */
export type SetUp = (others: number) => Take | Promise<Take>;
type Take = (items: number) => unknown;

const FEW = 1000;
const MANY = 30_000;
const MOST_GROWTH = 1.5;

/** A sample takes at least so much CPU time, in microseconds, and goes through so many items at a place before the next. */
const SAMPLE_US = 10_000;
const BATCH = 50;
const FEWEST_ROUNDS = 5;
const MOST_ROUNDS = 60;

/** Other load can't have made so much of a ratio that is 1. */
const isDoubtful = (ratio: number) => ratio > MOST_GROWTH && ratio < 4;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** CPU time of this process, in microseconds. That of a thread alone is told by Linux in steps of 4 ms. */
async function cpuOf(places: readonly Take[], items: number): Promise<number> {
  const before = process.cpuUsage();
  for (let batch = 0; batch * BATCH < items; batch += 1) await places[batch % places.length]!(BATCH);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/**
 * How many times as much CPU time an item takes beside many others in one place as beside few in each of many places. All
 * in all there are as many, so that the processor's caches and the garbage are the same, and only the cost of length is left.
 * What else the machine does adds to samples: the least of several counts, taken in turns.
 */
async function growth(setUp: SetUp, { few = FEW, many = MANY } = {}): Promise<number> {
  const short: Take[] = [];
  for (let others = 0; others < many; others += few) short.push(await setUp(few));
  const long = [await setUp(many)];
  collectGarbage();
  let items = BATCH * short.length;
  // Meanwhile the code gets warm.
  while ((await cpuOf(short, items)) < SAMPLE_US) items *= 2;
  await cpuOf(long, items);
  const least = { short: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY };
  const ratio = () => least.long / least.short;
  for (let round = 1; round <= FEWEST_ROUNDS || (round <= MOST_ROUNDS && isDoubtful(ratio())); round += 1) {
    least.long = Math.min(least.long, await cpuOf(long, items));
    least.short = Math.min(least.short, await cpuOf(short, items));
  }
  return ratio();
}

/** Fails where an item costs more beside 30,000 others than beside 1,000. */
export async function expectNoGrowth(setUp: SetUp, sizes?: { few: number; many: number }): Promise<void> {
  const ratio = await growth(setUp, sizes);
  expect(ratio, 'times the CPU time of an item beside few').toBeLessThanOrEqual(MOST_GROWTH);
}
