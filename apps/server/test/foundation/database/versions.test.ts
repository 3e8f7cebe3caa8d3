import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@trunkline/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { blankDatabase } from '../../database.ts';
import { laterVersion, type OtherRelease, otherRelease, ownVersion } from '../../other-release.ts';
import { type ServerProcess, startServerProcess } from '../../server-process.ts';
import { statementOn } from './statement-on.ts';

const apiKey = newKey('test');
let blank: Awaited<ReturnType<typeof blankDatabase>>;
let dataDir: string;
let servers: ServerProcess[];
let releases: OtherRelease[];

beforeEach(async () => {
  blank = await blankDatabase();
  dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-versions-'));
  servers = [];
  releases = [];
});

afterEach(async () => {
  for (const server of servers) await server.kill();
  for (const release of releases) await release.remove();
  await blank.drop();
  await rm(dataDir, { recursive: true });
});

async function start(release?: OtherRelease): Promise<ServerProcess> {
  const settings = { DATABASE_URL: blank.connection.connectionString, DATA_DIR: dataDir, BOOTSTRAP_API_KEY: apiKey };
  const server = await startServerProcess({ ...settings, LOG_LEVEL: 'error' }, release?.main);
  servers.push(server);
  return server;
}

async function release(...args: Parameters<typeof otherRelease>): Promise<OtherRelease> {
  const made = await otherRelease(...args);
  releases.push(made);
  return made;
}

const said = (starting: Promise<unknown>) =>
  starting.then(
    () => 'ready',
    (error: Error) => error.message,
  );
const next = laterVersion(1);
const adds = {
  '9001-adds': {
    release: next,
    oldestServer: ownVersion,
    sql: `alter table contact_lists add column shelf text not null default 'top', add column owner text`,
  },
};

test('a server starts on the tables of the next release if these have only gained, and both work', async () => {
  const newer = await start(await release(next, adds));
  const older = await start();
  for (const { url } of [older, newer]) {
    const client = createClient({ baseUrl: url, apiKey, maxRetries: 0 });
    const { response } = await client.POST('/v1/calls/contact-lists', { body: { name: url, fileName: 'people.csv' } });
    expect(response.status).toBe(201);
    const lists = await client.GET('/v1/calls/contact-lists');
    expect(lists.data!.items.length).toBeGreaterThan(0);
  }
  const { rows } = await statementOn(blank.connection, 'select version from servers order by version');
  expect(rows).toEqual([{ version: ownVersion }, { version: next }]);
});

test('a release that removes what a running server needs waits until that has ended, which then ends with one line that names both versions and the way', async () => {
  const removes = { release: next, oldestServer: next, sql: 'alter table contact_lists drop column name' };
  const newer = await release(next, { '9001-removes': removes });
  const older = await start();
  expect(await said(start(newer))).toBe(
    `Servers of ${ownVersion} run on this database, and ${next} would change its tables under them. Stop them all first.\n`,
  );
  expect((await fetch(`${older.url}/readyz`)).status).toBe(200);
  await older.stop();
  expect(await said(start(newer))).toBe('ready');
  expect(await said(start())).toBe(
    `The database is of version ${next}, and this server of version ${ownVersion} can't work with it: ` +
      `install ${next}, or restore the backup from before the upgrade.\n`,
  );
});
