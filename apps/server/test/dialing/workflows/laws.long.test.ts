import { test } from 'vitest';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { walkRuns } from './run-walk.ts';

test('the laws of runs hold over many walks', { timeout: 1_800_000 }, () =>
  withDatabase((database) => walkRuns(database, 500)),
);
