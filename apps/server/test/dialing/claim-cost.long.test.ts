import { test } from 'vitest';
import { withDatabase } from '../foundation/database/own-database.ts';
import { expectEqualPicks, expectEqualStatements } from './claim-cost.ts';

test('a claim reads as much at a million contacts as at ten thousand', { timeout: 300_000 }, () =>
  withDatabase((database) => expectEqualPicks(database, 10_000, 1_000_000)),
);

test('each statement of a claim touches as few buffers at a million contacts', { timeout: 300_000 }, () =>
  withDatabase((database) => expectEqualStatements(database, 10_000, 1_000_000)),
);
