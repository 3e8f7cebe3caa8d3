import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { lookThrough } from '../../../src/platform/person-data/look-through.ts';
import { personOf } from '../../../src/platform/person-data/spellings.ts';
import { stores } from '../../../src/platform/person-data/stores.ts';
import type { ErasureDeps } from '../../../src/records/erasures/deps.ts';
import { isFileUntold } from '../../../src/records/erasures/erase-contacts.ts';
import { erasingByTurns } from '../../../src/records/erasures/erase-number.ts';
import type { RunningErasure } from '../../../src/records/erasures/erasure.ts';
import { analyzeOnOld, rowsReadBy } from '../../dialing/claim-cost.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { testClock } from '../../test-clock.ts';

const NUMBER = 14155550142;

const nothing = { objects: undefined, jobs: undefined, recordEvents: async () => {}, requestEnd: async () => {} };

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

test('an erasure that is at a step of a newer version is left to a server of that', () =>
  withDatabase(async (database) => {
    const clock = testClock(new Date(), { stands: true });
    const deps = { database, clock, log: pino({ level: 'silent' }), ...nothing } as unknown as ErasureDeps;
    await seedErasures(database, await seedWorkspace(database), 1, clock.now());
    const comeTo = (step: string) => database.inEngine(({ db }) => sql`update erasures set step = ${step}`.execute(db));
    await comeTo('letters');
    expect(await erasingByTurns(deps)()).toBe(false);
    await comeTo('events');
    expect(await erasingByTurns(deps)()).toBe(true);
  }));

test.each([
  ['a step', sql`step = 'keys'`],
  ['a place', sql`place = array['further']`],
])('a server that fails late leaves alone what another has moved on by %s', (_, change) =>
  withDatabase(async (database) => {
    const clock = testClock(new Date(), { stands: true });
    const workspaceId = await seedWorkspace(database);
    await seedErasures(database, workspaceId, 1, clock.now());
    let transactions = 0;
    const late: Pick<Database, 'inEngine'> = {
      inEngine: async (work) => {
        transactions += 1;
        // The first finds the erasure, and the second is its batch.
        if (transactions !== 2) return database.inEngine(work);
        await database.inEngine(({ db }) => sql`update erasures set ${change}`.execute(db));
        throw new Error('The connection was lost.');
      },
    };
    const deps = { ...nothing, database: late, clock, log: pino({ level: 'silent' }) } as unknown as ErasureDeps;
    await expect(erasingByTurns(deps)()).rejects.toThrow('The connection was lost.');
    expect(transactions).toBe(3);
    const { rows } = await database.inEngine(({ db }) =>
      sql`select waits_for, failing_since, due_at from erasures`.execute(db),
    );
    expect(rows).toEqual([{ waits_for: null, failing_since: null, due_at: clock.now() }]);
  }),
);

test('a file that nobody was told of yet is found behind any number of uploads without one, and no further', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const { id: list_id } = await seedRow(database, 'contact_lists', { workspace_id: workspaceId });
    const created_at = new Date();
    const keys = Array.from({ length: 35 }, (_, at) => `uploads/${at}.csv`);
    for (const storage_key of keys)
      await seedRow(database, 'contact_list_uploads', {
        ...{ workspace_id: workspaceId, list_id, storage_key, status: 'pending', processed_at: null, created_at },
      });
    const untold = async (stored: (key: string) => object | undefined) => {
      const asked: string[] = [];
      const stat = async (key: string) => {
        asked.push(key);
        return stored(key);
      };
      const deps = { database, objects: { stat }, log: pino({ level: 'silent' }) } as unknown as ErasureDeps;
      const erasure = { workspace_id: workspaceId, created_at } as RunningErasure;
      return { found: await isFileUntold(deps, erasure), asked: asked.length };
    };
    expect(await untold((key) => (key === keys[17] ? {} : undefined))).toEqual({ found: true, asked: 20 });
    expect(await untold(() => undefined)).toEqual({ found: false, asked: 35 });
    const silent = () => {
      throw new Error('The store does not answer.');
    };
    expect(await untold(silent)).toMatchObject({ found: undefined });
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
