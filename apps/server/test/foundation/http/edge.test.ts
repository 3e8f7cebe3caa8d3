import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { RequestContext } from '../../../src/foundation/http/handler.ts';
import { OUTSIDE_PATHS } from '../../../src/foundation/http/outside.ts';
import { createRateLimit } from '../../../src/foundation/http/rate-limit.ts';
import { notFound, ServiceError } from '../../../src/foundation/values/service-error.ts';
import { KEY, startEdge } from './edge-app.ts';

const page = { items: [], page: 1, perPage: 20, totalCount: 0, column: 'created_at', order: 'desc' };
const added = { added: 1, alreadyListed: 0, rejected: [] };
const list = '/v1/calls/do-not-call';
const workflow = '/v1/workflows/wf_01932f3c8a7e7bd0a1b2c3d4e5f60718/run';

const listDoNotCall = vi.fn(async (_input: { query: object }) => ({ status: 200, body: page }));
const addDoNotCall = vi.fn(async (_input: { body: object }) => ({ status: 200, body: added }));
const removeDoNotCall = vi.fn(async (): Promise<never> => {
  throw notFound();
});
const startWorkflowRun = vi.fn(async (): Promise<never> => {
  throw notFound();
});
let edge: Awaited<ReturnType<typeof startEdge>>;

beforeAll(async () => {
  edge = await startEdge({ handlers: { listDoNotCall, addDoNotCall, removeDoNotCall, startWorkflowRun } });
});
afterAll(() => edge.stop());

