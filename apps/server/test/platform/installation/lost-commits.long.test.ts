import { test } from 'vitest';
import { chances } from '../../chances.ts';
import { runLoss } from './lost-commits.ts';

/** The first seed and how many: a part of them can be run by itself. */
const FIRST = Number(process.env['LOSS_SEED'] ?? 1);
const SEEDS = Number(process.env['LOSS_SEEDS'] ?? 50);
const [LEAST_MS, MOST_MS] = [100, 15_000];

test.each(Array.from({ length: SEEDS }, (_, at) => FIRST + at))(
  'a database that loses its last commits calls nobody twice (seed %i)',
  { timeout: 600_000 },
  async (seed) => {
    const chance = chances(seed * 7919);
    await runLoss({
      by: chance() < 0.5 ? 'copy' : 'standby',
      lossMs: LEAST_MS + chance() * (MOST_MS - LEAST_MS),
      servers: 1 + Math.floor(chance() * 3),
      killed: seed % 2 === 0,
    });
  },
);

test(
  'a synchronous standby that takes over holds nothing, also where all servers are killed with the primary',
  {
    timeout: 240_000,
  },
  () => runLoss({ by: 'synchronous', lossMs: 0, servers: 3, killed: true }),
);
