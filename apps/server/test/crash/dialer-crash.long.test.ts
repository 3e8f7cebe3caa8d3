import { test } from 'vitest';
import { withDatabase } from '../foundation/database/own-database.ts';
import { runCrash, runFreeze } from './servers.ts';

const timeout = 180_000;

test.each([2, 3, 4, 5, 6])('two of three servers are killed, and not replaced: seed %i', { timeout }, (seed) =>
  withDatabase((database) => runCrash(database, { seed, contacts: 1500, restart: false })),
);

test.each([7, 8, 9, 10, 11])('two of three servers are killed, one is replaced: seed %i', { timeout }, (seed) =>
  withDatabase((database) => runCrash(database, { seed, contacts: 1500, restart: true })),
);

test.each([12, 13, 14, 15, 16])('servers are frozen beyond their lease by turns: seed %i', { timeout }, (seed) =>
  withDatabase((database) => runFreeze(database, { seed, contacts: 1500, freezes: 4 })),
);
