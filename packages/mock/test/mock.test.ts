import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { ConflictError, createClient, webhooks } from '@trunkline/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Mock, startMock } from '../src/index.ts';

const campaignId = 'cmp_01932f3c8a7e7bd0a1b2c3d4e5f60718';
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

let mock: Mock;
beforeAll(async () => {
  mock = await startMock();
});
afterEach(() => mock.reset());
afterAll(() => mock.close());

const clientOf = () => createClient({ baseUrl: mock.url, apiKey: 'any', maxRetries: 0 });

async function ask(path: string, headers: Record<string, string> = {}, body?: unknown) {
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const typed = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const response = await fetch(mock.url + path, { ...sent, headers: { 'X-API-Key': 'any', ...typed, ...headers } });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

test('answers are the examples, and requests are kept', async () => {
  const page = await clientOf().calls.list({ outcome: 'voicemail' });
  expect(page.items.length).toBeGreaterThan(0);
  await ask('/v1/calls/campaigns', {}, { name: 'No more' });
  expect(mock.requests).toMatchObject([
    { operationId: 'listCalls', method: 'GET', path: '/v1/calls?perPage=100&outcome=voicemail', status: 200 },
    { operationId: 'createCampaign', method: 'POST', body: { name: 'No more' }, status: 400 },
  ]);
  expect((await fetch(`${mock.url}/v1/calls`)).status).toBe(401);
  expect((await ask('/v1/nothing')).status).toBe(404);
  expect(mock.requests.at(-1)).not.toHaveProperty('operationId');
  mock.reset();
  expect(mock.requests).toEqual([]);
});

test('a status and an example can be forced, by a header and by a call', async () => {
  const limited = await ask('/v1/calls', { Prefer: 'code=429' });
  expect([limited.status, limited.body.code, limited.headers.get('retry-after')]).toEqual([429, 'rate_limited', '3']);
  mock.force('startCampaign', { status: 409, example: 'not-a-draft' });
  const start = () => clientOf().campaigns.start(campaignId);
  await expect(start()).rejects.toThrow(ConflictError);
  const preferred = await ask(`/v1/calls/campaigns/${campaignId}/start`, { Prefer: 'code=404' }, {});
  expect(preferred.status).toBe(404);
  mock.reset();
  expect((await start()).id).toBe(campaignId);
  mock.force('streamCampaignEvents', { status: 404 });
  await expect(clientOf().campaigns.streamEvents(campaignId).next()).rejects.toMatchObject({ status: 404 });
});

test('an answer that the contract has not is refused, with those that it has', async () => {
  const unknown = await ask('/v1/calls', { Prefer: 'code=418' });
  expect(unknown.status).toBe(400);
  expect(unknown.body.details[0]).toEqual({
    path: '/headers/Prefer',
    message: expect.stringMatching(/listCalls has no status 418; it has 200, .*503$/),
  });
  expect((await ask('/v1/calls', { Prefer: 'code=200, example="other"' })).body.error).toMatch(
    /no example other; it has /,
  );
  expect(() => mock.force('startCampaign', { status: 302 })).toThrow('startCampaign has no status 302; it has 200');
  expect(() => mock.force('launch' as never, {})).toThrow('The contract has no operation launch.');
});

test('an event stream tells one after the other, goes on after Last-Event-ID, and ends with 204', async () => {
  const at = `/v1/calls/campaigns/${campaignId}/events`;
  const response = await fetch(mock.url + at, { headers: { 'X-API-Key': 'any' } });
  const reader = response.body!.getReader();
  const text = async () => new TextDecoder().decode((await reader.read()).value);
  expect(await text()).toMatch(/^id: 41\nevent: campaign\.progress\ndata: \{/);
  expect(await text()).toMatch(/^id: 57\nevent: campaign\.completed\n/);
  expect((await reader.read()).done).toBe(true);
  expect((await ask(at, { 'Last-Event-ID': '41' })).body).toMatch(/^id: 57/);
  expect((await ask(at, { 'Last-Event-ID': '57' })).status).toBe(204);
  expect((await ask(at, { 'Last-Event-ID': 'forgotten' })).body).toMatch(/^id: 41/);
});

test.each([
  ['streamContactListUploadEvents', ['upload.progress', 'upload.validated']],
  ['streamWorkflowRunEvents', ['workflow_run.running', 'workflow_run.completed']],
  ['streamRunEvents', ['workflow_run.running', 'workflow_run.completed']],
] as const)('%s ends as the contract says', async (operation, types) => {
  const client = clientOf();
  const [list, upload, workflow, run] = ['list', 'upl', 'wf', 'run'].map(
    (prefix) => `${prefix}_01932f3c8a7e7bd0a1b2c3d4e5f60718`,
  ) as [string, string, string, string];
  const events = {
    streamContactListUploadEvents: () => client.contactLists.streamUploadEvents(list, upload),
    streamWorkflowRunEvents: () => client.workflows.streamRunEvents(workflow, run),
    streamRunEvents: () => client.workflowRuns.streamRunEvents(run),
  }[operation];
  const seen: string[] = [];
  for await (const { eventType } of events()) seen.push(eventType);
  expect(seen).toEqual(types);
});

test('an upload that was validated goes on after its confirm', async () => {
  const at =
    '/v1/calls/contact-lists/list_01932f3c8a7e7bd0a1b2c3d4e5f60718/uploads/upl_01932f3c8a7e7bd0a1b2c3d4e5f60720/events';
  const imported = await ask(at, { 'Last-Event-ID': '5' });
  expect(imported.body.match(/(?<=event: ).*/g)).toEqual(['upload.processing', 'upload.processed']);
  expect((await ask(at, { 'Last-Event-ID': '7' })).status).toBe(204);
});

test('a contact file is taken, and so are documents', async () => {
  const client = clientOf();
  const { list, upload } = await client.contactLists.upload({ name: 'People', file: 'phone\n+14155550100\n' });
  expect(upload.status).toBe('validated');
  await client.contactLists.confirm(list.id);
  const document = { name: 'hours.txt', content: new Blob(['Open at 9.']) };
  const kbId = 'kb_01932f3c8a7e7bd0a1b2c3d4e5f60718';
  expect((await client.knowledgeBases.addDocuments(kbId, [document])).documents.length).toBeGreaterThan(0);
  await expect(client.knowledgeBases.addDocuments(kbId, [])).rejects.toMatchObject({ status: 400 });
});

test('webhooks are sent and signed, by a call and over HTTP, and their answers come back', async () => {
  const received: { type: string; data: object; timestamp: string }[] = [];
  const receiver = createServer(async (request, response) => {
    const body = await buffer(request);
    received.push(await webhooks.unwrap(body, request.headers, secret));
    response.end('{"reject":"busy"}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => receiver.once('listening', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  try {
    const data = { roomId: 'room_ours' };
    expect(await mock.sendWebhook({ type: 'call.inbound', url, secret, data })).toEqual({
      status: 200,
      body: '{"reject":"busy"}',
    });
    expect((await ask('/_mock/webhooks', {}, { type: 'campaign.paused', url, secret })).body.status).toBe(200);
    expect(received).toMatchObject([
      { type: 'call.inbound', data: { ...data, toNumber: expect.stringContaining('+') } },
      { type: 'campaign.paused', data: { status: 'paused' } },
    ]);
    expect(Date.now() - Date.parse(received[0]!.timestamp)).toBeLessThan(300_000);
  } finally {
    receiver.close();
  }
  await expect(mock.sendWebhook({ type: 'call.rang' as never, url, secret })).rejects.toThrow('one of call.started');
  expect((await ask('/_mock/webhooks', {}, { type: 'call.ended', url, secret: 'x' })).body.error).toContain('whsec_');
  const away = await ask('/_mock/webhooks', {}, { type: 'call.ended', url, secret });
  expect([away.status, away.body.error]).toEqual([502, expect.stringContaining('could not be reached')]);
});

test('scripts of every origin may use it, and a port that is taken is named', async () => {
  expect((await ask('/v1/calls', { Origin: 'http://localhost:3000' })).headers.get('access-control-allow-origin')).toBe(
    'http://localhost:3000',
  );
  const port = Number(new URL(mock.url).port);
  await expect(startMock({ port })).rejects.toThrow(`Port ${port} is in use.`);
});
