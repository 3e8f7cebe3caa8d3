import { pino } from 'pino';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { blankDatabase } from '../database.ts';
import { statementOn } from './statement-on.ts';

let blank: Awaited<ReturnType<typeof blankDatabase>>;
let opened: Database[] = [];
const log = pino({ level: 'silent' });

beforeEach(async () => {
  blank = await blankDatabase();
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const database of opened) await database.close();
  opened = [];
  await blank.drop();
});

function open(connection = blank.connection): Database {
  const database = openDatabase({ connection, poolSize: 2, log });
  opened.push(database);
  return database;
}

test('servers that start at once bring an empty database to the newest state, once', async () => {
  await Promise.all([open(), open(), open()].map((database) => migrate(database, log)));
  const { rows } = await statementOn(blank.connection, 'select name from kysely_migration');
  expect(rows).toContainEqual({ name: '0001-initial' });
  await migrate(open(), log);
});

test('a role that row-level security binds is not warned about', async () => {
  const warn = vi.spyOn(log, 'warn');
  await migrate(open(), log);
  expect(warn).not.toHaveBeenCalled();
});

test.runIf(inject('testServer').embedded)('a superuser is warned about', async () => {
  const warn = vi.spyOn(log, 'warn');
  const url = new URL(blank.connection.connectionString);
  url.username = 'postgres';
  await migrate(open({ connectionString: url.href }), log);
  expect(warn.mock.calls.flat().join()).toContain('superuser');
});
