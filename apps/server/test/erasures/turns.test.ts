import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import type { ErasureDeps } from '../../src/erasures/deps.ts';
import { erasingByTurns } from '../../src/erasures/erase-number.ts';
import { newUuid } from '../../src/ids.ts';
import { lookThrough } from '../../src/person-data/look-through.ts';
import { personOf } from '../../src/person-data/spellings.ts';
import { stores } from '../../src/person-data/stores.ts';
import { withDatabase } from '../database/own-database.ts';
import { analyzeOnOld, rowsReadBy } from '../dialing/claim-cost.ts';
import { seedWorkspace } from '../seed/workspace.ts';
import { testClock } from '../test-clock.ts';

const NUMBER = 14155550142;

/** So many erasures of a workspace, one of each number. */
async function seedErasures(database: Database, workspaceId: string, count: number, due: Date): Promise<void> {
  for (let at = 0; at < count; at += 1)
    await database.inEngine(({ db }) =>
      sql`
        insert into erasures (workspace_id, id, status, phone_number, due_at, created_at)
        values (${workspaceId}, ${newUuid()}, 'running', ${NUMBER + at}, ${due}, ${due})`.execute(db),
    );
}

const running = (database: Database, workspaceId: string) =>
  database.inEngine(async ({ db }) => {
    const { rows } = await sql`
      select from erasures where workspace_id = ${workspaceId} and status = 'running'`.execute(db);
    return rows.length;
  });

test('an erasure waits for one of each other workspace, however many these have', () =>
  withDatabase(async (database) => {
    const clock = testClock(new Date(), { stands: true });
    const nothing = { objects: undefined, jobs: undefined, recordEvents: async () => {}, requestEnd: async () => {} };
    const deps = { database, clock, log: pino({ level: 'silent' }), ...nothing } as unknown as ErasureDeps;
    const [busy, patient] = [await seedWorkspace(database), await seedWorkspace(database)];
    await seedErasures(database, busy, 40, new Date(clock.now().getTime() - 60_000));
    await seedErasures(database, patient, 1, clock.now());
    const nextBatch = erasingByTurns(deps);
    const batches = 6 + stores.length;
    for (let batch = 0; batch < 2 * batches; batch += 1) expect(await nextBatch()).toBe(true);
    expect(await running(database, patient)).toBe(0);
    expect(await running(database, busy)).toBe(40);
  }));

test('the SIP calls of a workspace are looked through without those of others', () =>
  withDatabase(async (database) => {
    const [many, few] = [await seedWorkspace(database), await seedWorkspace(database)];
    const seed = (workspaceId: string, calls: number) =>
      database.inEngine(({ db }) =>
        sql`
          insert into sip_calls (room_id, workspace_id, server_id, begun_at, sip_reason)
          select gen_random_uuid(), ${workspaceId}, gen_random_uuid(), '2026-03-10', ${`+${NUMBER}`}
          from generate_series(1, ${calls}::integer)`.execute(db),
      );
    await seed(many, 20_000);
    await seed(few, 3);
    await analyzeOnOld(database, 'sip_calls');
    const store = stores.find(({ table }) => table === 'sip_calls')!;
    const read = await rowsReadBy(database, (counting) =>
      counting.inEngine(async (tx) => {
        const { found } = await lookThrough(tx, store, {
          workspaceId: few,
          person: personOf(NUMBER, []),
          after: undefined,
        });
        expect(found).toHaveLength(3);
      }),
    );
    expect(read).toBeLessThan(50);
  }));
