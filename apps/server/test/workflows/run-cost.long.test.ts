import { test } from 'vitest';
import { withDatabase } from '../database/own-database.ts';
import { expectEqualTurns } from './run-cost.ts';

test('a turn of runs reads as much at a million runs as at ten thousand', { timeout: 300_000 }, () =>
  withDatabase((database) => expectEqualTurns(database, 10_000, 1_000_000)),
);
