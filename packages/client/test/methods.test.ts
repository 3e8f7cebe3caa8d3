import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import {
  ConflictError,
  ConnectionError,
  createClient,
  NotFoundError,
  RateLimitedError,
  ServerError,
  TimeoutError,
  UnexpectedAnswerError,
} from '../src/index.ts';
import { hangUp, json, standIn } from './stand-in.ts';

const asked = ({ method, url }: { method: string; url: string }) => `${method} ${url}`;

test('a method sends its path, query and body, and answers without the envelope', async () => {
  const { client, received } = await standIn(json(200, { success: true, data: { id: 'cmp_1' } }));
  expect(await client.campaigns.start('cmp_1')).toEqual({ id: 'cmp_1' });
  await client.campaigns.update('cmp/2', { name: 'New' });
  await client.phoneNumbers.searchAvailable({ provider: 'simulator', contains: '415' });
  await client.campaigns.preview('cmp_1');
  expect(received.map(asked)).toEqual([
    'POST /v1/calls/campaigns/cmp_1/start',
    'PATCH /v1/calls/campaigns/cmp%2F2',
    'GET /v1/telephony/available-phone-numbers?provider=simulator&contains=415',
    'POST /v1/calls/campaigns/cmp_1/preview',
  ]);
  expect(received.map(({ body }) => body)).toEqual(['', '{"name":"New"}', '', '']);
});

test('an ID that is missing at run time is an error, not another path', async () => {
  const { client, received } = await standIn(json(200, {}));
  expect(() => client.campaigns.delete('')).toThrow('Argument 1 must be a text');
  expect(() => client.campaigns.delete(undefined as never)).toThrow('Argument 1 must be a text');
  expect(received).toEqual([]);
});

test('files are sent as a form, again if its answer is lost', async () => {
  const failed = json(500, { code: 'internal_error' });
  const { client, received } = await standIn(hangUp, failed, json(201, { documents: [] }));
  const files = [new File(['a'], 'a.txt'), { name: 'b.txt', content: new Blob(['b']) }];
  await client.knowledgeBases.addDocuments('kb_1', files);
  expect(received[0]!.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  expect(received[0]!.body.match(/filename="[ab].txt"/g)).toEqual(['filename="a.txt"', 'filename="b.txt"']);
  expect(received.map(({ body }) => body)).toEqual(Array(3).fill(received[0]!.body));
  expect(new Set(received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
});

test('options are headers of the operation, and hold for one request', async () => {
  const { client, received } = await standIn(json(202, { success: true, data: {} }));
  const keys = { idempotencyKey: 'missed-7781', concurrencyKey: 'patient-4711', cooldownMinutes: 60 };
  await client.workflows.startRun('wf_1', {}, { ...keys, headers: { 'X-Trace': 'abc' } });
  expect(received[0]!.headers).toMatchObject({
    'idempotency-key': 'missed-7781',
    'concurrency-key': 'patient-4711',
    'cooldown-minutes': '60',
    'x-trace': 'abc',
  });
});

const batch = { agentId: 'a', fromNumber: '+14155550200', recipients: [{ phoneNumber: '+14155550100' }] };

test('a POST that takes an Idempotency-Key has one of its own, the same in every attempt', async () => {
  const { client, received } = await standIn(hangUp, json(202, { batchId: 'bat_1' }));
  await client.batches.start(batch);
  await client.batches.start(batch);
  await client.batches.start(batch, { idempotencyKey: 'mine' });
  const [first, second, third, fourth] = received.map(({ headers }) => headers['idempotency-key']);
  expect(first).toMatch(/^\d+(-\d+){3}$/);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
  expect(fourth).toBe('mine');
});

test("the server's word on sending again comes first", async () => {
  const not = json(503, { code: 'unavailable', error: 'No.' }, { 'x-should-retry': 'false' });
  const { client, received } = await standIn(not);
  await expect(client.workspace.get()).rejects.toBeInstanceOf(ServerError);
  expect(received).toHaveLength(1);
});

test.each([408, 500, 502, 504])('a GET goes again after %i', async (status) => {
  const { client, received } = await standIn(json(status, {}), json(200, { id: 'ws_1' }));
  expect(await client.workspace.get()).toEqual({ id: 'ws_1' });
  expect(received).toHaveLength(2);
});

test('errors have the class of their status', async () => {
  const refuse = async (status: number, body: object = { code: 'not_found', error: 'No.' }) => {
    const { clientOf } = await standIn(json(status, body));
    return clientOf({ maxRetries: 0 })
      .workspace.get()
      .catch((error) => error);
  };
  expect(await refuse(404)).toBeInstanceOf(NotFoundError);
  expect(await refuse(409)).toBeInstanceOf(ConflictError);
  expect(await refuse(429)).toBeInstanceOf(RateLimitedError);
  expect(await refuse(500)).toBeInstanceOf(ServerError);
  expect(await refuse(404, { message: 'nginx' })).toBeInstanceOf(UnexpectedAnswerError);
});

test('an answer that does not come, or stops midway, is a TimeoutError', async () => {
  const { clientOf } = await standIn(
    () => undefined,
    (response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"id":'),
  );
  const client = clientOf({ timeoutMs: 200, maxRetries: 0 });
  await expect(client.workspace.get()).rejects.toBeInstanceOf(TimeoutError);
  await expect(client.workspace.get()).rejects.toThrow('No whole answer came within 0.2 s.');
});

test("a server that isn't there is a ConnectionError that says where", async () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'tl_test', maxRetries: 0 });
  const error = await client.workspace.get().catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error.message).toMatch(/^http:\/\/127.0.0.1:1 gave no answer: /);
});

