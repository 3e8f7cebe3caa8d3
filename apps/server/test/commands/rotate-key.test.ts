import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { examine } from '../../src/commands/doctor/examine.ts';
import { lineOf } from '../../src/commands/doctor/finding.ts';
import { rotateKey, secretColumns } from '../../src/commands/rotate-key.ts';
import { loadConfig } from '../../src/config.ts';
import type { Database } from '../../src/foundation/database/database.ts';
import { freshDatabase } from '../database.ts';
import { TwilioDouble, testAccount } from '../lines/telephony/twilio/double.ts';
import { program } from '../program.ts';
import { startTestServer } from '../server.ts';
import { until } from '../until.ts';

const main = await program('main');
const OPTED_OUT = '+14155550123';
const [before, after, other] = [randomBytes(32), randomBytes(32), randomBytes(32)] as const;

/** Servers on one database, whose keys are given. */
async function installation() {
  const fresh = await freshDatabase();
  onTestFinished(() => fresh.drop());
  const twilio = await new TwilioDouble().start();
  onTestFinished(() => twilio.stop());
  const apiKey = `tl_test_${'a'.repeat(32)}`;
  return {
    connectionString: fresh.connection.connectionString,
    start: (encryptionKey: typeof before, encryptionKeySecond?: typeof before) =>
      startTestServer({
        connectionString: fresh.connection.connectionString,
        apiKey,
        sendToProviders: twilio.send,
        config: { encryptionKey, encryptionKeySecond },
      }),
  };
}

type Server = Awaited<ReturnType<typeof startTestServer>>;

/** Rotates a secret, or answers the one that was made first. */
async function rotateOnce(client: Server['client']): Promise<string> {
  const params = { header: { 'Idempotency-Key': 'once' } };
  return (await client.POST('/v1/workspace/rotate-inbound-secret', { params })).data!.data.secret;
}

/** Makes a secret of each kind, and has a number erased that was opted out. */
async function fill({ client }: Server): Promise<void> {
  const trunk = { terminationUrl: 'sip.carrier.example', username: 'ada', password: 'a password' };
  expect((await client.POST('/v1/telephony/trunks', { body: trunk })).error).toBeUndefined();
  const connection = { type: 'stream' as const, url: 'wss://agents.example.com', headers: { 'X-Key': 'a key' } };
  expect((await client.POST('/v1/agents', { body: { name: 'Anna', connection } })).error).toBeUndefined();
  const model = { protocol: 'openai_realtime', url: connection.url, model: 'a-model', apiKey: 'a-key' } as const;
  const realtime = { name: 'Berta', connection: { type: 'realtime' as const, ...model }, instructions: 'Be brief.' };
  expect((await client.POST('/v1/agents', { body: realtime })).error).toBeUndefined();
  const webhook = await client.POST('/v1/webhooks', {
    body: { url: 'https://example.com/hook', eventTypes: ['call.*'] },
  });
  const params = { path: { webhookId: webhook.data!.data.id } };
  expect((await client.POST('/v1/webhooks/{webhookId}/rotate-secret', { params })).error).toBeUndefined();
  const provider = { params: { path: { provider: 'twilio' as const } }, body: testAccount };
  expect((await client.PUT('/v1/telephony/providers/{provider}', provider)).error).toBeUndefined();
  await rotateOnce(client);
  await client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: [OPTED_OUT] } });
  const erasureId = (await client.POST('/v1/erasures', { body: { phoneNumber: OPTED_OUT } })).data!.id;
  await until(async () => {
    const read = await client.GET('/v1/erasures/{erasureId}', { params: { path: { erasureId } } });
    return read.data!.status === 'completed';
  }, 20);
}

/** Whether the number that was erased is known as one that is not to be called: it is not added anew. */
const isOptedOut = async ({ client }: Server) =>
  (await client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: [OPTED_OUT] } })).data!.added === 0;

