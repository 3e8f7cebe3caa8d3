import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { stepNames } from '../../../src/records/erasures/steps.ts';
import { freshDatabase } from '../../database.ts';

test('every step is known to servers of other versions', async () => {
  const { connection, drop } = await freshDatabase();
  const database = openDatabase({ connection, poolSize: 1, log: pino({ level: 'silent' }) });
  try {
    const { rows } = await database.pool.query('select erasure_steps from installation');
    expect(rows[0]!.erasure_steps.toSorted()).toEqual(stepNames.toSorted());
  } finally {
    await database.close();
    await drop();
  }
});
