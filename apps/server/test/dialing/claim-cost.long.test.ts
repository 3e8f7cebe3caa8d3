import { test } from 'vitest';
import { withDatabase } from '../database/own-database.ts';
import { expectEqualPicks } from './claim-cost.ts';

test('a claim reads as much at a million contacts as at ten thousand', { timeout: 300_000 }, () =>
  withDatabase((database) => expectEqualPicks(database, 10_000, 1_000_000)),
);
