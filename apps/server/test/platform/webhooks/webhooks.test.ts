import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { keyWith } from '../api-keys/keys.ts';
import {
  arrived,
  createEndpoint,
  deliveriesOf,
  type Receiver,
  sendsToLoopback,
  startReceiver,
  verify,
} from './receiver.ts';

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  server = await startTestServer({ config: sendsToLoopback });
});
afterAll(() => server.stop());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.stop());

const webhooks = '/v1/webhooks';
const at = (webhookId: string) => ({ params: { path: { webhookId } } });
const nowhere = `whk_${'0'.repeat(31)}1`;

/** Has something happen: a list is made, and with it an upload. */
async function makeUpload(name = 'Patients'): Promise<string> {
  const { data } = await server.client.POST('/v1/calls/contact-lists', { body: { name, fileName: 'patients.csv' } });
  return data!.uploadDetails.id;
}

test('a workspace has a hundred endpoints at most', async () => {
  const full = await startTestServer({ config: { ...sendsToLoopback, rateLimitPerMinute: 10_000 } });
  const make = () => full.client.POST(webhooks, { body: { url: receiver.url, eventTypes: ['call.ended'] } });
  const made = await Promise.all(Array.from({ length: 104 }, make));
  expect(made.filter(({ response }) => response.status === 201)).toHaveLength(100);
  expect(made.find(({ error }) => error)).toMatchObject({
    response: { status: 409 },
    error: { code: 'limit_reached', error: 'A workspace has at most 100 endpoints. Delete one first.' },
  });
  const { data } = await full.client.GET(webhooks, { params: { query: {} } });
  await full.client.DELETE('/v1/webhooks/{webhookId}', at(data!.data.items[0]!.id));
  expect((await make()).response.status).toBe(201);
  await full.stop();
});

