import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasChromium, startBrowser } from '../../../../../openapi/test/browser.ts';
import { startTestServer, type TestServer } from '../../server.ts';

const sources = path.join(import.meta.dirname, '../../../../../packages/client');

let server: TestServer;
let browser: Awaited<ReturnType<typeof startBrowser>> | undefined;
let told: (what: string) => void;
/** What the page told at its end. */
const said = new Promise<string>((resolve) => {
  told = resolve;
});
/** An origin of its own: the page, the client as it is written but for its types, and what it stands on. */
const pages = createServer(async (request, response) => {
  const { url = '/', method } = request;
  if (method === 'POST') told(await text(request));
  const file = path.join(sources, url === '/openapi-fetch.js' ? 'node_modules/openapi-fetch/dist/index.mjs' : url);
  response.setHeader('Content-Type', url === '/' ? 'text/html' : 'text/javascript');
  if (url === '/') return response.end(html());
  if (!existsSync(file)) return response.writeHead(404).end();
  const code = readFileSync(file, 'utf8');
  response.end(file.endsWith('.ts') ? stripTypeScriptTypes(code) : code);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  server = await startTestServer({ config: { corsOrigins: [origin], simulatorSpeed: 100 } });
});
afterAll(async () => {
  await browser?.stop();
  pages.closeAllConnections();
  pages.close();
  await server.stop();
});

const html = () => `<!doctype html><meta charset="utf-8">
<script type="importmap">{ "imports": { "openapi-fetch": "/openapi-fetch.js" } }</script>
<script type="module">
  import { createClient, NotFoundError } from '/src/index.ts';
  const baseUrl = ${JSON.stringify(server.url)};
  const tell = (what) => fetch('/', { method: 'POST', body: JSON.stringify(what) });
  try {
    const client = createClient({ baseUrl, apiKey: ${JSON.stringify(server.apiKey)} });
    const provider = 'simulator';
    const { items } = await client.phoneNumbers.searchAvailable({ provider });
    const { phoneNumber } = await client.phoneNumbers.buy({ phoneNumber: items[0].phoneNumber, provider });
    const progress = [];
    const file = new File(['phone\\n+14155550100\\n12\\n'], 'people.csv');
    const onProgress = ({ status }) => progress.push(status);
    const { list, upload } = await client.contactLists.upload({ name: 'People', file, onProgress });
    await client.contactLists.confirm(list.id);
    const names = [];
    for await (const each of client.contactLists.list()) names.push(each.name);
    const lists = [{ id: list.id, role: 'contacts' }];
    const draft = { name: 'Hello', agentId: 'agent_hello', fromNumber: phoneNumber, lists };
    const { id } = await client.campaigns.create(draft);
    const path = '/v1/calls/campaigns/' + id + '/events';
    const { token } = await client.apiKeys.createStreamToken({ path });
    const events = new EventSource(baseUrl + path + '?streamToken=' + token);
    const ended = new Promise((resolve) => events.addEventListener('campaign.completed', resolve));
    await client.campaigns.start(id);
    const { data } = await ended;
    events.close();
    const followed = [];
    for await (const { data } of client.campaigns.streamEvents(id)) followed.push(data.campaign.status);
    const { response } = await client.campaigns.get(id).withResponse();
    const missing = await client.calls.get('room_' + '0'.repeat(32)).catch((error) => error);
    await tell({
      progress,
      counted: upload.metadata,
      names,
      ended: JSON.parse(data).data.campaign.status,
      followed: followed.at(-1),
      header: response.headers.get('X-Request-Id') !== null,
      missing: missing instanceof NotFoundError,
    });
  } catch (error) {
    await tell({ error: error.stack });
  }
</script>`;

test.skipIf(!hasChromium)(
  'a page in a real browser lists, uploads, and follows a campaign by a stream token (needs chromium)',
  async () => {
    const { port } = pages.address() as AddressInfo;
    browser = await startBrowser();
    await (await browser.page()).open(`http://127.0.0.1:${port}/`);
    const page = JSON.parse(await said);
    expect(page).toMatchObject({
      counted: { totalRows: 2, validRows: 1, invalidRows: 1 },
      names: ['People'],
      ...{ ended: 'completed', followed: 'completed', header: true, missing: true },
    });
    expect([page.progress[0], page.progress.at(-1)]).toEqual(['pending', 'validated']);
  },
);
