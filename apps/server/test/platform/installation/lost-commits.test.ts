import { test } from 'vitest';
import { runLoss } from './lost-commits.ts';

// Two databases, several servers and a lease that must run out, on a machine that stalls.
const options = { timeout: 300_000 };

test('a standby that had not heard all, promoted after all was killed, calls nobody twice', options, () =>
  runLoss({ by: 'standby', lossMs: 600, servers: 2, killed: true }),
);