test("an abort rejects with the caller's reason", async () => {
  const { client } = await standIn(() => undefined);
  const controller = new AbortController();
  const asking = client.workspace.get({ signal: controller.signal });
  setTimeout(() => controller.abort(new Error('enough')), 50);
  await expect(asking).rejects.toThrow('enough');
});

test('the whole answer can be had too', async () => {
  const { client } = await standIn(json(200, { id: 'ws_1' }, { 'X-Request-Id': 'req-1' }));
  const { data, response } = await client.workspace.get().withResponse();
  expect(data).toEqual({ id: 'ws_1' });
  expect(response.headers.get('X-Request-Id')).toBe('req-1');
});

test('the answer alone has a body that nobody has read, and rejects where the service refused', async () => {
  const refused = json(404, { code: 'not_found', error: 'No.' });
  const { client } = await standIn(json(200, { success: true, data: { id: 'cmp_1' } }, { ETag: '"7"' }), refused);
  const asked = client.campaigns.get('cmp_1');
  const response = await asked.asResponse();
  expect(await response.json()).toEqual({ success: true, data: { id: 'cmp_1' } });
  expect(response.headers.get('ETag')).toBe('"7"');
  expect(await asked).toEqual({ id: 'cmp_1' });
  await expect(client.campaigns.get('cmp_2').asResponse()).rejects.toBeInstanceOf(NotFoundError);
});

test('a client with other options has the rest of the first one, and its middleware', async () => {
  const { client, received, url } = await standIn(json(503, {}, { 'Retry-After': '0' }));
  const mark = (name: string) => ({
    onRequest: ({ request }: { request: Request }) => request.headers.append('X-Mark', name),
  });
  const [kept, ejected] = [mark('kept'), mark('ejected')];
  client.use(kept, ejected);
  client.eject(ejected);
  const hasty = client.withOptions({ maxRetries: 0 });
  client.use(mark('later'));
  await expect(hasty.workspace.get()).rejects.toBeInstanceOf(UnexpectedAnswerError);
  expect(received).toHaveLength(1);
  expect(received[0]!.headers).toMatchObject({ 'x-api-key': 'tl_test_key', 'x-mark': 'kept' });
  const other = hasty.withOptions({ apiKey: 'tl_test_other', baseUrl: `${url}/v1/` });
  await other.GET('/v1/workspace');
  expect(received[1]!.headers).toMatchObject({ 'x-api-key': 'tl_test_other', 'x-mark': 'kept' });
  await client.workspace.get().catch(() => undefined);
  expect(received.slice(2).map(({ headers }) => headers['x-mark'])).toEqual(Array(3).fill('kept, later'));
});

test('debug tells of every attempt, and nothing secret', async () => {
  const lines: string[] = [];
  const { clientOf } = await standIn(hangUp, json(200, { items: [] }, { 'X-Request-Id': 'req-1' }));
  const client = clientOf({ debug: (line) => lines.push(line) });
  await client.contactLists.listEntries('list_1', { searchText: '+14155550100' });
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/^GET \/v1\/calls\/contact-lists\/list_1\/entries: 200, request req-1, after \d+ ms$/);
  expect(lines.join()).not.toMatch(/tl_test_key|4155550100/);
});

test('what is missing is named, and the environment serves', async () => {
  expect(() => createClient()).toThrow('pass { apiKey }, or set TRUNKLINE_API_KEY');
  expect(() => createClient({ apiKey: 'tl_test' })).toThrow('pass { baseUrl }, or set TRUNKLINE_BASE_URL');
  const { url, received } = await standIn(json(200, {}));
  process.env['TRUNKLINE_API_KEY'] = 'tl_from_environment';
  process.env['TRUNKLINE_BASE_URL'] = url;
  try {
    await createClient().workspace.get();
  } finally {
    delete process.env['TRUNKLINE_API_KEY'];
    delete process.env['TRUNKLINE_BASE_URL'];
  }
  expect(received[0]!.headers).toMatchObject({
    'x-api-key': 'tl_from_environment',
    'user-agent': `@trunkline/client/${manifest.version}`,
  });
});
