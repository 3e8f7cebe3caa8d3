import { test } from 'vitest';
import { crashRuns } from '../crash/run-crash.ts';

test(
  '2,000 runs over three servers, one killed every few seconds, PostgreSQL restarted twice: each ends right',
  {
    timeout: 900_000,
  },
  () => crashRuns({ runs: 2000, seed: 1, killEvery: 4, kills: 10, restartsAfter: [3, 7], patience: 300 }),
);
