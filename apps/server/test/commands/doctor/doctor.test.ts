import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examine } from '../../../src/commands/doctor/examine.ts';
import { lineOf } from '../../../src/commands/doctor/finding.ts';
import { type Config, loadConfig } from '../../../src/config.ts';
import { addresses } from '../../../src/config-values.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { blankDatabase, freshDatabase } from '../../database.ts';
import { statementOn } from '../../foundation/database/statement-on.ts';
import { mayMount, mount, unmount } from '../../foundation/objects/mount.ts';
import { startAgent } from '../../lines/media/agent.ts';
import { startCarrier } from '../../lines/telephony/carrier.ts';
import { program } from '../../program.ts';
import { seedTrunk } from '../../seed/trunk.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { startTestServer, type TestServer } from '../../server.ts';

const main = await program('main');
let server: TestServer;
let dataDir: string;
beforeAll(async () => {
  server = await startTestServer({ config: { outboundAllowedAddresses: addresses('127.0.0.1') } });
  dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-doctor-'));
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});

/** Runs the command with these variables. */
function doctor(environment: Record<string, string>): Promise<{ exit: number | null; lines: string[]; error: string }> {
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    DATA_DIR: dataDir,
    DATABASE_URL: server.connectionString,
    ...environment,
  };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...main, 'doctor'], { env }, (_, out, error) =>
      resolve({ exit: child.exitCode, lines: out.trim().split('\n'), error }),
    );
  });
}

/** What it finds with these settings, a line each. */
async function examined(config: Partial<Config>, machineTime?: () => number): Promise<string> {
  const given = { ...loadConfig({}), port: 0, host: '127.0.0.1', dataDir, databaseUrl: server.connectionString };
  let lines = '';
  const tell = (finding: Parameters<typeof lineOf>[0]) => {
    lines += lineOf(finding);
  };
  await examine({ ...given, ...config }, tell, machineTime);
  return lines;
}

/** A line that asks for this to be mended. */
const mends = (subject: string, text: string) => expect.stringMatching(new RegExp(`^mend  ${subject} +.*${text}`, 'm'));
const right = (subject: string, text: string) => expect.stringMatching(new RegExp(`^ok    ${subject} +.*${text}`, 'm'));

test('beside a server that runs it finds nothing to mend, a line a check, and changes nothing', async () => {
  const rows = () =>
    server.database.inEngine(async ({ db }) => {
      const { rows: found } = await sql<{ id: string }>`select id from servers`.execute(db);
      return found.length;
    });
  const before = { servers: await rows(), files: await readdir(dataDir) };
  const { exit, lines, error } = await doctor({ PORT: new URL(server.url).port, HOST: '127.0.0.1' });
  expect(error).toBe('');
  const subjects = lines.map((line) => line.split(/ +/).slice(0, 2).join(' '));
  expect(subjects).toEqual([
    ...['ok settings', 'ok folder', 'ok disk', 'ok server', 'note key', 'ok database', 'ok role', 'ok clock'],
    ...['ok tables', 'ok lease', 'note witness', 'note sip'],
  ]);
  expect(exit).toBe(0);
  expect({ servers: await rows(), files: await readdir(dataDir) }).toEqual(before);
});

test('a faulty setting is told as the server tells it, and the process ends with 1', async () => {
  const { exit, lines } = await doctor({ PORT: 'x1', LEASE_SECONDS: '0' });
  expect(lines).toEqual([
    'mend  settings  PORT must be a whole number from 0 to 65535.',
    'mend  settings  LEASE_SECONDS must be a number from 1 to 300.',
  ]);
  expect(exit).toBe(1);
});

test('a database that can not be used is told without its password, and all else is looked at', async () => {
  const url = new URL(server.connectionString);
  url.pathname = '/nowhere';
  url.password = 'hunter2';
  const found = await examined({ databaseUrl: url.href });
  expect(found).toEqual(mends('database', 'database "nowhere" does not exist. Start PostgreSQL there'));
  expect(found).toEqual(right('disk', 'GB free'));
  expect(found).not.toContain('hunter2');
});

test('no database, and an embedded one that is not there yet, are what the first start makes', async () => {
  const found = await examined({ databaseUrl: undefined });
  expect(found).toMatch(/^note {2}database +There is none in .* yet: the first start makes it/m);
  expect(await readdir(dataDir)).toEqual([]);
});

