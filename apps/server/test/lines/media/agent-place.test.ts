import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAddressGuard } from '../../../src/foundation/outbound-http/address-guard.ts';
import { isAgentSignature } from '../../../src/lines/media/agent-signature.ts';
import { AgentStream } from '../../../src/lines/media/agent-stream.ts';
import { until } from '../../until.ts';
import { type Agent, startAgent } from './agent.ts';
import { connection } from './plane.ts';

/** What an agent's `https://` URL was asked. */
interface Asked {
  method: string | undefined;
  headers: IncomingHttpHeaders;
  body: unknown;
}

const asked: Asked[] = [];
let answer: (response: ServerResponse) => void;
const registrar = createServer(async (request, response) => {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
  asked.push({ method: request.method, headers: request.headers, body });
  answer(response);
});
let agent: Agent;
beforeAll(async () => {
  agent = await startAgent();
  await once(registrar.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  registrar.closeAllConnections();
  registrar.close();
  await agent.stop();
});

const guard = createAddressGuard({ networks: [{ address: '127.0.0.1', prefix: 32 }], hosts: [] });

/** A stream whose place is asked for. */
function asking(changes: Parameters<typeof connection>[1] = {}) {
  const { port } = registrar.address() as AddressInfo;
  const heard = { message: () => {}, ignored: () => {}, ended: () => {} };
  return new AgentStream(connection(`http://127.0.0.1:${port}/calls`, changes), guard, heard);
}

const json = (body: object) => (response: ServerResponse) => void response.end(JSON.stringify(body));

test('an https URL is asked, signed, for each call, and its answer connected to, without what is for that URL', async () => {
  answer = json({ url: `${agent.url}?call=7` });
  const stream = asking({
    headers: { authorization: 'Bearer x', 'Content-Type': 'text/plain' },
    secret: 's3cret',
    callSid: 'room_7',
    customParameters: { name: 'Ada' },
  });
  expect(await stream.connect()).toEqual({ connected: true });
  stream.start();
  await until(() => agent.of('start').length === 1);
  const [{ method, headers, body }] = asked as [Asked];
  expect(method).toBe('POST');
  expect(headers).toMatchObject({ authorization: 'Bearer x', 'content-type': 'application/json' });
  expect(headers['x-trunkline-call-id']).toBe('room_7');
  expect(isAgentSignature(String(headers['x-trunkline-signature']), 's3cret', 'room_7', new Date(), 60)).toBe(true);
  expect(body).toEqual({ accountSid: expect.any(String), callSid: 'room_7', customParameters: { name: 'Ada' } });
  expect(agent.of('start')[0]!.start).toMatchObject({ callSid: 'room_7', customParameters: { name: 'Ada' } });
  const [given = {}] = agent.headers;
  expect(given).not.toHaveProperty('authorization');
  expect(given).not.toHaveProperty('x-trunkline-signature');
  stream.close();
});

test.each<[string, (response: ServerResponse) => void, { reason?: string; [field: string]: unknown }]>([
  ['a refusal', (response) => void response.writeHead(403).end(), { reason: 'rejected', statusCode: 403 }],
  ['a redirect', (response) => void response.writeHead(307, { location: '/' }).end(), { statusCode: 307 }],
  ['no JSON', (response) => void response.end('wss://agent.example/'), { reason: 'rejected' }],
  ['no url', json({}), { reason: 'rejected', text: expect.stringContaining('without a "url"') }],
  ['a url of another kind', json({ url: 'https://agent.example/' }), { reason: 'rejected' }],
  ['too much', json({ url: 'wss://agent.example/', more: 'x'.repeat(20_000) }), { reason: 'rejected' }],
  ['an address of the server', json({ url: 'wss://10.0.0.1/' }), { reason: 'address_refused' }],
  ['nothing', () => {}, { reason: 'timed_out' }],
  ['a broken answer', (response) => void response.destroy(), { reason: 'refused' }],
])('%s is told as how its agent could not be connected', async (_, answers, told) => {
  answer = answers;
  const found = await asking({ connectTimeoutMs: told.reason === 'timed_out' ? 300 : 10_000 }).connect();
  expect(found).toMatchObject({ connected: false, ...told });
});

test('an address that is closed is not asked', async () => {
  const heard = { message: () => {}, ignored: () => {}, ended: () => {} };
  const found = await new AgentStream(connection('https://10.0.0.1/calls'), guard, heard).connect();
  expect(found).toMatchObject({ connected: false, reason: 'address_refused' });
});
