import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { systemClock } from '../../../src/foundation/values/clock.ts';
import { createKey } from '../../../src/platform/api-keys/first-key.ts';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { freshDatabase } from '../../database.ts';
import { startProvider } from '../../platform/sign-in/provider.ts';
import { testClient } from '../../server.ts';
import { type ServerProcess, startServerProcess } from '../../server-process.ts';

/** A name that would run, were it ever taken for more than a text. */
export const HOSTILE = '<img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>';

/** Starts a server in a process of its own, which can be killed and comes back at its address, and a browser. */
export async function openConsole() {
  const fresh = await freshDatabase();
  const provider = await startProvider();
  const [dataDir, apiKey] = [await mkdtemp(path.join(tmpdir(), 'trunkline-console-')), newKey('test')];
  const settings = {
    DATABASE_URL: fresh.connection.connectionString,
    DATA_DIR: dataDir,
    BOOTSTRAP_API_KEY: apiKey,
    SIMULATOR_SPEED: '60',
    SIMULATOR_SEED: '7',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'trunkline',
    OIDC_CLIENT_SECRET: 'a very secret',
    OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1',
  };
  let server: ServerProcess = await startServerProcess(settings);
  const { url } = server;
  const browser = await chromium.launch({
    executablePath: execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const client = testClient(url, apiKey);
  return {
    url,
    apiKey,
    client,
    connection: fresh.connection,
    browser,
    provider,
    /** A window; what it asks elsewhere and what goes wrong in it is told. */
    async open(options: Parameters<typeof browser.newContext>[0] = {}) {
      const context = await browser.newContext({ baseURL: url, ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const faults: string[] = [];
      page.on('request', (request) => {
        if (!request.url().startsWith(url)) faults.push(`It asks ${request.url()}`);
      });
      page.on('pageerror', (error) => faults.push(String(error)));
      page.on('console', (said) => {
        if (said.type() === 'error' && !/Failed to load resource/.test(said.text())) faults.push(said.text());
      });
      return { context, page, faults };
    },
    /** Signs a window in, without the page for it. */
    async signIn(context: BrowserContext, key = apiKey) {
      await context.request.post('/v1/sessions', { data: { apiKey: key }, headers: { Origin: url } });
    },
    /** What axe finds fault with, a line each, and whether the page is wider than its window. */
    async faultsOf(page: Page): Promise<string[]> {
      await page.evaluate(axe);
      return page.evaluate<string[]>(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) => {
        const { scrollWidth, clientWidth } = document.documentElement;
        return [
          ...violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join(' '))),
          ...(scrollWidth > clientWidth ? ['It needs ' + scrollWidth + ' pixels, of ' + clientWidth + '.'] : []),
        ];
      })`);
    },
    /** The client of a key of another workspace, which is made. */
    async clientElsewhere(workspace: string) {
      const database = openDatabase({ connection: fresh.connection, poolSize: 1, log: pino({ level: 'silent' }) });
      const request = { workspace, name: 'Other key', permissions: ['*'] };
      const key = await createKey(database, systemClock, request);
      await database.close();
      return testClient(url, key);
    },
    kill: () => server.kill(),
    async start() {
      server = await startServerProcess({ ...settings, PORT: new URL(url).port });
    },
    async stop() {
      await browser.close();
      await server.stop();
      provider.stop();
      await fresh.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export type OpenConsole = Awaited<ReturnType<typeof openConsole>>;

/** A draft that calls so many people from a simulated number, one of them with a hostile name. */
export async function draftOf({ client }: OpenConsole, name: string, people: number): Promise<string> {
  const provider = 'simulator';
  const { items } = await client.phoneNumbers.searchAvailable({ provider });
  const { phoneNumber } = await client.phoneNumbers.buy({ phoneNumber: items[0]!.phoneNumber, provider });
  const quoted = HOSTILE.replaceAll('"', '""');
  const rows = Array.from({ length: people }, (_, at) => `"${at ? `Ada ${at}` : quoted}",+1415200${1000 + at}`);
  const file = new Blob([`name,phone\n${rows.join('\n')}\n`]);
  const { list } = await client.contactLists.upload({ name: 'People', fileName: 'people.csv', file });
  await client.contactLists.confirm(list.id);
  const lists: [{ id: string; role: 'contacts' }] = [{ id: list.id, role: 'contacts' }];
  const campaign = { name, agentId: 'agent_hello', fromNumber: phoneNumber, lists, maxConcurrency: 4 };
  return (await client.campaigns.create(campaign)).id;
}