test('what is wrong with PostgreSQL itself is told', async () => {
  const fresh = await freshDatabase();
  try {
    const name = new URL(fresh.connection.connectionString).pathname.slice(1);
    await statementOn(fresh.connection, `alter database ${name} set synchronous_commit = off`);
    await statementOn(fresh.connection, "insert into schema_migrations values ('9999-later', '9.0.0', '9.0.0')");
    const found = await examined({ databaseUrl: fresh.connection.connectionString, poolSize: 900 });
    expect(found).toEqual(mends('database', 'set synchronous_commit to on'));
    expect(found).toEqual(mends('database', 'a server needs 912: raise max_connections, or lower POOL_SIZE'));
    expect(found).toEqual(
      mends('tables', "The database is of version 9.0.0, and .* can't work with it: install 9.0.0"),
    );
  } finally {
    await fresh.drop();
  }
});

test.skipIf(process.env['TEST_DATABASE_URL'])('a role that row-level security does not bind is told', async () => {
  const url = new URL(server.connectionString);
  url.username = 'postgres';
  expect(await examined({ databaseUrl: url.href })).toEqual(mends('role', 'postgres is a superuser or has BYPASSRLS'));
});

test('a database without tables is one that the next start fills', async () => {
  const blank = await blankDatabase();
  try {
    const found = await examined({ databaseUrl: blank.connection.connectionString });
    expect(found).toMatch(/^note {2}tables +There are none yet/m);
    expect(found).not.toMatch(/^mend/m);
  } finally {
    await blank.drop();
  }
});

test('a clock that is wrong is told', async () => {
  const found = await examined({}, () => Date.now() + 60_000);
  expect(found).toEqual(mends('clock', "The clock of this machine is 60 s ahead of the database's.*timedatectl"));
});

test('a database that looks restored is told, before a server holds it and after', async () => {
  const fresh = await freshDatabase();
  const witnessPath = path.join(await mkdtemp(path.join(tmpdir(), 'trunkline-witness-')), 'witness');
  const databaseUrl = fresh.connection.connectionString;
  try {
    const { rows } = await statementOn(fresh.connection, 'select id from installation');
    await writeFile(witnessPath, JSON.stringify({ id: rows[0].id, watermark: 7 }));
    const found = await examined({ databaseUrl, witnessPath });
    expect(found).toEqual(mends('witness', 'the database is older than its witness.*run confirm-restore'));
    await writeFile(witnessPath, 'half a fi');
    expect(await examined({ databaseUrl, witnessPath })).toEqual(mends('witness', 'It can not be read'));
    await statementOn(fresh.connection, "update installation set held_at = '2026-01-01', held_reason = 'it is old'");
    expect(await examined({ databaseUrl })).toEqual(mends('dialing', 'It is held: it is old.*run confirm-restore'));
  } finally {
    await fresh.drop();
    await rm(path.dirname(witnessPath), { recursive: true });
  }
});

test('a folder that can not be written, and a key that is none, are told', async () => {
  expect(await examined({ dataDir: '/dev/null/data' })).toEqual(mends('folder', 'ENOTDIR.*or set DATA_DIR'));
  await writeFile(path.join(dataDir, 'encryption.key'), 'short');
  expect(await examined({})).toEqual(mends('key', 'must hold 32 bytes in base64.*Restore the file'));
  await rm(path.join(dataDir, 'encryption.key'));
});

test.skipIf(!mayMount)('a disk without room is told', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-small-'));
  await mount(folder, '1m');
  try {
    expect(await examined({ dataDir: folder })).toEqual(mends('disk', 'Only 0.0 GB free on the disk of .*Make room'));
  } finally {
    await unmount(folder);
    await rm(folder, { recursive: true, force: true });
  }
});

test('a name without an address, a bucket and a directory that do not answer are told', async () => {
  const found = await examined({
    ...{ publicUrl: 'https://nowhere.invalid', s3Bucket: 'files', s3Endpoint: 'http://127.0.0.1:9' },
    ...{ s3AccessKeyId: 'a', s3SecretAccessKey: 'b', agentsUrl: 'http://127.0.0.1:9' },
  });
  expect(found).toEqual(mends('dns', 'nowhere.invalid of PUBLIC_URL has no address .*resolver'));
  expect(found).toEqual(mends('files', 'The bucket files can not be used.*S3_ENDPOINT'));
  expect(found).toEqual(mends('agents', 'The directory of AGENTS_URL can not be asked'));
  expect(await examined({ agentsFile: '/nowhere/agents.yaml' })).toEqual(mends('agents', 'AGENTS_FILE .*ENOENT'));
});

test('what else listens on the port is told, and a server that warns', async () => {
  let answer: [status: number, body: string] = [404, 'no'];
  const other = createServer((_request, response) => response.writeHead(answer[0]).end(answer[1]));
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const { port } = other.address() as AddressInfo;
  expect(await examined({ port })).toEqual(mends('server', `Something else listens on port ${port}`));
  answer = [200, "ok\nthe database's disk is full\n"];
  expect(await examined({ port })).toEqual(mends('server', "warns: the database's disk is full"));
  answer = [503, 'draining\n'];
  expect(await examined({ port })).toEqual(mends('server', 'takes no requests: draining'));
  other.close();
  await once(other, 'close');
  expect(await examined({ port })).toMatch(/^note {2}server +None runs on port/m);
});