/** Every value of every table that looks like a secret, by its column. */
async function sealedColumns(database: Database): Promise<string[]> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ table_name: string; column_name: string }>`
      select table_name, column_name from information_schema.columns
      where table_schema = 'public' and data_type = 'text' order by 1, 2`.execute(db),
  );
  const found: string[] = [];
  for (const { table_name, column_name } of rows) {
    const { rows: sealed } = await database.inEngine(({ db }) =>
      sql`select from ${sql.table(table_name)} where ${sql.ref(column_name)} like 'v1.%' limit 1`.execute(db),
    );
    if (sealed.length > 0) found.push(`${table_name}.${column_name}`);
  }
  return found;
}

test('keys are changed without a secret or a no that is lost, while servers run; the old one opens nothing then', async () => {
  const { start } = await installation();
  const first = await start(before);
  await fill(first);
  const numberKey = first.database.numberKey;
  const rotated = await rotateOnce(first.client);
  const examined = async () => {
    const databaseUrl = first.connectionString;
    let lines = '';
    const keys = { encryptionKey: after, encryptionKeySecond: before };
    await examine({ ...loadConfig({}), port: 0, databaseUrl, ...keys }, (finding) => {
      lines += lineOf(finding);
    });
    return lines;
  };
  const columns = [...secretColumns.map(({ table, column }) => `${table}.${column}`), 'installation.number_key'];
  // Both agents have a secret.
  const sealed = columns.length + 1;
  expect(await sealedColumns(first.database)).toEqual(columns.sort());

  // In a row of servers, all know the new key before one of them writes by it.
  const second = await start(before, after);
  await first.stop();
  const third = await start(after, before);
  expect([await isOptedOut(second), await isOptedOut(third)]).toEqual([true, true]);
  await second.stop();
  expect(third.database.numberKey).toBe(numberKey);
  expect(await rotateKey(third.database, [after, before], true)).toMatchObject({ moved: sealed, current: 0 });
  expect(await examined()).toMatch(new RegExp(`^note  secrets   ${sealed} are under ENCRYPTION_KEY_SECOND`, 'm'));
  expect(await rotateKey(third.database, [after, before])).toMatchObject({ moved: sealed, current: 0 });
  expect(await rotateKey(third.database, [after, before])).toMatchObject({ moved: 0, current: sealed });
  expect(await examined()).toMatch(/^note {2}secrets {3}None is under ENCRYPTION_KEY_SECOND/m);
  await third.stop();

  const last = await start(after);
  expect(last.database.numberKey).toBe(numberKey);
  expect(await isOptedOut(last)).toBe(true);
  expect(await rotateOnce(last.client)).toBe(rotated);
  expect(await rotateKey(last.database, [after])).toEqual({
    ...{ moved: 0, current: sealed, unreadable: [], unreadableCount: 0 },
  });
  await last.stop();
  for (const wrong of [before, other]) await expect(start(wrong)).rejects.toThrow('ENCRYPTION_KEY is not the one');
});

test('the command says what it has moved, and what no key opens', async () => {
  const { connectionString, start } = await installation();
  const server = await start(before);
  await fill(server);
  await server.database.inEngine(({ db }) => sql`update webhooks set previous_secret = 'v1.AAAA'`.execute(db));
  await server.stop();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-rotate-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const run = (keys: Record<string, Buffer>) => {
    const named = Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, key.toString('base64')]));
    const env = {
      ...{ PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
      ...{ DATA_DIR: dataDir, DATABASE_URL: connectionString, LOG_LEVEL: 'error', ...named },
    };
    return promisify(execFile)(process.execPath, [...main, 'rotate-key'], { env })
      .then(({ stdout }) => stdout)
      .catch(({ stdout, stderr }: { stdout: string; stderr: string }) => `failed: ${stdout}${stderr}`);
  };
  const both = { ENCRYPTION_KEY: after, ENCRYPTION_KEY_SECOND: before };
  expect(await run(both)).toMatch(
    /^failed: Encrypted anew: 10\. Under ENCRYPTION_KEY already: 0\.\n1 can be opened by no key that is set:\n {2}webhooks\.previous_secret \S+\nSet the key/,
  );
  expect(await run({ ENCRYPTION_KEY: other, ENCRYPTION_KEY_SECOND: before })).toContain('is not the one under which');
});
