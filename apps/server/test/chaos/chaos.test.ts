import { expect, test } from 'vitest';
import { chaos } from './chaos.ts';
import type { FaultName } from './options.ts';

/** All but those after which calls are found only when they should be over, and a start more. */
const faults: FaultName[] = ['kill', 'stop', 'postgres', 'terminate', 'pools', 'clock', 'disk'];

/** Of few orders in which a server is killed first, and five faults come one upon another in a few seconds. */
const SEED = 15_155;

test('every law holds while servers, database, disks and clocks fail under a load of everything', {
  timeout: 300_000,
}, async () => {
  const lines: string[] = [];
  const { broken, history, log } = await chaos({
    ...{ seed: SEED, servers: 2, faults, load: 0.5, seconds: 7, restSeconds: 150 },
    tell: (line) => lines.push(line),
  });
  // What has failed says in which order, and what the servers said meanwhile.
  if (broken.length > 0) console.error([...lines, log.slice(-20_000)].join('\n'));
  expect(broken).toEqual([]);
  for (const kind of ['campaign', 'batch', 'call', 'run', 'upload', 'document'])
    expect(history.promised.map((each) => each.kind)).toContain(kind);
  expect(history.invited.filter(({ answeredAt }) => answeredAt)).not.toEqual([]);
  for (const some of [history.placed, history.delivered, history.streams]) expect(some).not.toEqual([]);
  expect(new Set(history.faults.map(({ name }) => name)).size).toBeGreaterThan(2);
});
