import { expect, test } from 'vitest';
import {
  callOnce,
  type MixedServers,
  peopleFrom,
  simulatedNumber,
  simulatedPlacements,
  untilOver,
  withMixedServers,
} from './mixed-versions.ts';

const simulated = () => ({ SIMULATOR_SPEED: '30' });
const PEOPLE = 100;

/** Has so many people called by a server while something goes on, and each of them must be called, and once. */
async function whileCalling(servers: MixedServers, act: () => Promise<void>): Promise<void> {
  const fromNumber = await simulatedNumber(servers.client());
  const call = (first: number) =>
    callOnce(servers.client(), { agentId: 'agent_hello', fromNumber, numbers: peopleFrom(first, PEOPLE) });
  const batches = [await call(0)];
  await act();
  batches.push(await call(PEOPLE));
  await untilOver(servers, batches, 90);
  const placed = await simulatedPlacements(servers.database);
  expect([...placed.values()].filter((times) => times !== 1)).toEqual([]);
  expect(placed.size).toBeGreaterThan(PEOPLE);
  expect(placed.size).toBeLessThanOrEqual(2 * PEOPLE);
}

test('two servers are upgraded and gone back from one after the other, as docs/operations.md says, and nobody is called twice', () =>
  withMixedServers(simulated, async (servers) => {
    for (const place of [0, 1]) await servers.start(place, 'former');
    await whileCalling(servers, async () => {
      for (const version of ['newer', 'former'] as const)
        for (const place of [0, 1]) {
          await servers.start(place + 2, version);
          await servers.end(place, 'stop');
          await servers.start(place, version);
          await servers.end(place + 2, 'stop');
        }
    });
  }));
