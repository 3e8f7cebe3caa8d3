import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@trunkline/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { called } from '../../agent/test/service.ts';
import { startAgent } from '../agent.ts';
import { heardMs } from '../session.ts';

const secret = 'a-secret-of-our-own';
const results: unknown[] = [];
const api = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  results.push([request.url, JSON.parse(Buffer.concat(chunks).toString())]);
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"success":true,"data":{}}');
});

interface Event {
  type: string;
  [field: string]: unknown;
}
/** A double of the realtime API: one conversation at a time, and what it was told. */
const realtime = new WebSocketServer({ port: 0 });
let model: { socket: WebSocket; events: Event[]; of(type: string): Event[] };
const urls: [url: string | undefined, authorization: string | undefined][] = [];
realtime.on('connection', (socket, request) => {
  const events: Event[] = [];
  urls.push([request.url, request.headers.authorization]);
  model = { socket, events, of: (type) => events.filter((event) => event.type === type) };
  socket.on('message', (data) => events.push(JSON.parse(String(data))));
  socket.send(JSON.stringify({ type: 'session.created', event_id: 'event_1', session: {} }));
});
const modelSays = (type: string, fields: object) =>
  model.socket.send(JSON.stringify({ type, event_id: 'e', ...fields }));

let agent: WebSocketServer;
let url: string;
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
beforeAll(async () => {
  await once(api.listen(0, '127.0.0.1'), 'listening');
  const client = createClient({ baseUrl: `http://127.0.0.1:${portOf(api)}`, apiKey: 'key', maxRetries: 0 });
  const realtimeUrl = `ws://127.0.0.1:${portOf(realtime)}/v1/realtime?model=gpt-realtime`;
  agent = startAgent({ port: 0, secret, client, realtimeUrl, openaiKey: 'sk-test' });
  await once(agent, 'listening');
  url = `ws://127.0.0.1:${portOf(agent)}`;
});
afterAll(() => {
  for (const server of [agent, realtime, api]) server.close();
});

test('the model hears the caller, is heard, is interrupted, and ends the call with a result', async () => {
  const call = await called(url, secret, 'room_1');
  call.start();
  await expect.poll(() => model?.of('response.create')).toHaveLength(1);
  expect(urls).toEqual([['/v1/realtime?model=gpt-realtime', 'Bearer sk-test']]);
  const format = { type: 'audio/pcmu' };
  expect(model.of('session.update')[0]!['session']).toMatchObject({
    type: 'realtime',
    output_modalities: ['audio'],
    audio: { input: { format, turn_detection: { type: 'server_vad' } }, output: { format } },
    tools: [{ type: 'function', name: 'end_call' }],
    instructions: expect.stringContaining('"direction":"outbound"'),
  });

  call.speak('AQID');
  await expect.poll(() => model.of('input_audio_buffer.append')).toMatchObject([{ audio: 'AQID' }]);

  const delta = Buffer.alloc(800, 0x7f).toString('base64');
  modelSays('response.output_audio.delta', { item_id: 'item_1', response_id: 'r', delta });
  expect((await call.next('media')).media).toEqual({ payload: delta });
  modelSays('input_audio_buffer.speech_started', { item_id: 'item_2', audio_start_ms: 0 });
  await call.next('clear');
  await expect.poll(() => model.of('conversation.item.truncate')).toHaveLength(1);
  const [cut] = model.of('conversation.item.truncate');
  expect(cut).toMatchObject({ item_id: 'item_1', content_index: 0 });
  expect(cut!['audio_end_ms']).toBeLessThanOrEqual(100);

  const result = { summary: 'Will come.', converted: true };
  const item = {
    id: 'item_3',
    type: 'function_call',
    name: 'end_call',
    call_id: 'c',
    arguments: JSON.stringify(result),
  };
  modelSays('response.output_item.done', { item: { id: 'item_1', type: 'message', role: 'assistant' } });
  modelSays('response.output_item.done', { item });
  const { mark } = await call.next('mark');
  expect(results).toEqual([['/v1/calls/room_1/result', result]]);
  const modelClosed = once(model.socket, 'close');
  call.heard(mark!.name);
  expect(await call.closed).toBe(1000);
  await modelClosed;
});

test('where the model is gone, the call ends as a fault', async () => {
  const connected = once(realtime, 'connection');
  const call = await called(url, secret, 'room_2');
  call.start();
  await connected;
  model.socket.terminate();
  expect(await call.closed).toBe(1011);
});

test('no more was heard than was said', () => {
  expect([heardMs(50.9, 800), heardMs(500, 800)]).toEqual([50, 100]);
});
