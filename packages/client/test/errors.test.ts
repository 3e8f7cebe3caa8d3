import { expect, test } from 'vitest';
import { TrunklineError, unwrap } from '../src/index.ts';
import { json, standIn } from './stand-in.ts';

const id = 'cmp_01932f3c8a7e7bd0a1b2c3d4e5f60718';
const params = { path: { id } };

test('unwrap takes the envelope off, and sends the key', async () => {
  const { client, received } = await standIn(json(200, { success: true, data: { id, status: 'running' } }));
  const campaign = await unwrap(client.GET('/v1/calls/campaigns/{id}', { params }));
  expect(campaign).toEqual({ id, status: 'running' });
  expect(received[0]).toMatchObject({ url: `/v1/calls/campaigns/${id}`, headers: { 'x-api-key': 'tl_test_key' } });
});

test('unwrap leaves a bare answer as it is', async () => {
  const { client } = await standIn(json(200, { id: 'list_1', deleted: true }));
  const deleted = await unwrap(client.DELETE('/v1/calls/contact-lists/{id}', { params: { path: { id: 'list_1' } } }));
  expect(deleted).toEqual({ id: 'list_1', deleted: true });
});

test('unwrap throws what the service said', async () => {
  const details = [{ path: '/body/name', message: 'is required' }];
  const body = { code: 'invalid_request', error: 'body/name is required', details };
  const { client } = await standIn(json(400, body, { 'X-Request-Id': 'req-1' }));
  const error = await unwrap(client.POST('/v1/calls/campaigns/{id}/start', { params })).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(TrunklineError);
  expect(error).toMatchObject({
    name: 'InvalidRequestError',
    status: 400,
    code: 'invalid_request',
    message: 'body/name is required',
    details,
    requestId: 'req-1',
    retryAfterSeconds: undefined,
  });
});

test('an answer that is not of the service has the nearest code', async () => {
  const { client } = await standIn((response) => void response.writeHead(502).end('<h1>Bad gateway</h1>'));
  const failed = unwrap(client.GET('/v1/calls/campaigns/{id}', { params }));
  await expect(failed).rejects.toMatchObject({ status: 502, code: 'unavailable', details: [] });
});

test('the raw methods answer {data, error, response}', async () => {
  const { client } = await standIn(json(404, { code: 'not_found', error: 'There is no such resource.' }));
  const { data, error, response } = await client.GET('/v1/calls/campaigns/{id}', { params });
  expect({ data, error, status: response.status }).toEqual({
    data: undefined,
    error: { code: 'not_found', error: 'There is no such resource.' },
    status: 404,
  });
});

test('a base URL may end in a slash or in the /v1 that the server prints', async () => {
  const { clientOf, received, url } = await standIn(json(200, {}));
  await clientOf({ baseUrl: `${url}/` }).GET('/v1/workspace');
  await clientOf({ baseUrl: `${url}/v1/` }).GET('/v1/workspace');
  expect(received.map((request) => request.url)).toEqual(['/v1/workspace', '/v1/workspace']);
});

test("one may bring a fetch of one's own", async () => {
  const { clientOf } = await standIn(json(500, {}));
  const client = clientOf({ fetch: async () => Response.json({ id: 'ws_1' }) });
  expect(await unwrap(client.GET('/v1/workspace'))).toEqual({ id: 'ws_1' });
});
