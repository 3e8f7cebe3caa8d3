import { test } from 'vitest';
import { crashRuns } from '../../crash/run-crash.ts';

test(
  '30 runs over three servers, each killed once, PostgreSQL restarted in the middle: each ends right',
  {
    timeout: 900_000,
  },
  () => crashRuns({ runs: 30, seed: 1, killEvery: 4, kills: 3, restartsAfter: [2], patience: 300 }),
);
