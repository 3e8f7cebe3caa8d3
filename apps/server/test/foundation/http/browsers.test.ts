import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadContract } from '../../../src/foundation/http/app.ts';
import { operationsOf } from '../../../src/foundation/http/contract.ts';
import { forValidator } from '../../../src/foundation/http/validator-contract.ts';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { exampleRequest } from '../../contract/example-request.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { startTestServer, type TestServer } from '../../server.ts';

const origin = 'https://app.example.com';
const logged: string[] = [];
let server: TestServer;
beforeAll(async () => {
  const { pino } = await import('pino');
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  server = await startTestServer({ log, config: { corsOrigins: [origin, 'http://localhost:5173'] } });
});
afterAll(() => server.stop());

const headersOf = ({ headers }: Response, prefix: string) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith(prefix)));

describe('scripts of other origins', () => {
  const preflight = (path: string, from: string, method = 'POST') =>
    fetch(path, { method: 'OPTIONS', headers: { Origin: from, 'Access-Control-Request-Method': method } });

  test('may send and read what the contract speaks of, where the origin is one of those that are named', async () => {
    const asked = await preflight(`${server.url}/v1/calls/campaigns`, origin);
    expect([asked.status, asked.headers.get('vary')]).toEqual([204, 'Origin']);
    expect(asked.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
    expect(headersOf(asked, 'access-control-')).toEqual({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': expect.stringContaining('X-API-Key'),
      'access-control-max-age': '600',
    });
    const answer = await fetch(`${server.url}/v1/calls`, { headers: { 'X-API-Key': server.apiKey, Origin: origin } });
    expect(answer.status).toBe(200);
    expect(headersOf(answer, 'access-control-')).toEqual({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': expect.stringContaining('X-Request-Id'),
    });
    const refused = await fetch(`${server.url}/v1/calls`, { headers: { Origin: 'http://localhost:5173' } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      401,
      'http://localhost:5173',
    ]);
  });

  test.each(['https://app.example.com.evil.example', 'https://app.example.com:8443', 'http://app.example.com', 'null'])(
    'may not where it is %s',
    async (from) => {
      for (const answer of [
        await preflight(`${server.url}/v1/calls/campaigns`, from),
        await fetch(`${server.url}/v1/calls`, { headers: { Origin: from } }),
      ]) {
        expect(headersOf(answer, 'access-control-')).toEqual({});
        expect(answer.headers.get('vary')).toBe('Origin');
      }
    },
  );

  test('may send every header that the contract names, and read every one', async () => {
    const document = loadContract() as unknown as { components: { headers: object } };
    const sent = (await preflight(`${server.url}/v1/calls`, origin)).headers.get('access-control-allow-headers')!;
    const read = (await fetch(`${server.url}/v1/calls`, { headers: { Origin: origin } })).headers
      .get('access-control-expose-headers')!
      .toLowerCase();
    expect(sent).toContain('X-Retry-Count');
    const parameters = operationsOf(forValidator(loadContract())).flatMap((operation) => operation.parameters);
    for (const { name, in: place } of parameters) if (place === 'header') expect(sent).toContain(name);
    const nameOf: Record<string, string> = { ShouldRetry: 'x-should-retry' };
    for (const name of Object.keys(document.components.headers)) {
      const header =
        nameOf[name] ?? name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').replace(/^Request-Id$/, 'X-Request-Id');
      // No script reads a cookie.
      if (name === 'SetCookie') continue;
      expect(read.split(', ')).toContain(header.toLowerCase().replace('rate-limit', 'ratelimit'));
    }
  });

  test('may upload files to the URLs that they are given', async () => {
    const body = { name: 'People', fileName: 'people.csv' };
    const { data } = await server.client.POST('/v1/calls/contact-lists', { body });
    const asked = await preflight(data!.uploadUrl, origin, 'PUT');
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
    const headers = { ...data!.uploadHeaders, Origin: origin };
    const stored = await fetch(data!.uploadUrl, { method: 'PUT', headers, body: 'phone\n+14155550101\n' });
    expect([stored.status, stored.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
  });
});

describe('a stream token', () => {
  const events = (id: string) => `/v1/calls/campaigns/${id}/events`;
  const make = async (path: string, client = server.client) => {
    const { data, error } = await client.POST('/v1/stream-tokens', { body: { path } });
    if (!data) throw new Error(error.error);
    return data.data;
  };
  const open = (path: string, token: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}${path}?streamToken=${encodeURIComponent(token)}`, { headers });
  const errorOf = async (response: Response) => (await response.json()) as { code: string; error: string };
  const codeOf = async (response: Response) => [response.status, (await errorOf(response)).code];

  async function campaign(): Promise<string> {
    const { database } = server;
    const { id } = await database.inEngine(({ db }) =>
      db.selectFrom('workspaces').select('id').executeTakeFirstOrThrow(),
    );
    const seeded = await seedCampaign(database, { workspaceId: id, contacts: 0, campaign: { status: 'paused' } });
    return toId('cmp', seeded.campaignId);
  }

  test('can be had for every event stream of the contract, and for nothing else', async () => {
    const document = forValidator(loadContract());
    const streams = operationsOf(document).filter((operation) => operation.streams);
    expect(streams.length).toBeGreaterThan(2);
    for (const operation of streams) await make(exampleRequest(document, operation)[1]);
    for (const path of [
      '/v1/calls',
      `${server.url}${events(toId('cmp', newUuid()))}`,
      `${events(toId('cmp', newUuid()))}?x=1`,
    ])
      await expect(make(path)).rejects.toThrow('body/path must be the path of an event stream, such as');
  });

  test('opens its stream without a key, for 15 minutes, as far as the key goes', async () => {
    const id = toId('cmp', newUuid());
    const before = server.clock.now().getTime();
    const { token, expiresAt } = await make(events(id));
    expect(Date.parse(expiresAt) - before).toBeGreaterThanOrEqual(15 * 60_000);
    expect(token).toMatch(/^[\w-]+$/);
    // There is no such campaign: that is known only to who was let in.
    expect(await codeOf(await open(events(id), token))).toEqual([404, 'not_found']);
    expect(await codeOf(await open(events(id), token, { 'Last-Event-ID': '3' }))).toEqual([404, 'not_found']);
    const poor = server.clientOf(await keyWith(server, { permissions: ['calls:read'] }));
    expect(await codeOf(await open(events(id), (await make(events(id), poor)).token))).toEqual([403, 'forbidden']);
    server.clock.advance(15 * 60_000);
    expect(await codeOf(await open(events(id), token))).toEqual([401, 'unauthorized']);
  });

  test('opens nothing else, and not with a sign changed', async () => {
    const id = toId('cmp', newUuid());
    const { token } = await make(events(id));
    const other = events(toId('cmp', newUuid()));
    expect(await codeOf(await open(other, token))).toEqual([401, 'unauthorized']);
    expect(await codeOf(await open(`/v1/calls/campaigns/${id}`, token))).toEqual([401, 'unauthorized']);
    const changed = token.slice(0, 60) + (token[60] === 'A' ? 'B' : 'A') + token.slice(61);
    for (const wrong of [changed, '', 'x', 'null']) {
      const answer = await open(events(id), wrong);
      expect(answer.status).toBe(401);
      expect((await errorOf(answer)).error).toContain('streamToken');
    }
    // A key in the header is what counts.
    expect(await codeOf(await open(events(id), token, { 'X-API-Key': 'tl_test_wrong' }))).toEqual([
      401,
      'unauthorized',
    ]);
  });

  test('is over when its key is, and so is the stream that it opened', async () => {
    const id = await campaign();
    const key = await keyWith(server, { permissions: ['campaigns:read'] });
    const { token } = await make(events(id), server.clientOf(key));
    const stream = await open(events(id), token);
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const reader = stream.body!.getReader();
    await reader.read();
    // The token's time is over, the stream goes on.
    server.clock.advance(16 * 60_000);
    const again = await make(events(id), server.clientOf(key));
    const { data } = await server.client.GET('/v1/api-keys');
    const mine = data!.data.items.find(({ prefix }) => key.startsWith(prefix) && prefix.length > 8)!;
    const path = { keyId: mine.id };
    await server.client.DELETE('/v1/api-keys/{keyId}', { params: { path } });
    for (;;) if ((await reader.read()).done) break;
    expect(await codeOf(await open(events(id), again.token))).toEqual([401, 'unauthorized']);
  });

  test('stands in no log', async () => {
    const { token } = await make(events(toId('cmp', newUuid())));
    await open(events(toId('cmp', newUuid())), token);
    await open('/v1/calls', token);
    expect(logged.filter((line) => line.includes(token.slice(0, 40)))).toEqual([]);
  });
});

test("a client's own request ID comes back beside ours", async () => {
  const idsOf = async (headers: Record<string, string>) => {
    const answer = await fetch(`${server.url}/v1/calls`, { headers });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
    return answer.headers.get('x-client-request-id');
  };
  expect(await idsOf({})).toBeNull();
  expect(await idsOf({ 'X-Request-Id': 'crm/7781' })).toBe('crm/7781');
  expect(await idsOf({ 'X-Client-Request-Id': 'a', 'X-Request-Id': 'b' })).toBe('a');
  for (const wrong of ['x'.repeat(129), 'two words', 'ümlaut'])
    expect(await idsOf({ 'X-Request-Id': wrong })).toBeNull();
});
