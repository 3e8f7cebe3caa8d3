import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Connection } from '../../../src/foundation/database/connection.ts';
import {
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
  startIfKilled,
  stopEmbeddedPostgres,
} from '../../../src/foundation/database/postgres/embedded.ts';
import { findPlace } from '../../../src/foundation/database/postgres/place.ts';
import { statementOn } from '../../foundation/database/statement-on.ts';
import { startServerProcess } from '../../server-process.ts';

const log = pino({ level: 'silent' });
const asRoot = process.getuid?.() === 0;
/** A folder that only this user enters, as a private home. */
let home: string;
let children: ChildProcess[] = [];
let dataDirs: string[] = [];

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'trunkline-embedded-'));
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const dataDir of dataDirs) await removeEmbeddedPostgres(dataDir);
  await rm(home, { recursive: true, maxRetries: 10 });
  children = [];
  dataDirs = [];
});

function inHome(...names: string[]): string {
  const dataDir = path.join(home, ...names);
  dataDirs.push(dataDir);
  return dataDir;
}

/** A process that has started or found the PostgreSQL of `dataDir`, and the connection that it got. */
async function startedElsewhere(dataDir: string, options: { uid?: number; gid?: number; through?: string[] } = {}) {
  const { through = [], ...account } = options;
  const script = path.join(import.meta.dirname, 'start-embedded.ts');
  const [program = '', ...args] = [...through, process.execPath, '--conditions=source', script, dataDir];
  const child = spawn(program, args, { ...account, cwd: '/' });
  children.push(child);
  let faults = '';
  child.stderr.on('data', (part) => {
    faults += part;
  });
  const [connectionString] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error(faults))),
  ]);
  return { child, connection: { connectionString: String(connectionString) } };
}

test('two processes start at once on one new folder and share one server', async () => {
  const dataDir = inHome('data');
  const both = await Promise.all([startedElsewhere(dataDir), startedElsewhere(dataDir)]);
  const [first, second] = both.map(({ connection }) => connection);
  expect(first).toEqual(second);
  await statementOn(first!, 'create table seen (n integer)');
  expect((await statementOn(second!, 'select * from seen')).rows).toEqual([]);

  const roles = 'select rolsuper, rolbypassrls, rolcreatedb from pg_roles where rolname = current_user';
  expect((await statementOn(first!, roles)).rows).toEqual([
    { rolsuper: false, rolbypassrls: false, rolcreatedb: false },
  ]);
  expect((await statementOn(first!, 'show listen_addresses')).rows).toEqual([{ listen_addresses: '' }]);
});

test('it outlives a killed parent, is found again, and ends when told', async () => {
  const dataDir = inHome('data');
  const { child, connection } = await startedElsewhere(dataDir);
  const started = 'select pg_postmaster_start_time() as at';
  const before = await statementOn(connection, started);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const found = await startEmbeddedPostgres({ dataDir, log });
  expect((await statementOn(found.connection, started)).rows).toEqual(before.rows);
  await found.stop();
  await expect(statementOn(connection, 'select 1')).rejects.toThrow();
  await stopEmbeddedPostgres(dataDir);
});

/** The process ID of the server that a connection is to. */
async function postmasterOf({ connectionString }: Connection): Promise<number> {
  const sockets = decodeURIComponent(new URL(connectionString).hostname);
  return Number.parseInt(await readFile(path.join(sockets, '.s.PGSQL.5432.lock'), 'utf8'), 10);
}

test('one that runs and does not answer is waited for, with an end', async () => {
  const dataDir = inHome('data');
  const { connection } = await startEmbeddedPostgres({ dataDir, log });
  const pid = await postmasterOf(connection);
  process.kill(pid, 'SIGSTOP');
  const starting = startEmbeddedPostgres({ dataDir, log, startMs: 100 });
  await expect(starting).rejects.toThrow(/has not started within 0.1 s; .*postgres.log says how far/);
  process.kill(pid, 'SIGCONT');
  await startEmbeddedPostgres({ dataDir, log });
});