describe('which operation', () => {
  test('an unknown path is 404 before any key is looked at', async () => {
    for (const path of ['/v1/nothing', '/v1/', '/nothing', `${list}/`]) {
      const { status, body } = await edge.send('GET', path, { headers: { 'X-API-Key': 'wrong' } });
      expect([status, body]).toMatchObject([404, { code: 'not_found', error: 'There is nothing at this path.' }]);
    }
  });

  test('another method is 405 with what is allowed, before any key is looked at', async () => {
    const answer = await edge.send('PUT', list, { headers: { 'X-API-Key': 'wrong' } });
    expect(answer.status).toBe(405);
    expect(answer.body.code).toBe('method_not_allowed');
    expect(answer.headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS');
  });

  test('OPTIONS says what is allowed, without a key', async () => {
    const answer = await edge.send('OPTIONS', list, { headers: { 'X-API-Key': '' } });
    expect([answer.status, answer.headers.get('allow'), answer.text]).toEqual([204, 'GET, POST, HEAD, OPTIONS', '']);
  });

  test('HEAD is GET without its body', async () => {
    const { headers, status, text } = await edge.send('HEAD', list);
    expect([status, text, headers.get('content-length')]).toEqual([200, '', String(JSON.stringify(page).length)]);
  });

  test('a fixed segment wins over a parameter', async () => {
    expect((await edge.send('GET', '/v1/calls/room_1')).body.details[0].path).toBe('/path/roomId');
    const seen = await startEdge({ handlers: {}, onAnswer: (id) => void ids.push(id), validateResponses: 'all' });
    const ids: string[] = [];
    for (const path of ['campaigns', 'batch', 'contact-lists', 'do-not-call', 'room_1'])
      await seen.send('GET', `/v1/calls/${path}`);
    await seen.send('POST', '/v1/calls/room_1/end');
    await seen.send('POST', '/v1/workflows/x/runs/wake', { body: {} });
    await seen.stop();
    expect(ids).toEqual([
      'listCampaigns',
      'listBatches',
      'listContactLists',
      'listDoNotCall',
      'getCall',
      'endCall',
      'wakeWorkflowRuns',
    ]);
  });

  test('the validator searches no path of its own', async () => {
    const fromHere = createRequire(import.meta.url);
    const fromValidator = createRequire(fromHere.resolve('express-openapi-validator'));
    const search = vi.spyOn(fromValidator('path-to-regexp'), 'pathToRegexp');
    expect((await edge.send('GET', list)).status).toBe(200);
    expect(search).not.toHaveBeenCalled();
    search.mockRestore();
  });

  test('a path that is not encoded as URLs are is 400', async () => {
    expect((await edge.send('DELETE', `${list}/%E0%A4%A`)).body.code).toBe('invalid_request');
  });
});

describe('who asks', () => {
  test('no key, or one that is not known, is 401', async () => {
    for (const key of ['', 'tl_test_11111111111111111111', `${KEY}x`]) {
      const { status, body } = await edge.send('GET', list, { headers: { 'X-API-Key': key } });
      expect([status, body.code]).toEqual([401, 'unauthorized']);
    }
  });

  test('a key without the permission that the contract names is 403, before its body is looked at', async () => {
    const other = await startEdge({ handlers: { listDoNotCall, addDoNotCall }, permissions: ['do_not_call:read'] });
    expect((await other.send('GET', list)).status).toBe(200);
    const { status, body } = await other.send('POST', list, { body: '{' });
    expect([status, body]).toMatchObject([
      403,
      { code: 'forbidden', error: 'This key lacks the permission do_not_call:write.' },
    ]);
    await other.stop();
  });

  test('who waits for a turn may what they may when it comes', async () => {
    let asked = 0;
    const waits = await startEdge({
      rateLimit: () => 1,
      authenticate: () => {
        asked += 1;
        return { keyId: 'k', hash: 'h', workspaceId: 'w', permissions: asked === 1 ? ['*'] : ['calls:read'] };
      },
    });
    expect((await waits.send('GET', '/v1/webhooks')).status).toBe(403);
    await waits.stop();
  });

  test('a key has its quota, told in headers; above it 429 says when to come back', async () => {
    const other = await startEdge({
      handlers: { listDoNotCall },
      rateLimit: createRateLimit({ key: 2, workspace: 0 }),
    });
    const startedAt = performance.now();
    const first = await other.send('GET', list);
    expect(first.headers.get('ratelimit')).toBe('"default";r=1;t=30');
    expect(first.headers.get('ratelimit-policy')).toBe('"default";q=2;w=60');
    await other.send('GET', list);
    const third = await other.send('GET', list);
    const passed = Math.ceil((performance.now() - startedAt) / 1000);
    expect([third.status, third.body.code]).toEqual([429, 'rate_limited']);
    const [, full] = third.headers.get('ratelimit')!.match(/^"default";r=0;t=(\d+)$/)!;
    const wait = Number(third.headers.get('retry-after'));
    for (const [seconds, most] of [
      [wait, 30],
      [Number(full), 60],
    ] as const) {
      expect(seconds).toBeLessThanOrEqual(most);
      expect(seconds).toBeGreaterThan(most - 1 - passed);
    }
    await other.stop();
  });
});

describe('what is asked', () => {
  test('every fault of a parameter is named, numbers and defaults are filled in', async () => {
    const { status, body } = await edge.send('GET', `${list}?perPage=1000&page=0`);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'invalid_request',
      error: 'query/page must be >= 1; query/perPage must be <= 100',
      details: [
        { path: '/query/page', message: 'must be >= 1' },
        { path: '/query/perPage', message: 'must be <= 100' },
      ],
    });
    expect((await edge.send('GET', `${list}?color=red`)).body.details).toEqual([
      { path: '/query/color', message: 'is not a known parameter' },
    ]);
    await edge.send('GET', `${list}?perPage=7`);
    expect(listDoNotCall.mock.lastCall?.[0].query).toEqual({
      page: 1,
      perPage: 7,
      column: 'created_at',
      order: 'desc',
      includeTotal: false,
      searchText: '',
    });
  });

  test.each([
    '?page=0x10',
    '?page=1e1',
    '?page=%207',
    '?page=1.0',
    '?page=1&page=2',
    '?page=&page=1',
    '?nothing=1',
    '?page[a]=1',
  ])('a query of %s is 400', async (query) => {
    const { status, body } = await edge.send('GET', list + query);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.details[0].path).toMatch(/^\/query\/(page|nothing)$/);
  });

  test('characters that a query need not encode are taken as they are', async () => {
    expect((await edge.send('GET', `${list}?searchText=a:b/c,d@e`)).status).toBe(200);
    expect(listDoNotCall.mock.lastCall?.[0].query).toMatchObject({ searchText: 'a:b/c,d@e' });
  });

  test('what browsers and advertisements add is not looked at, and what was left empty is as if it were not there', async () => {
    const added = '?_=1763802000&cb=9&utm_source=mail&utm_campaign=a&utm_campaign=b&gclid=x&fbclid=y&page=&searchText=';
    expect((await edge.send('GET', list + added)).status).toBe(200);
    const asked = { page: 1, perPage: 20, column: 'created_at', order: 'desc', includeTotal: false, searchText: '' };
    expect(listDoNotCall.mock.lastCall?.[0].query).toEqual(asked);
    for (const name of ['__', 'cbx', 'utm', 'utmsource', 'xgclid', 'perPage', 'cursor']) {
      const { status, body } = await edge.send('GET', `${list}?${name}=`);
      expect([name, status, body.details[0].path]).toEqual([name, 400, `/query/${name}`]);
    }
  });

  test('a filter takes one value or several, and says which of them is none', async () => {
    const asked = async (query: string) => (await edge.send('GET', `/v1/calls/campaigns?${query}`)).body;
    const [running, none] = ['status=running', 'status=walking'];
    const message = expect.stringContaining('must be equal to one of the allowed values');
    expect((await asked(none)).details).toEqual([{ path: '/query/status', message }]);
    expect((await asked(`${running}&${none}`)).details).toEqual([{ path: '/query/status/1', message }]);
    expect((await asked(Array(11).fill(running).join('&'))).details).toMatchObject([{ path: '/query/status' }]);
    for (const query of [running, `${running}&status=paused`]) expect((await asked(query)).code).toBe('internal_error');
  });

  test('an ID of another kind is 400', async () => {
    const { status, body } = await edge.send('GET', '/v1/calls/campaigns/pn_01932f3c8a7e7bd0a1b2c3d4e5f60718');
    expect([status, body.code, body.details[0].path]).toEqual([400, 'invalid_request', '/path/id']);
  });

  test('a marked fault has the code that the contract gives it, and only that fault', async () => {
    const missing = await edge.send('POST', workflow, { body: { nonsense: 1 } });
    expect(missing.body).toMatchObject({ code: 'missing_idempotency_key' });
    expect(missing.body.details).toContainEqual({ path: '/headers/Idempotency-Key', message: 'is required' });
    const tooLong = await edge.send('POST', workflow, { body: {}, headers: { 'Idempotency-Key': 'x'.repeat(256) } });
    expect(tooLong.body.code).toBe('invalid_request');
    const recipients = Array.from({ length: 1001 }, () => ({ phoneNumber: '+14155550100' }));
    const many = { agentId: 'a', fromNumber: '+14155550100', recipients };
    expect((await edge.send('POST', '/v1/calls/batch', { body: many })).body.code).toBe('too_many_recipients');
    const none = await edge.send('POST', '/v1/calls/batch', { body: { ...many, recipients: [] } });
    expect(none.body.code).toBe('invalid_request');
  });

  test.each(['0x10', '1e1', '+5', '10.0', 'ten', ''])('Cooldown-Minutes of %j is 400', async (minutes) => {
    const headers = { 'Idempotency-Key': 'a', 'Concurrency-Key': 'b', 'Cooldown-Minutes': minutes };
    const { status, body } = await edge.send('POST', workflow, { body: {}, headers });
    expect([status, body.code, body.details[0].path]).toEqual([400, 'invalid_request', '/headers/Cooldown-Minutes']);
  });

  test('a good Cooldown-Minutes arrives as a number, under its name in the contract', async () => {
    const headers = { 'Idempotency-Key': 'a', 'Concurrency-Key': 'b', 'Cooldown-Minutes': '10' };
    expect((await edge.send('POST', workflow, { body: {}, headers })).status).toBe(404);
    expect(startWorkflowRun).toHaveBeenLastCalledWith(
      expect.objectContaining({ headers: { ...headers, 'Cooldown-Minutes': 10 } }),
      expect.anything(),
    );
  });
});

