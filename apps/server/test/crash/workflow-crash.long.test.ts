import { test } from 'vitest';
import { crashRuns } from './run-crash.ts';

test.each([1, 2])(
  '2,000 runs over three servers, one killed every few seconds, PostgreSQL restarted twice: seed %i',
  {
    timeout: 900_000,
  },
  (seed) => crashRuns({ runs: 2000, seed, killEvery: 4, kills: 8, restartsAfter: [3, 6], patience: 500 }),
);
