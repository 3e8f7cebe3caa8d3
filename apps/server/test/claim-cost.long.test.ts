import { test } from 'vitest';
import { expectEqualPicks } from './claim-cost.ts';
import { withDatabase } from './own-database.ts';

test('a claim reads as much at a million contacts as at ten thousand', { timeout: 300_000 }, () =>
  withDatabase((database) => expectEqualPicks(database, 10_000, 1_000_000)),
);
