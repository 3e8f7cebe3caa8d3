import { test } from 'vitest';
import { crashRuns } from './crash/run-crash.ts';

test(
  '200 runs over three servers, one killed every few seconds, PostgreSQL restarted: each ends right',
  {
    timeout: 300_000,
  },
  () => crashRuns({ runs: 200, seed: 1, killEvery: 3, kills: 3, restartsAfter: [2], patience: 150 }),
);