describe('bodies', () => {
  test('unknown properties are 400', async () => {
    const { status, body } = await edge.send('POST', list, { body: { phoneNumbers: ['+14155550100'], more: 1 } });
    expect([status, body.details]).toEqual([400, [{ path: '/body/more', message: 'is not a known property' }]]);
  });

  test.each([
    ['nothing', undefined, {}],
    ['nothing, of type JSON', undefined, { 'Content-Type': 'application/json' }],
    ['no bytes', '', {}],
    ['null', 'null', {}],
    ['a broken text', '{"phoneNumbers":', {}],
    ['a list', '[]', {}],
    ['a number', '1', {}],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), {}],
  ])('%s is 400', async (_name, body, headers) => {
    const answer = await edge.send('POST', list, { body, headers });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    expect(answer.text).not.toMatch(/position|token|undefined/i);
  });

  test('names of blanks, and with control characters, are none', async () => {
    for (const [path, name] of [
      ['/v1/calls/contact-lists', '  '],
      ['/v1/agents', '\u00a0'],
      ['/v1/knowledge-bases', '\t\u2003'],
      ['/v1/number-pools', 'a\u001b[2Jb'],
    ]) {
      const { status, body } = await edge.send('POST', path!, { body: { name, fileName: 'a.csv' } });
      expect(status).toBe(400);
      expect(body.details).toContainEqual({
        path: '/body/name',
        message: 'must be one line that is not blank, without control characters',
      });
    }
  });

  test('another content type is 415, one with parameters or capitals is the same', async () => {
    const body = JSON.stringify({ phoneNumbers: ['+14155550100'] });
    for (const type of ['text/plain', 'application/jsonx', 'application/x-www-form-urlencoded'])
      expect((await edge.send('POST', list, { body, headers: { 'Content-Type': type } })).body.code).toBe(
        'unsupported_media_type',
      );
    for (const type of ['Application/JSON; charset=utf-8', 'application/json;x=1'])
      expect((await edge.send('POST', list, { body, headers: { 'Content-Type': type } })).status).toBe(200);
    const packed = { body, headers: { 'Content-Encoding': 'gzip' } };
    expect((await edge.send('POST', list, packed)).body.code).toBe('unsupported_media_type');
  });

  test('more than 2 MiB is 413, told or found out; a batch may have 8', async () => {
    const large = JSON.stringify({ phoneNumbers: ['x'.repeat(2 * 1024 * 1024)] });
    const told = await edge.send('POST', list, { body: large });
    expect([told.status, told.body]).toMatchObject([
      413,
      { code: 'payload_too_large', error: 'The request body is larger than 2 MiB.' },
    ]);
    const response = await fetch(edge.url + list, {
      method: 'POST',
      headers: { 'X-API-Key': KEY, 'Content-Type': 'application/json' },
      body: new Blob([large]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(413);
    expect((await edge.send('POST', '/v1/calls/batch', { body: large })).status).toBe(400);
    const larger = JSON.stringify('x'.repeat(8 * 1024 * 1024));
    expect((await edge.send('POST', '/v1/calls/batch', { body: larger })).status).toBe(413);
  });

  const run = (body: string) => edge.send('POST', workflow, { body, headers: { 'Idempotency-Key': 'a' } });
  const nested = (depth: number) => `{"context":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;

  test.each(['__proto__', 'constructor', 'prototype'])('a key %s is 400 at any depth', async (key) => {
    for (const body of [`{"context":{"${key}":1}}`, `{"context":{"a":[{"b":{"${key}":{}}}]}}`]) {
      const answer = await run(body);
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
      expect(answer.body.error).toContain(key);
    }
  });

  test.each(['toString', 'valueOf'])('items that can not be compared, for a key %s, are 400', async (key) => {
    const lists = [{ id: 'list_01932f3c8a7e7bd0a1b2c3d4e5f60718', role: 'contacts' }, { [key]: 1 }];
    const answer = await edge.send('POST', '/v1/calls/campaigns', { body: { name: 'A', lists } });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
  });

  test('32 levels pass, 33 are 400', async () => {
    expect((await run(nested(31))).status).toBe(404);
    expect((await run(nested(32))).body.error).toBe('body must nest at most 32 levels deep');
    expect((await run('['.repeat(1_000_000))).status).toBe(400);
  });

  test.each(['{"context":{"a":"\\u0000"}}', '{"context":{"a\\u0000":1}}', '{"context":{"a":"\\ud800"}}'])(
    'text that can not be kept is 400: %s',
    async (body) => expect((await run(body)).body.code).toBe('invalid_request'),
  );

  test('text that can not be kept is 400 in a query and in a path, too', async () => {
    expect((await edge.send('GET', `${list}?searchText=%00`)).body.details[0].path).toBe('/query/searchText');
    expect((await edge.send('DELETE', `${list}/%00`)).body.details[0].path).toBe('/path/phoneNumber');
  });

  test('a body of very many values is refused before it is checked', async () => {
    const { body } = await edge.send('POST', list, { body: `[${'0,'.repeat(300_000)}0]` });
    expect(body.error).toBe('body must hold at most 262144 values');
  });

  test('a body that is wrong in very many places is refused as fast as one that is wrong in one', async () => {
    const zeros = (count: number) => `[${'0,'.repeat(count)}0]`;
    const batch = (key: string) => `{"agentId":"a","fromNumber":"+14155550100","${key}":${zeros(900_000)}}`;
    /** CPU time of this process, in which the server runs: the least of three, as what else the machine does adds to it. */
    const cost = async (path: string, body: string, code: string) => {
      const costs: number[] = [];
      for (let turn = 0; turn < 3; turn += 1) {
        const before = process.cpuUsage();
        const answer = await edge.send('POST', path, { body });
        const { user, system } = process.cpuUsage(before);
        expect([answer.status, answer.body.code]).toEqual([400, code]);
        costs.push(user + system);
      }
      return Math.min(...costs);
    };
    const [fault, many] = ['invalid_request', 'too_many_recipients'] as const;
    const ofNumbers = await cost(list, `{"reason":${zeros(260_000)}}`, fault);
    expect(await cost(list, `{"phoneNumbers":${zeros(260_000)}}`, fault)).toBeLessThan(5 * ofNumbers);
    const ofBatch = await cost('/v1/calls/batch', batch('name'), fault);
    expect(await cost('/v1/calls/batch', batch('recipients'), many)).toBeLessThan(5 * ofBatch);
  });

  test('a body that nobody asked for is left unread', async () => {
    expect(
      (await edge.send('DELETE', `${list}/+14155550100`, { body: '{', headers: { 'Content-Type': 'a/b' } })).status,
    ).toBe(404);
  });
});

describe('failures', () => {
  test('have an ID that the server makes, lead to what the docs say of their code, and tell nothing else', async () => {
    const answer = await edge.send('DELETE', `${list}/+14155550100`, { headers: { 'X-Request-Id': 'mine' } });
    const requestId = answer.headers.get('x-request-id');
    expect(requestId).toMatch(/^[0-9a-f]{32}$/);
    expect(answer.body).toEqual({
      code: 'not_found',
      error: 'There is no such resource in this workspace.',
      requestId,
      docUrl: '/docs/guides/errors#not_found',
    });
    const outside = await edge.send('GET', '/nowhere');
    expect(outside.body).toMatchObject({
      requestId: outside.headers.get('x-request-id'),
      docUrl: '/docs/guides/errors#not_found',
    });
  });

  test('an unexpected one is 500, says nothing of itself, and is logged with the ID', async () => {
    listDoNotCall.mockRejectedValueOnce(new Error('select secret from table'));
    const answer = await edge.send('GET', list);
    expect([answer.status, answer.body]).toMatchObject([
      500,
      { code: 'internal_error', error: 'The server could not carry out the request.' },
    ]);
    const entry = edge.logged.find((each) => each['requestId'] === answer.headers.get('x-request-id'));
    expect(entry).toMatchObject({ operation: 'listDoNotCall', err: { message: 'select secret from table' } });
  });

  test('409 says whether to try again, 503 when', async () => {
    const campaigns = '/v1/calls/campaigns/cmp_01932f3c8a7e7bd0a1b2c3d4e5f60718/start';
    const startCampaign = vi.fn();
    const other = await startEdge({ handlers: { startCampaign }, validateResponses: 'all' });
    for (const [code, retry] of [
      ['idempotency_in_progress', 'true'],
      ['campaign_not_startable', 'false'],
    ] as const) {
      startCampaign.mockRejectedValueOnce(new ServiceError(code, 'No.'));
      const answer = await other.send('POST', campaigns);
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([409, retry]);
    }
    startCampaign.mockRejectedValueOnce(new ServiceError('unavailable', 'No database.'));
    const answer = await other.send('POST', campaigns);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    await other.stop();
  });
});

test('where a request came from is known also when its client has gone', async () => {
  const leave = new AbortController();
  let heard = (_address: string) => {};
  const address = new Promise<string>((resolve) => {
    heard = resolve;
  });
  const handler = async (_input: unknown, context: RequestContext) => {
    context.signal.addEventListener('abort', () => heard(context.address));
    leave.abort();
    return new Promise(() => undefined);
  };
  const other = await startEdge({ handlers: { listDoNotCall: handler } });
  await fetch(other.url + list, { headers: { 'X-API-Key': KEY }, signal: leave.signal }).catch(() => undefined);
  expect(await address).toBe('127.0.0.1');
  await other.stop();
});

test('what lies outside the contract is one list, and answers without a key', async () => {
  const statuses: number[] = [];
  for (const path of OUTSIDE_PATHS)
    statuses.push((await edge.send('GET', path, { headers: { 'X-API-Key': '' } })).status);
  expect(Object.fromEntries(OUTSIDE_PATHS.map((path, index) => [path, statuses[index]]))).toEqual({
    '/': 302,
    '/docs': 200,
    '/docs/guides': 302,
    '/docs/guides/get-started': 200,
    '/llms.txt': 200,
    '/openapi.json': 200,
    '/openapi.yaml': 200,
    '/livez': 200,
    '/readyz': 200,
    '/metrics': 200,
  });
  const guide = await edge.send('GET', '/docs/guides/get-started');
  expect(guide.headers.get('content-security-policy')).toContain("connect-src 'self'");
  const loaded = [...guide.text.matchAll(/(?:src|href)="([\w.-]+\.\w+)"/g)].map(([, name]) => name!);
  expect(loaded).toEqual(['style.css', 'page.js', 'search.js']);
  for (const name of [...loaded, 'minisearch.js', 'search-options.js', 'search.json'])
    expect((await edge.send('GET', `/docs/guides/${name}`)).status).toBe(200);
  const docs = await edge.send('GET', '/docs');
  expect(docs.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(docs.text).toContain('</html>');
  expect((await edge.send('GET', '/metrics')).text).toContain(
    'trunkline_http_request_duration_seconds_count{operation="listDoNotCall",status="200"}',
  );
});

test('files are sent compressed to who takes that, and not again to who has them', async () => {
  for (const path of ['/docs', '/openapi.json', '/openapi.yaml']) {
    const plain = await edge.send('GET', path, { headers: { 'Accept-Encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    for (const encoding of ['gzip', 'br']) {
      const asked = { 'Accept-Encoding': `deflate, ${encoding};q=0.8` };
      const { headers, text } = await edge.send('GET', path, { headers: asked });
      expect(headers.get('content-encoding')).toBe(encoding);
      expect(Number(headers.get('content-length'))).toBeLessThan(plain.text.length / 4);
      expect(text === plain.text).toBe(true);
      // fetch would ask past every cache.
      const again = get(edge.url + path, { headers: { ...asked, 'If-None-Match': headers.get('etag')! } });
      const [answer] = (await once(again, 'response')) as [IncomingMessage];
      expect(answer.statusCode).toBe(304);
      answer.resume();
    }
  }
});

test('what nobody needs a key for is worked out once for many who ask', async () => {
  const counted = { ready: 0, metrics: 0 };
  const other = await startEdge({
    notReady: async () => {
      counted.ready += 1;
      await sleep(300);
      return undefined;
    },
  });
  const { registry } = other.metrics;
  const collect = registry.metrics.bind(registry);
  registry.metrics = async () => {
    counted.metrics += 1;
    await sleep(300);
    return collect();
  };
  const ask = (path: string) => Promise.all(Array.from({ length: 20 }, () => other.send('GET', path)));
  for (const path of ['/metrics', '/readyz'])
    expect(
      (await ask(path)).every(({ status }) => status === 200),
      path,
    ).toBe(true);
  // On a machine that stalls they may not all come at once.
  expect(counted.metrics).toBeLessThan(5);
  expect(counted.ready).toBeLessThan(10);
  await other.stop();
});

test('a collector that hangs does not hang the metrics for ever, nor is it begun again', async () => {
  const other = await startEdge();
  let begun = 0;
  other.metrics.registry.metrics = () => {
    begun += 1;
    return new Promise(() => {});
  };
  const answers = await Promise.all([other.send('GET', '/metrics'), other.send('GET', '/metrics')]);
  expect(answers.map(({ status }) => status)).toEqual([503, 503]);
  expect(begun).toBe(1);
  await other.stop();
});

test('why the metrics fail is logged when that changes, and that they no longer do', async () => {
  const other = await startEdge();
  const reasons = ['away', 'away', 'full', undefined, undefined];
  const statuses: number[] = [];
  for (const reason of reasons) {
    other.metrics.registry.metrics = async () => {
      if (reason !== undefined) throw new Error(reason);
      return 'fine 1';
    };
    statuses.push((await other.send('GET', '/metrics')).status);
  }
  expect(statuses).toEqual([503, 503, 503, 200, 200]);
  const told = other.logged.map(({ msg, err }) => [msg, (err as Error | undefined)?.message]);
  expect(told).toEqual([
    ['the metrics can not be read', 'away'],
    ['the metrics can not be read', 'full'],
    ['the metrics can be read again', undefined],
  ]);
  await other.stop();
});

test('readiness says why not', async () => {
  const other = await startEdge({ notReady: async () => 'draining' });
  expect(await other.send('GET', '/readyz')).toMatchObject({ status: 503, text: 'draining\n' });
  expect((await other.send('GET', '/livez')).status).toBe(200);
  await other.stop();
});
