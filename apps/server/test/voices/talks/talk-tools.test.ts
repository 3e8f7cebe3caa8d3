import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { addresses } from '../../../src/config-values.ts';
import { type Behaviour, type OpenaiModel, startOpenaiModel } from '../../lines/media/realtime/openai-model.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { addFiles, createBase, settled } from '../knowledge-bases/documents.ts';
import { type SpeechDouble, startSpeechDouble } from '../speech/speech-server.ts';
import { browse, urlOfTalk } from './browser.ts';

let server: TestServer;
let model: OpenaiModel;
let speech: SpeechDouble;
const behaviour: Behaviour = { asked: () => {} };
beforeAll(async () => {
  speech = await startSpeechDouble();
  model = await startOpenaiModel(behaviour);
  const config = { outboundAllowedAddresses: addresses('127.0.0.1'), speechUrl: speech.url };
  server = await startTestServer({ config });
});
afterAll(async () => {
  await server.stop();
  await model[Symbol.asyncDispose]();
  await speech[Symbol.asyncDispose]();
  expect(model.faults).toEqual([]);
});

const NOBODY = 'Nothing comes of it in a talk: nobody is at the other end.';

test('in a talk a model searches and asks tools of its owner, harms nobody, and what is said is shown while it is', async () => {
  const bodies: { call: object }[] = [];
  await using calendar = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(JSON.parse(body));
    response.end('["9:30"]');
  }).listen(0, '127.0.0.1');
  await once(calendar, 'listening');
  const kbId = await createBase(server, 'Prices');
  await addFiles(server, kbId, { 'prices.txt': 'A cleaning costs forty dollars.' });
  await settled(server, kbId);
  const url = `http://127.0.0.1:${(calendar.address() as AddressInfo).port}`;
  const made = await server.client.POST('/v1/agents', {
    body: {
      name: 'Anna',
      connection: { type: 'realtime', protocol: 'openai_realtime', url: model.url, model: 'gpt-realtime-2' },
      ...{ instructions: 'Help.', speaksFirst: false, knowledgeBaseIds: [kbId] },
      tools: [{ name: 'slots', description: 'Free ones.', url }],
    },
  });
  const agentId = made.data!.data.agent.id;
  const { socket, told } = await browse(await urlOfTalk(server, agentId));
  await until(() => model.sessions.at(-1)?.of('session.update').length === 1 && told.length > 0);
  const session = model.sessions.at(-1)!;
  session.respond({ hertz: 700, ms: 200, words: 'One moment.' });
  const tools = {
    search_knowledge: { query: 'cleaning' },
    slots: {},
    opt_out: {},
    record_result: { summary: 'Tried.' },
  };
  session.respond({ tools });
  await until(() => told.filter(({ event }) => event === 'request').length === 4);
  const answers = Object.fromEntries(
    told.flatMap(({ event, request, answer }) =>
      event === 'request' ? [[(request as { name: string }).name, answer]] : [],
    ),
  );
  expect(answers).toEqual({
    search_knowledge: { output: expect.stringContaining('A cleaning costs forty dollars.'), isDone: true },
    slots: { output: '["9:30"]', isDone: true },
    ...{ opt_out: { output: NOBODY, isDone: true }, record_result: { output: NOBODY, isDone: true } },
  });
  expect(bodies).toMatchObject([{ tool: 'slots', call: { agentId, talk: true } }]);
  const turns = () => told.filter(({ event }) => event === 'turn');
  await until(() => {
    const texts = turns().map(({ role, text }) => `${role}: ${text}`);
    expect(texts).toContainEqual('agent: One moment.');
    expect(texts).toContainEqual(`system: opt_out {}: ${NOBODY}`);
  });
  expect(told.some(({ event }) => event === 'ended')).toBe(false);
  socket.send(JSON.stringify({ event: 'hang_up' }));
  await until(() => told.some(({ request }) => (request as { type?: string })?.type === 'record_result'));
  socket.close();
});

test('in a talk a script says what it does about the person, and does nothing of it', async () => {
  const made = await server.client.POST('/v1/agents', {
    body: {
      name: 'Opt-out line',
      connection: {
        type: 'script',
        steps: [
          { id: 'hello', type: 'say', text: 'Goodbye.' },
          { id: 'out', type: 'opt_out' },
          { id: 'back', type: 'call_back', inMinutes: 5 },
          { id: 'end', type: 'hang_up' },
        ],
      },
    },
  });
  const { socket, told } = await browse(await urlOfTalk(server, made.data!.data.agent.id));
  await until(() => socket.readyState === WebSocket.CLOSED);
  expect(told.map(({ event }) => event)).toContain('turn');
  const requests = told.flatMap(({ event, request, answer }) => (event === 'request' ? [{ request, answer }] : []));
  expect(requests.slice(0, 2)).toEqual([
    { request: { type: 'record_result', result: { optOut: true } }, answer: NOBODY },
    { request: { type: 'call_back', inMinutes: 5 }, answer: NOBODY },
  ]);
  expect((await server.client.GET('/v1/calls/do-not-call')).data!.items).toEqual([]);
});
