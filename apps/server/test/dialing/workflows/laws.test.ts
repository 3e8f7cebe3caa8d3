import { test } from 'vitest';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { walkRuns } from './run-walk.ts';

test('whatever is started, woken, cancelled and answered, the laws of runs hold', () =>
  withDatabase((database) => walkRuns(database, 15)));
