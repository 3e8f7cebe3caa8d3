import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@trunkline/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket, type WebSocketServer } from 'ws';
import { startAgent } from '../agent.ts';
import { called, callHeaders } from './service.ts';

const secret = 'a-secret-of-our-own';
const results: { url: string; body: unknown }[] = [];
let status = 200;
const api = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  results.push({ url: `${request.method} ${request.url}`, body: JSON.parse(Buffer.concat(chunks).toString()) });
  response.writeHead(status, { 'content-type': 'application/json' }).end('{"success":true,"data":{}}');
});

let agent: WebSocketServer;
let url: string;
beforeAll(async () => {
  await once(api.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  agent = startAgent({ port: 0, secret, client: createClient({ baseUrl, apiKey: 'key', maxRetries: 0 }) });
  await once(agent, 'listening');
  url = `ws://127.0.0.1:${(agent.address() as AddressInfo).port}`;
});
afterAll(() => {
  agent.close();
  api.close();
});

test.each([
  ['1', 'confirmed', true],
  ['2', 'goodbye', false],
])('the key %s is answered, reported, and hung up after', async (digit, _sound, appointmentConfirmed) => {
  const call = await called(url, secret, 'room_1');
  call.start();
  const greeting = await call.next('media');
  expect(Buffer.from(greeting.media!.payload, 'base64').length).toBeGreaterThan(8000);
  call.press('9');
  call.press(digit);
  await call.next('clear');
  const said = await call.next('media');
  expect(said.media!.payload).not.toBe(greeting.media!.payload);
  const { mark } = await call.next('mark');
  await expect
    .poll(() => results.at(-1))
    .toMatchObject({
      url: 'POST /v1/calls/room_1/result',
      body: { converted: appointmentConfirmed, data: { appointmentConfirmed } },
    });
  expect(call.socket.readyState).toBe(WebSocket.OPEN);
  call.heard(mark!.name);
  expect(await call.closed).toBe(1000);
});

test('a call is hung up although its result was not taken', async () => {
  status = 500;
  const call = await called(url, secret, 'room_2');
  call.start();
  call.press('2');
  const { mark } = await call.next('mark');
  call.heard(mark!.name);
  expect(await call.closed).toBe(1000);
});

test('who has not the secret is refused', async () => {
  for (const headers of [callHeaders('another-secret-yet', 'room_1'), {}]) {
    const socket = new WebSocket(url, { headers });
    const [error] = await once(socket, 'error');
    expect(error.message).toContain('401');
  }
});
