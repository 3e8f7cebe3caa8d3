import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { record } from '../../../src/platform/journal/record.ts';
import { freshDatabase } from '../../database.ts';
import { seedWorkspace } from '../../seed/workspace.ts';

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
let workspaceId: string;
const told: string[] = [];

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openDatabase({ connection: fresh.connection, poolSize: 2, log: pino({ level: 'silent' }) });
  workspaceId = await seedWorkspace(database);
  database.onTold((topic) => told.push(topic));
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

const change = (resourceId: string, revision: number) => ({
  resourceId,
  revision,
  type: 'campaign.paused',
  data: {},
  now: new Date(),
});

test('an event is told once its transaction has committed, and each resource once', async () => {
  const [first, second] = [newUuid(), newUuid()];
  await database.inWorkspace(workspaceId, async (tx) => {
    for (const revision of [2, 3]) await record(tx, change(first, revision));
    await record(tx, change(second, 2));
    expect(told).toEqual([]);
  });
  expect(told.splice(0)).toEqual([first, second]);
});

test('nothing is told of what is new, nor of what was rolled back', async () => {
  await database.inWorkspace(workspaceId, (tx) => record(tx, change(newUuid(), 1)));
  const undone = database.inEngine(async (tx) => {
    tx.tell(newUuid());
    throw new Error('no');
  });
  await expect(undone).rejects.toThrow('no');
  const twice = newUuid();
  await database.inWorkspace(workspaceId, (tx) => record(tx, change(twice, 2)));
  told.splice(0);
  await expect(database.inWorkspace(workspaceId, (tx) => record(tx, change(twice, 2)))).rejects.toThrow();
  expect(told).toEqual([]);
});

test('what a retried transaction tells is what its last try has done', async () => {
  const [lost, kept] = [newUuid(), newUuid()];
  let tries = 0;
  await database.inEngine(async (tx) => {
    tries += 1;
    tx.tell(tries === 1 ? lost : kept);
    if (tries === 1) await sql`do $$ begin raise exception using errcode = '40001'; end $$`.execute(tx.db);
  });
  expect([tries, told]).toEqual([2, [kept]]);
});