test('what was written is there after the server was killed', async () => {
  const dataDir = inHome('data');
  const { connection } = await startEmbeddedPostgres({ dataDir, log });
  await statementOn(connection, 'create table kept as select 7 as n');
  const asleep = statementOn(connection, 'select pg_sleep(30)').catch(() => 'cut off');
  process.kill(await postmasterOf(connection), 'SIGKILL');
  const again = await startEmbeddedPostgres({ dataDir, log });
  expect((await statementOn(again.connection, 'select n from kept')).rows).toEqual([{ n: 7 }]);
  expect(await asleep).toBe('cut off');
});

test('a server starts it again if it was killed, and goes on; not if it was told to end', async () => {
  const dataDir = inHome('data');
  const server = await startServerProcess({ DATA_DIR: dataDir });
  const isReady = async () => (await fetch(`${server.url}/readyz`)).ok;
  const { connection } = await startEmbeddedPostgres({ dataDir, log });
  const first = await postmasterOf(connection);
  process.kill(first, 'SIGKILL');
  await expect.poll(() => postmasterOf(connection)).not.toBe(first);
  await expect.poll(isReady).toBe(true);
  expect(server.log()).toContain('the embedded PostgreSQL was killed, and is started again');
  await server.stop();
  await stopEmbeddedPostgres(dataDir);
  await startIfKilled(await findPlace(dataDir), log);
  await expect(statementOn(connection, 'select 1')).rejects.toThrow();
});

test('a path too long for a socket works', async () => {
  const { connection } = await startEmbeddedPostgres({ dataDir: inHome('x'.repeat(100), 'y'.repeat(100)), log });
  expect((await statementOn(connection, 'select 1 as n')).rows).toEqual([{ n: 1 }]);
});

test.runIf(asRoot)('root keeps the data in the folder where others may pass through it', async () => {
  await chmod(home, 0o711);
  const dataDir = inHome('data');
  await startEmbeddedPostgres({ dataDir, log });
  expect(await readdir(dataDir)).toEqual(['postgres']);
  const { uid, mode } = await stat(path.join(dataDir, 'postgres'));
  expect(uid).not.toBe(0);
  expect(mode & 0o777).toBe(0o700);
});

test.runIf(asRoot)('it runs for a user who is not root', async () => {
  await chmod(home, 0o711);
  const dataDir = inHome('data');
  await mkdir(dataDir, { mode: 0o700 });
  await chown(dataDir, 65534, 65534);
  const { connection } = await startedElsewhere(dataDir, { uid: 65534, gid: 65534 });
  expect((await statementOn(connection, 'select 1 as n')).rows).toEqual([{ n: 1 }]);
});

const rootAlone = ['unshare', '--user', '--map-root-user', '--'];
const mayUnshare = asRoot && spawnSync('unshare', [...rootAlone.slice(1), 'unshare', '--user', 'true']).status === 0;

test.runIf(mayUnshare)('it runs for a root that can become nobody else, as in some containers', async () => {
  const dataDir = inHome('data');
  const { connection } = await startedElsewhere(dataDir, { through: rootAlone });
  expect((await statementOn(connection, 'select 1 as n')).rows).toEqual([{ n: 1 }]);
  expect((await stat(path.join(dataDir, 'postgres'))).uid).toBe(0);
});

test('the role of a folder that an earlier version has made loses what it has no use for', async () => {
  const dataDir = inHome('earlier');
  const { connection } = await startedElsewhere(dataDir);
  const superuser = { connectionString: connection.connectionString.replace('//trunkline@', '//postgres@') };
  const createDb = 'select rolcreatedb from pg_roles where rolname = current_user';
  await statementOn(superuser, 'alter role trunkline createdb');
  expect((await statementOn(connection, createDb)).rows).toEqual([{ rolcreatedb: true }]);
  await Promise.all([startedElsewhere(dataDir), startedElsewhere(dataDir)]);
  expect((await statementOn(connection, createDb)).rows).toEqual([{ rolcreatedb: false }]);
});
