import { EventEmitter, once } from 'node:events';
import type { KyselyPlugin } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { createMachineClock } from '../../../src/foundation/values/clock.ts';
import { createRestoreGuard } from '../../../src/platform/installation/restore-guard.ts';
import { freshDatabase } from '../../database.ts';

const log = pino({ level: 'silent' });

test('a look whose answer comes late, after the watermark has risen, does not take the database for a restored one', async () => {
  const fresh = await freshDatabase();
  const real = openDatabase({ connection: fresh.connection, poolSize: 2, log });
  const look = new EventEmitter();
  const isRead = once(look, 'read');
  const lateAnswers: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      look.emit('read');
      await once(look, 'answer');
      return result;
    },
  };
  let asked = 0;
  const inEngine: Database['inEngine'] = async (work) => {
    asked += 1;
    if (asked === 1) throw new Error('The first raise does not reach the database.');
    if (asked !== 2) return real.inEngine(work);
    return real.inEngine((tx) => work({ ...tx, db: tx.db.withPlugin(lateAnswers) }));
  };
  const database = { ...real, inEngine };
  const guard = createRestoreGuard({
    ...{ database, log, witness: undefined, registry: new Registry(), clock: createMachineClock() },
  });
  const started = guard.start();
  await isRead;
  expect(await guard.mayPlace()).toBe(true);
  expect(guard.watermark()).toBe(1);
  look.emit('answer');
  await started;
  expect(guard.warnings()).toEqual([]);
  await guard.close();
  await real.close();
  await fresh.drop();
});