test('SIP that can not be opened is told; each trunk is asked', async () => {
  expect(await examined({ sipHost: '192.0.2.1' })).toEqual(mends('sip', 'It can not be opened.*Set SIP_HOST'));
  const workspace = await seedWorkspace(server.database);
  const carrier = await startCarrier({});
  const trunk = (termination_url: string, more = {}) =>
    seedTrunk(server.database, workspace, { termination_url, ...more });
  await trunk(`127.0.0.1:${carrier.port}`);
  await trunk('127.0.0.1:9');
  await trunk('10.1.2.3');
  await trunk('nowhere.invalid');
  await trunk('locked.example.com', { username: 'a', password: 'v1.AAAA' });
  await trunk('braked.example.com', { status: 'paused', reason: 'forbidden' });
  await trunk('stopped.example.com', { status: 'paused', reason: 'requested' });
  const found = await examined({ sipHost: '127.0.0.1', sipAllowedAddresses: addresses('127.0.0.1') });
  expect(found).toEqual(right('trunk', `trk_\\w{32} .127.0.0.1:${carrier.port}. answers`));
  expect(found).toEqual(mends('trunk', 'trk_\\w{32} .127.0.0.1:9. does not answer. Look at its address'));
  expect(found).toEqual(
    mends('trunk', '10.1.2.3. has an address that is not allowed. Name it in SIP_ALLOWED_ADDRESSES'),
  );
  expect(found).toEqual(mends('trunk', 'nowhere.invalid. has a name without an address'));
  expect(found).toEqual(mends('trunk', 'locked.example.com. has a password that can not be decrypted'));
  expect(found).toEqual(mends('trunk', 'braked.example.com. was paused since calls failed .forbidden.'));
  expect(found).toMatch(/^note {2}trunk +trk_\w+ \(stopped.example.com\) was paused on request/m);

  const grant = (workspace_id: string, address: string) =>
    server.database.inEngine(({ db }) =>
      db.insertInto('trunk_grants').values({ workspace_id, address, created_at: new Date() }).execute(),
    );
  await trunk(`localhost:${carrier.port}`);
  await grant(workspace, 'localhost');
  await grant(await seedWorkspace(server.database), '127.0.0.1');
  await server.database.inEngine(({ db }) => sql`update installation set trunks_granted_since = now()`.execute(db));
  const again = await examined({ sipHost: '127.0.0.1', sipAllowedAddresses: addresses('127.0.0.1') });
  expect(again).toEqual(mends('trunk', 'localhost:\\d+. has an address that is not granted to its workspace'));
  await carrier.stop();
});

test('each agent that the server keeps is connected to as by a call', async () => {
  const media = JSON.stringify({ event: 'media', media: { payload: Buffer.alloc(160).toString('base64') } });
  const agent = await startAgent((socket) => socket.send(media));
  const make = async (name: string, url: string) => {
    const body = { name, connection: { type: 'stream' as const, url, connectTimeoutSeconds: 1 } };
    return (await server.client.POST('/v1/agents', { body })).data!.data.agent.id;
  };
  const speaks = await make('Speaks', agent.url);
  const gone = await make('Gone', 'ws://127.0.0.1:9/');
  const sealed = await make('Sealed', agent.url);
  await server.database.inEngine(({ db }) =>
    db.updateTable('agents').set({ secret: 'v1.AAAA' }).where('id', '=', fromId(sealed)).execute(),
  );
  const found = await examined({ dataDir: server.dataDir, outboundAllowedAddresses: addresses('127.0.0.1') });
  expect(found).toEqual(right('agent', `${speaks} .Speaks.: The agent took the connection and began to speak`));
  expect(found).toEqual(mends('agent', `${gone} .Gone.: No WebSocket to the agent came about .ECONNREFUSED.`));
  expect(found).toEqual(mends('agent', `${sealed} .Sealed.: its secret can not be decrypted`));
  await agent.stop();
});

test('a collector that takes no traces is noted, with what it answers', async () => {
  let status = 200;
  const collector = createServer((_, response) => void response.writeHead(status).end());
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const otlpEndpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  expect(await examined({ otlpEndpoint })).toEqual(right('traces', 'takes traces'));
  status = 401;
  expect(await examined({ otlpEndpoint })).toMatch(/^note {2}traces +.* it answers 401; look at OTEL_/m);
  collector.close();
  expect(await examined({ otlpEndpoint })).toMatch(/^note {2}traces +.*ECONNREFUSED/m);
});