describe('endpoints', () => {
  test('are made, read, changed, listed and deleted; the secret is shown once', async () => {
    const body = { url: receiver.url, description: 'CRM', eventTypes: ['call.ended', 'upload.pending'] as const };
    const made = await server.client.POST(webhooks, { body: { ...body, eventTypes: [...body.eventTypes] } });
    expect(made.response.status).toBe(201);
    const { id, secret, ...rest } = made.data!.data;
    expect(id).toMatch(/^whk_[0-9a-f]{32}$/);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rest).toEqual({ ...body, status: 'enabled', createdAt: expect.any(String), updatedAt: rest.createdAt });
    const read = await server.client.GET('/v1/webhooks/{webhookId}', at(id));
    expect(read.data!.data).toEqual({ id, ...rest });

    const change = { url: `${receiver.url}/2`, description: null, eventTypes: ['call.started' as const] };
    const changed = await server.client.PATCH('/v1/webhooks/{webhookId}', { ...at(id), body: change });
    const { description: _gone, ...kept } = { ...rest, id };
    const updatedAt = changed.data!.data.updatedAt;
    expect(changed.data!.data).toEqual({ ...kept, url: change.url, eventTypes: change.eventTypes, updatedAt });
    const same = await server.client.PATCH('/v1/webhooks/{webhookId}', { ...at(id), body: {} });
    expect(same.data!.data).toEqual(changed.data!.data);

    const { data } = await server.client.GET(webhooks, { params: { query: { searchText: '/HOOK/2' } } });
    expect(data!.data).toMatchObject({ items: [{ id }], totalCount: 1, column: 'created_at', order: 'desc' });
    expect(JSON.stringify(data)).not.toContain('whsec_');

    const deleted = await server.client.DELETE('/v1/webhooks/{webhookId}', at(id));
    expect(deleted.data!.data).toEqual({ id, deleted: true });
    expect((await server.client.GET('/v1/webhooks/{webhookId}', at(id))).error!.code).toBe('not_found');
    expect((await server.client.DELETE('/v1/webhooks/{webhookId}', at(id))).response.status).toBe(404);
  });

  test('keep their secrets encrypted', async () => {
    const { secret } = await createEndpoint(server, receiver.url, ['call.ended']);
    const rows = await server.database.inEngine((tx) => tx.db.selectFrom('webhooks').selectAll().execute());
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(secret.slice('whsec_'.length));
  });

  test.each([
    ['http://crm.example.com/hook', 'must be an https URL, unless OUTBOUND_ALLOWED_ADDRESSES names it'],
    [
      'https://10.0.0.7/hook',
      'must not lead into the network of the server, unless OUTBOUND_ALLOWED_ADDRESSES names it',
    ],
    [
      'https://169.254.169.254/latest',
      'must not lead into the network of the server, unless OUTBOUND_ALLOWED_ADDRESSES names it',
    ],
    ['https://[::1]/hook', 'must not lead into the network of the server, unless OUTBOUND_ALLOWED_ADDRESSES names it'],
    ['https://me:secret@crm.example.com/', 'must hold no user name and no password'],
  ])('refuse the URL %s', async (url, message) => {
    const { error, response } = await server.client.POST(webhooks, { body: { url, eventTypes: ['call.ended'] } });
    expect([response.status, error]).toEqual([
      400,
      { code: 'invalid_request', error: `url ${message}.`, details: [{ path: '/body/url', message }] },
    ]);
    const { id } = await createEndpoint(server, receiver.url, ['call.ended']);
    const changed = await server.client.PATCH('/v1/webhooks/{webhookId}', { ...at(id), body: { url } });
    expect(changed.response.status).toBe(400);
  });

  test.each([
    ['no event type', { eventTypes: [] }],
    ['an unknown event type', { eventTypes: ['call.vanished'] }],
    ['an event type twice', { eventTypes: ['call.ended', 'call.ended'] }],
    ['the type of tests', { eventTypes: ['webhook.test'] }],
    ['a URL of another scheme', { url: 'ftp://crm.example.com/' }],
    ['an unknown property', { secret: 'whsec_mine' }],
  ])('refuse %s', async (_what, wrong) => {
    const body = { url: receiver.url, eventTypes: ['call.ended'], ...wrong } as never;
    const { response, error } = await server.client.POST(webhooks, { body });
    expect([response.status, error!.code]).toEqual([400, 'invalid_request']);
  });

  test('of another workspace, and those that never were, are not found', async () => {
    const other = server.clientOf(await keyWith(server, { permissions: ['*'], workspace: 'Other' }));
    const { id } = await createEndpoint(server, receiver.url, ['call.ended']);
    const tested = (await server.client.POST('/v1/webhooks/{webhookId}/test', at(id))).data!.data;
    const paths = [
      [other, id, tested.id],
      [server.client, nowhere, `dlv_${'0'.repeat(31)}1`],
    ] as const;
    const answers = await Promise.all(
      paths.map(([client, webhookId, deliveryId]) => {
        const one = { params: { path: { webhookId } } };
        const replay = { params: { path: { webhookId, deliveryId } } };
        return Promise.all([
          client.GET('/v1/webhooks/{webhookId}', one),
          client.PATCH('/v1/webhooks/{webhookId}', { ...one, body: { description: 'Mine' } }),
          client.DELETE('/v1/webhooks/{webhookId}', one),
          client.POST('/v1/webhooks/{webhookId}/rotate-secret', one),
          client.POST('/v1/webhooks/{webhookId}/test', one),
          client.GET('/v1/webhooks/{webhookId}/deliveries', one),
          client.POST('/v1/webhooks/{webhookId}/deliveries/{deliveryId}/replay', replay),
        ]);
      }),
    );
    expect(answers.flat().map(({ response }) => response.status)).toEqual(Array(14).fill(404));
    expect(answers[0]!.map(({ error }) => error)).toEqual(answers[1]!.map(({ error }) => error));
    expect((await other.GET(webhooks)).data!.data.items).toEqual([]);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('events', () => {
  test('arrive as the library of Standard Webhooks wants them, and as the contract says', async () => {
    const { id, secret } = await createEndpoint(server, receiver.url, ['upload.pending', 'upload.expired']);
    const uploadId = await makeUpload();
    const [event] = await arrived(receiver, 1);
    expect(verify(secret, event!)).toEqual({
      type: 'upload.pending',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: expect.objectContaining({ id: uploadId, status: 'pending', fileName: 'patients.csv' }),
    });
    expect(event!.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': expect.stringMatching(/^evt_/),
    });
    expect(() => verify(`whsec_${Buffer.alloc(32).toString('base64')}`, event!)).toThrow('No matching signature');
    await until(async () => {
      expect(await deliveriesOf(server, id)).toEqual([
        {
          id: expect.stringMatching(/^dlv_/),
          webhookId: id,
          eventId: event!.id,
          eventType: 'upload.pending',
          status: 'delivered',
          attempts: 1,
          lastStatusCode: 204,
          lastDurationMs: expect.any(Number),
          createdAt: expect.any(String),
          deliveredAt: expect.any(String),
        },
      ]);
    });
  });

  test('go to every endpoint that wants them, and to no other', async () => {
    const wanting = [
      await createEndpoint(server, `${receiver.url}/a`, ['upload.pending']),
      await createEndpoint(server, `${receiver.url}/b`, ['call.ended', 'upload.pending']),
    ];
    await createEndpoint(server, `${receiver.url}/c`, ['upload.uploaded']);
    await makeUpload();
    const both = await arrived(receiver, 2);
    expect(both.map(({ path }) => path).sort()).toEqual(['/hook/a', '/hook/b']);
    expect(new Set(both.map((each) => each.id)).size).toBe(1);
    for (const [i, { secret }] of wanting.entries()) {
      const own = both.find(({ path }) => path.endsWith('ab'[i]!))!;
      expect(() => verify(secret, own)).not.toThrow();
    }
    await makeUpload();
    expect((await arrived(receiver, 4)).map(({ path }) => path)).not.toContain('/hook/c');
  });
});
