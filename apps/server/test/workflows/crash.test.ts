import { test } from 'vitest';
import { crashRuns } from '../crash/run-crash.ts';

test(
  '1,000 runs over three servers, one killed every few seconds, PostgreSQL restarted twice: each ends right',
  {
    timeout: 900_000,
  },
  () => crashRuns({ runs: 1000, seed: 1, killEvery: 4, kills: 6, restartsAfter: [2, 4], patience: 300 }),
);
