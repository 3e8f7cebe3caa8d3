import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { createEndpoint, startReceiver } from '../../platform/webhooks/receiver.ts';
import { seedList } from '../../seed/list.ts';
import { until } from '../../until.ts';
import { addFiles, bases } from '../../voices/knowledge-bases/documents.ts';
import { type GeminiBehaviour, type GeminiModel, startGeminiModel } from '../media/realtime/gemini-model.ts';
import { type LiveBehaviour, type LiveModel, startLiveModel } from '../media/realtime/openai-live-model.ts';
import { type Behaviour, type OpenaiModel, startOpenaiModel } from '../media/realtime/openai-model.ts';
import { msOf, tone } from '../media/tone.ts';
import { type Calling, FROM, startCalling } from './calling.ts';
import type { Callee } from './carrier.ts';

const clone = path.join(import.meta.dirname, '../../../../..');
const KEY = 'sk-a-key-of-our-own';
const OPERATORS = 'sk-a-key-of-the-operator';
const HILL = 'Remind {{name}} of the appointment. It is on {{day}}.';

let callee: Callee;
let calling: Calling;
let model: OpenaiModel;
let gemini: GeminiModel;
let live: LiveModel;
const behaviour: Behaviour = {};
const geminiBehaviour: GeminiBehaviour = {};
const liveBehaviour: LiveBehaviour = {};
beforeAll(async () => {
  model = await startOpenaiModel(behaviour);
  gemini = await startGeminiModel(geminiBehaviour);
  live = await startLiveModel(liveBehaviour);
  const folder = await mkdtemp(path.join(tmpdir(), 'agents-'));
  const agentsFile = path.join(folder, 'agents.json');
  const connection = { type: 'realtime', protocol: 'openai_realtime', url: model.url, model: 'gpt-realtime-2' };
  const elsewhere = { id: 'reception', name: 'Rita', connection, instructions: HILL, firstMessage: 'Hello {{name}}.' };
  await writeFile(agentsFile, JSON.stringify({ agents: [elsewhere] }));
  const settings = { agentsFile, realtimeUrl: model.url, realtimeKey: OPERATORS };
  calling = await startCalling((call, answer) => callee(call, answer), undefined, undefined, settings);
  await rm(folder, { recursive: true });
});
afterAll(async () => {
  await calling[Symbol.asyncDispose]();
  for (const each of [model, gemini, live]) {
    await each[Symbol.asyncDispose]();
    expect(each.faults).toEqual([]);
  }
});

const make = (more: object = {}, connection: object = {}) =>
  calling.server.client.POST('/v1/agents', {
    body: {
      name: 'Anna',
      connection: {
        ...({ type: 'realtime', protocol: 'openai_realtime' } as const),
        ...{ url: model.url, model: 'gpt-realtime-2', apiKey: KEY, ...connection },
      },
      instructions: HILL,
      ...more,
    },
  });
async function agentWith(more: object = {}): Promise<string> {
  const { data, error } = await make(more);
  expect(error).toBeUndefined();
  return data!.data.agent.id;
}
let known = 0;
/** The session of the call that is being made: those of tests and of probes are known before. */
async function nextSession() {
  await until(() => model.sessions.length > known && model.sessions.at(-1)!.of('session.update').length > 0);
  return model.sessions.at(-1)!;
}
/** Calls somebody, with variables. @returns what reads the call once it is over */
async function call(agentId: string, toNumber: string, variables: Record<string, string> = {}) {
  known = model.sessions.length;
  const body = { agentId, fromNumber: FROM, toNumber, variables };
  const { roomId } = (await calling.server.client.POST('/v1/calls', { body })).data!;
  const path = { roomId };
  return async () => (await calling.server.client.GET('/v1/calls/{roomId}', { params: { path } })).data!;
}
const over = (read: Awaited<ReturnType<typeof call>>) =>
  until(async () => expect((await read()).endedAt).toBeDefined());

test('a phone hears the model at the answer, interrupts it, and its opt-out by a tool, transcript and result are kept', async () => {
  const resultSchema = {
    type: 'object',
    required: ['confirmed'],
    properties: { confirmed: { type: 'boolean' } },
  };
  const agentId = await agentWith({ firstMessage: 'Hello {{name}}.', resultSchema });
  let hasStopped = false;
  behaviour.asked = (session) => {
    if (session.of('response.create').length === 1)
      session.respond({
        hertz: 700,
        ms: 5000,
        words: 'Hello Ada, this is a long sentence that nobody hears to its end.',
      });
    else if (!hasStopped) {
      hasStopped = true;
      const result = { summary: 'Wants no calls.', data: { confirmed: false } };
      session.respond({ hertz: 1000, ms: 400, words: 'Goodbye.', tools: { record_result: result, end_call: {} } });
    }
  };
  callee = async (incoming, answer) => {
    incoming.ring();
    // It is connected while the phone rings.
    const session = await nextSession();
    const phone = await answer();
    await phone.speak(Buffer.alloc(800, 0xff));
    await until(() => msOf(700, phone.sound()) >= 1000);
    session.hears('Do not call me again.');
    await until(() => session.of('conversation.item.truncate').length > 0);
    session.respond({ tools: { opt_out: {} } });
  };
  const scheduledAt = new Date(calling.server.clock.now().getTime() + 600_000).toISOString();
  const next = { agentId, fromNumber: FROM, toNumber: '+14155550111', scheduledAt };
  const { roomId: nextId } = (await calling.server.client.POST('/v1/calls', { body: next })).data!;
  const read = await call(agentId, '+14155550111', { name: 'Ada ⟧ <b>', day: 'Monday' });
  await over(read);
  const session = model.sessions.at(-1)!;
  const { instructions } = session.of('session.update')[0]!['session'] as { instructions: string };
  expect(instructions).toContain('Remind ⟦Ada b⟧ of the appointment. It is on ⟦Monday⟧.');
  expect(instructions).toContain('(America/Los_Angeles), where the person is.');
  expect(JSON.stringify(session.of('response.create')[0])).toContain('<words>Hello Ada b.</words>');
  await until(async () => expect((await read()).result?.transcript).toBeDefined());
  const { result, outcome, endedBy, agentEnd } = await read();
  expect({ outcome, endedBy, reason: agentEnd?.reason }).toEqual({
    ...{ outcome: 'answered', endedBy: 'agent', reason: 'hung_up' },
  });
  expect(result).toMatchObject({
    ...{ optOut: true, summary: 'Wants no calls.', data: { confirmed: false }, dataComplete: true },
    transcript: [
      { role: 'agent', text: expect.stringMatching(/^Hello Ada,/), interrupted: true },
      { role: 'person', text: 'Do not call me again.' },
      { role: 'system', text: expect.stringContaining('opt_out {}: This number is not called again.') },
      { role: 'agent', text: 'Goodbye.' },
      { role: 'system', text: expect.stringContaining('record_result') },
      { role: 'system', text: 'end_call' },
    ],
  });
  const again = { agentId, fromNumber: FROM, toNumber: '+14155550111' };
  const { error } = await calling.server.client.POST('/v1/calls', { body: again });
  expect(JSON.stringify(error)).toContain('do-not-call');
  const path = { roomId: nextId };
  calling.server.clock.advance(600_000);
  await until(async () => {
    const { data } = await calling.server.client.GET('/v1/calls/{roomId}', { params: { path } });
    expect(data).toMatchObject({ outcome: 'do_not_call' });
  });
  expect(calling.carrier.calls).toHaveLength(1);
});

test('a callee that hangs up: the model is asked once for what is missing', async () => {
  const agentId = await agentWith({
    resultSchema: { type: 'object', required: ['mood'], properties: { mood: { enum: ['good', 'bad'] } } },
  });
  const phoneHangsUp: Callee = async (incoming, answer) => {
    const phone = await answer();
    await phone.speak(tone(400, 1600));
    await until(() => msOf(700, phone.sound()) >= 100);
    void incoming.hangUp();
  };
  const answering = (data: object | undefined) => {
    behaviour.asked = (session, { response }) => {
      const isAsked = (response as { tool_choice?: object } | undefined)?.tool_choice !== undefined;
      if (!isAsked) session.respond({ hertz: 700, ms: 1000, words: 'Hello.' });
      else if (data) session.respond({ tools: { record_result: { data } } });
      else session.socket.terminate();
    };
  };
  callee = phoneHangsUp;
  answering({ mood: 'good' });
  const good = await call(agentId, '+14155550112');
  await until(async () => expect((await good()).result).toMatchObject({ data: { mood: 'good' }, dataComplete: true }));
  // What it used to answer after the end is in it.
  const parts = { inputAudioTokens: 120, outputAudioTokens: 90, cachedInputTokens: 40 };
  const usage = { inputTokens: 200, outputTokens: 100, ...parts };
  await until(async () => expect((await good()).usage).toEqual(usage));
  const query = { groupBy: 'agent', agentId } as const;
  const { data: figures } = await calling.server.client.GET('/v1/calls/stats', { params: { query } });
  expect(figures!.items).toMatchObject([{ agentId, figures: { calls: 1, usage } }]);
  answering(undefined);
  const none = await call(agentId, '+14155550113');
  await until(async () => expect((await none()).result).toMatchObject({ dataComplete: false }));
});

test('it finds what stands in the knowledge bases that are attached to it', async () => {
  const { client } = calling.server;
  const kbId = (await client.POST(bases, { body: { name: 'Prices' } })).data!.data.id;
  await addFiles(calling.server, kbId, { 'prices.txt': 'A cleaning costs forty dollars.' });
  const params = { path: { kbId } };
  await until(async () => {
    const { data } = await client.GET('/v1/knowledge-bases/{kbId}', { params });
    expect(data!.data.status).toBe('ready');
  });
  const agentId = await agentWith({ knowledgeBaseIds: [kbId], speaksFirst: false });
  behaviour.asked = () => {};
  const outputs: string[] = [];
  callee = async (_incoming, answer) => {
    await answer();
    const session = await nextSession();
    session.respond({ tools: { search_knowledge: { query: 'cleaning' } } });
    session.respond({ tools: { search_knowledge: { base: 'another' } } });
    // What it is told of who has answered is no output of a tool.
    const told = () =>
      session.of('conversation.item.create').flatMap(({ item }) => (item as { output?: string }).output ?? []);
    await until(() => told().length >= 2);
    outputs.push(...told());
    // More than five in a second are too many.
    await sleep(1000);
    session.respond({ tools: { press_keys: { digits: '1w2' } } });
    await until(() => told().includes('The keys are pressed.'));
    session.respond({ tools: { end_call: {} } });
  };
  await over(await call(agentId, '+14155550114'));
  expect(outputs).toContainEqual(expect.stringContaining('A cleaning costs forty dollars.'));
  expect(outputs).toContainEqual(expect.stringContaining('The arguments are not as they must be'));
});

test('a tool of its owner is asked by a signed request, and what is in the way is told to the model in words', async () => {
  const asked: { headers: IncomingHttpHeaders; body: string }[] = [];
  await using server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    asked.push({ headers: request.headers, body });
    if (request.url === '/slots') response.end('["9:30"]');
    else if (request.url === '/large') response.end('x'.repeat(100_000));
    else response.writeHead(500).end('The calendar is closed.');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const parameters = { type: 'object', required: ['day'], properties: { day: { type: 'string', maxLength: 10 } } };
  const tool = (name: string, more: object = {}) => ({
    ...{ name, description: 'Tells it.', parameters, url: `${origin}/${name}` },
    ...more,
  });
  const tools = [tool('slots', { headers: { Authorization: 'Bearer sesame' } }), tool('broken'), tool('large')];
  const made = (await make({ tools, speaksFirst: false })).data!.data;
  const agentId = made.agent.id;
  expect(made.agent.tools![0]).toMatchObject({ name: 'slots', headerNames: ['Authorization'], timeoutSeconds: 8 });
  expect(JSON.stringify(made)).not.toContain('sesame');
  const own = ['end_call', 'opt_out', 'call_back', 'press_keys', 'record_result'];
  const { data: list } = await calling.server.client.GET('/v1/agents');
  expect(list!.data.items[0]).toMatchObject({ id: agentId, abilities: [...own, 'slots', 'broken', 'large'] });

  behaviour.asked = () => {};
  const outputs: string[] = [];
  callee = async (_incoming, answer) => {
    await answer();
    const session = await nextSession();
    const day = { day: '2026-11-30' };
    session.respond({ tools: { slots: day, broken: day, large: day } });
    session.respond({ tools: { slots: { day: 'a'.repeat(11) }, call_back: { inMinutes: 90 } } });
    const told = () =>
      session.of('conversation.item.create').flatMap(({ item }) => (item as { output?: string }).output ?? []);
    await until(() => told().length >= 5);
    outputs.push(...told());
    session.respond({ tools: { end_call: {} } });
  };
  const read = await call(agentId, '+14155550115');
  await over(read);
  expect(outputs.toSorted()).toEqual([
    'It failed with 500. The calendar is closed.',
    'It failed. The answer is larger than 16384 bytes.',
    'The arguments are not as they must be: /day must NOT have more than 10 characters.',
    expect.stringContaining('The person is called again, at '),
    '["9:30"]',
  ]);
  const first = asked.find(({ headers }) => headers.authorization === 'Bearer sesame')!;
  expect(asked).toHaveLength(3);
  const verified = new Webhook(made.secret, { format: 'raw' }).verify(
    first.body,
    first.headers as Record<string, string>,
  );
  expect(verified).toEqual({
    ...{ tool: 'slots', arguments: { day: '2026-11-30' } },
    call: { agentId, roomId: (await read()).roomId },
  });

  const change = (changed: object[]) =>
    calling.server.client.PATCH('/v1/agents/{agentId}', {
      ...{ params: { path: { agentId } }, body: { tools: changed as typeof tools } },
    });
  const places = async (changed: object[]) => (await change(changed)).error?.details?.map(({ path }) => path);
  expect(await places([tool('slots')])).toBeUndefined();
  expect(await places([tool('slots', { url: 'https://other.example.com/' })])).toEqual(['/body/tools/0/headers']);
  expect(await places([tool('end_call')])).toEqual(['/body/tools/0/name']);
  expect(await places([tool('a', { parameters: { type: 'object', pattern: '^(a+)+$' } })])).toEqual([
    '/body/tools/0/parameters',
  ]);
  expect(await places([tool('a', { headers: { 'Webhook-Id': 'x' } })])).toEqual(['/body/tools/0/headers']);
});

test('what a vendor has no room for slows the agent, and does not make it fail', async () => {
  const { client, clock, database } = calling.server;
  const agentId = await agentWith();
  const workspaceId = fromId((await client.GET('/v1/workspace')).data!.data.id);
  const numbers = Array.from({ length: 6 }, (_, i) => ({ phone_number: 14_155_560_000 + i }));
  const list = toId('list', await seedList(database, workspaceId, numbers));
  const lists = [{ id: list, role: 'contacts' as const }];
  const body = { name: 'People', agentId, fromNumber: FROM, lists, maxConcurrency: 1 };
  const { id } = (await client.POST('/v1/calls/campaigns', { body })).data!.data;
  const path = { id };
  let rung = 0;
  callee = async (incoming, answer) => {
    rung += 1;
    incoming.ring();
    if (behaviour.refuse) return;
    const phone = await answer();
    await phone.speak(Buffer.alloc(800, 0xff));
    await until(() => msOf(700, phone.sound()) >= 100);
    void incoming.hangUp();
  };
  behaviour.asked = (session) => void session.respond({ hertz: 700, ms: 500 });
  behaviour.refuse = 429;
  const started = await client.POST('/v1/calls/campaigns/{id}/start', { params: { path, query: { force: true } } });
  expect(started.error).toBeUndefined();
  const contacts = async () => {
    const { data } = await client.GET('/v1/calls/campaigns/{id}/contacts', { params: { path } });
    return data!.data.items;
  };
  const health = () =>
    database.inEngine(({ db }) => db.selectFrom('agent_health').selectAll().where('agent_id', '=', agentId).execute());
  await until(async () => expect(await health()).toMatchObject([{ failures: 0, limited_until: expect.any(Date) }]));
  expect((await contacts()).filter(({ reason }) => reason === 'limit_reached')).toHaveLength(5);
  expect(rung).toBe(1);
  expect(
    (await client.GET('/v1/agents/{agentId}', { params: { path: { agentId } } })).data!.data.failing,
  ).toBeUndefined();
  delete behaviour.refuse;
  clock.advance(31_000);
  await until(() => rung === 6);
  await client.POST('/v1/calls/campaigns/{id}/stop', { params: { path } });
});

test('a key that is refused is told at save, and by a test; what the vendor has no room for is told as that', async () => {
  const good = await agentWith();
  const test = async () => {
    const params = { path: { agentId: good } };
    return (await calling.server.client.POST('/v1/agents/{agentId}/test', { params })).data!.data;
  };
  behaviour.asked = (session) => void session.respond({ hertz: 700, ms: 100 });
  expect(await test()).toMatchObject({ reachable: true, reason: 'ok', spoke: true });
  behaviour.refuse = 401;
  expect(await test()).toMatchObject({ reachable: false, reason: 'rejected', statusCode: 401 });
  const { error } = await make();
  expect(error).toMatchObject({ code: 'invalid_request', details: [{ path: '/body/connection/apiKey' }] });
  const params = { path: { agentId: good } };
  const changed = await calling.server.client.PATCH('/v1/agents/{agentId}', {
    ...{ params, body: { connection: { apiKey: 'sk-other' } } },
  });
  expect(changed.error).toEqual(error);
  behaviour.refuse = 429;
  expect(await test()).toMatchObject({ reachable: false, reason: 'limit_reached', statusCode: 429 });
  delete behaviour.refuse;
});

test('a model of Gemini Live talks with a phone, and a key that it refuses by its close is told at save', async () => {
  const connection = { protocol: 'gemini_live', url: gemini.url, model: 'gemini-3.8-live' } as const;
  geminiBehaviour.close = () => ({ code: 1007, reason: 'API key not valid. Please pass a valid API key.' });
  expect((await make({}, connection)).error).toMatchObject({
    ...{ code: 'invalid_request' },
    details: [{ path: '/body/connection/apiKey', message: expect.stringContaining('1007: API key not valid') }],
  });
  delete geminiBehaviour.close;
  const agentId = (await make({ firstMessage: 'Hello {{name}}.' }, connection)).data!.data.agent.id;
  const params = { path: { agentId } };
  const tested = await calling.server.client.POST('/v1/agents/{agentId}/test', { params });
  expect(tested.data!.data).toMatchObject({ reachable: true, spoke: true });
  geminiBehaviour.asked = (session) =>
    void session.respond({
      hertz: 700,
      ms: 5000,
      words: 'Hello Ada, this is a long sentence that nobody hears to its end.',
    });
  const before = gemini.sessions.length;
  callee = async (incoming, answer) => {
    incoming.ring();
    await until(() => gemini.sessions.length > before);
    const phone = await answer();
    await phone.speak(tone(400, 1600));
    await until(() => msOf(700, phone.sound()) >= 1000);
    gemini.sessions.at(-1)!.hears('Never call me again.');
    gemini.sessions.at(-1)!.respond({ tools: { opt_out: {} } });
    await until(() => gemini.sessions.at(-1)!.outputs().length === 1);
    gemini.sessions.at(-1)!.respond({ hertz: 1000, ms: 400, words: 'Goodbye.', tools: { end_call: {} } });
  };
  const read = await call(agentId, '+14155550116', { name: 'Ada' });
  await over(read);
  expect(gemini.sessions.at(-1)!.texts()[0]).toContain('<words>Hello Ada.</words>');
  await until(async () => expect((await read()).result?.transcript).toBeDefined());
  expect((await read()).result).toMatchObject({
    optOut: true,
    transcript: [
      { role: 'agent', text: expect.stringMatching(/^Hello/), interrupted: true },
      { role: 'person', text: 'Never call me again.' },
      { role: 'system', text: expect.stringContaining('opt_out') },
      { role: 'agent', text: 'Goodbye.' },
      { role: 'system', text: 'end_call' },
    ],
  });
});

test.each(['receptionist', 'receptionist-gemini', 'lead-call-back'])(
  'the example %s can be made as it is',
  async (name) => {
    const file = path.join(clone, `examples/agents/${name}.json`);
    const body = JSON.parse(await readFile(file, 'utf8'));
    const places = { openai_realtime: model.url, gemini_live: gemini.url, openai_live: live.url };
    body.connection.url = places[body.connection.protocol as keyof typeof places];
    expect((await calling.server.client.POST('/v1/agents', { body })).error).toBeUndefined();
  },
);

test('the six commands of “Get started” let a phone hear a model', async (context) => {
  const run = promisify(execFile);
  await run('sh', ['-c', 'command -v bash curl jq']).catch(() => context.skip('bash, curl and jq are not installed'));
  const page = await readFile(path.join(clone, 'docs/get-started.md'), 'utf8');
  const [, block] = /^## 7\. Your own phone$.*?^```console\n(.*?)^```/ms.exec(page)!;
  // The first starts the server, the second says where it is.
  const commands = block!.split(/\n(?=(?:export|api|AGENT)\b)/).map((command) => command.trim());
  expect(commands).toHaveLength(6);
  const ours = commands
    .slice(2)
    .join('\n')
    .replace('sip.carrier.example', `127.0.0.1:${calling.carrier.port}`)
    .replace('= $key', `= $key | .connection.url = "${model.url}"`);
  behaviour.asked = (session) => session.respond({ hertz: 700, ms: 5000, words: 'Hello.' });
  let heard = 0;
  callee = async (incoming, answer) => {
    const phone = await answer();
    await until(() => msOf(700, phone.sound()) >= 1000);
    heard += 1;
    await incoming.hangUp();
  };
  const { url: TRUNKLINE_BASE_URL, apiKey: TRUNKLINE_API_KEY } = calling.server;
  const told = { OPENAI_API_KEY: 'sk-x', MY_NUMBER: '+14155550109', MY_PHONE: '+14155550119' };
  const env = { PATH: process.env['PATH'], TRUNKLINE_BASE_URL, TRUNKLINE_API_KEY, ...told };
  const { stdout } = await run('bash', ['-euc', ours], { cwd: clone, env }).catch((error) =>
    expect.unreachable(`${error.stdout}\n${error.stderr}`),
  );
  expect(stdout).toContain('"roomId"');
  await until(() => heard === 1);
});

test('a model that listens while it speaks has another one use its tools', async () => {
  const connection = { protocol: 'openai_live', url: live.url, model: 'gpt-live-1' } as const;
  const places = async (more: object) => (await make({}, more)).error?.details?.map(({ path }) => path);
  expect(await places(connection)).toEqual(['/body/connection/backendModel']);
  expect(await places({ backendModel: 'gpt-6-luna' })).toEqual(['/body/connection/backendModel']);
  const { agent } = (await make({}, { ...connection, backendModel: 'gpt-6-luna' })).data!.data;
  expect(agent.connection).toMatchObject({ backendModel: 'gpt-6-luna', hasApiKey: true });
  const path = { agentId: agent.id };
  // It says nothing unless it hears something.
  liveBehaviour.asked = async (session) => {
    await until(() => session.of('session.input_audio.append').length > 0);
    await session.speak({ hertz: 700, ms: 1000 });
  };
  const tested = await calling.server.client.POST('/v1/agents/{agentId}/test', { params: { path } });
  expect(tested.data!.data).toMatchObject({ reachable: true, spoke: true });
  const changed = await calling.server.client.PATCH('/v1/agents/{agentId}', {
    ...{ params: { path }, body: { connection: { backendModel: 'gpt-6' } } },
  });
  expect(changed.data!.data.connection).toMatchObject({ backendModel: 'gpt-6' });
  const before = live.sessions.length;
  callee = async (incoming, answer) => {
    incoming.ring();
    await until(() => live.sessions.length > before);
    const phone = await answer();
    await phone.speak(Buffer.alloc(800, 0xff));
    await until(() => msOf(700, phone.sound()) >= 300);
    live.sessions.at(-1)!.work({ opt_out: {}, end_call: {} });
    await phone.speak(Buffer.alloc(24_000, 0xff)).catch(() => {});
  };
  const read = await call(agent.id, '+14155550117');
  await over(read);
  expect((await read()).result).toMatchObject({ optOut: true });
  const [started] = live.sessions.at(-1)!.of('session.start');
  expect(started).toMatchObject({ session: { delegation: { responses: { model: 'gpt-6' } } } });
  expect(JSON.stringify(started)).toContain('- opt_out: ');
});

test('what was said and found out stands in the record, the webhook and the export, and an erasure takes it', async () => {
  const receiver = await startReceiver();
  await createEndpoint(calling.server, receiver.url, ['call.ended', 'call.transcribed']);
  const resultSchema = { type: 'object', required: ['mood'], properties: { mood: { enum: ['good', 'bad'] } } };
  const agentId = await agentWith({ resultSchema });
  behaviour.asked = (session, { response }) => {
    const isAsked = (response as { tool_choice?: object } | undefined)?.tool_choice !== undefined;
    if (!isAsked) session.respond({ hertz: 700, ms: 400, words: 'How are you?' });
    else session.respond({ tools: { record_result: { data: { mood: 'good' } } } });
  };
  callee = async (incoming, answer) => {
    const phone = await answer();
    await until(() => msOf(700, phone.sound()) >= 100);
    model.sessions.at(-1)!.hears('Splendid, thank you.');
    await sleep(50);
    void incoming.hangUp();
  };
  const toNumber = '+14155550129';
  const read = await call(agentId, toNumber);
  const { roomId } = await read();
  // What is told of a call before this one may come yet.
  const told = () => receiver.received.filter(({ data }) => data['roomId'] === roomId);
  await until(() => told().some(({ type }) => type === 'call.transcribed'));
  const result = {
    ...{ data: { mood: 'good' }, dataComplete: true },
    transcript: [
      { role: 'agent', text: expect.stringMatching(/^How/) },
      { role: 'person', text: 'Splendid, thank you.' },
      { role: 'system', text: expect.stringContaining('record_result') },
    ],
  };
  expect(await read()).toMatchObject({ status: 'completed', result, usage: { inputTokens: 200 } });
  expect(told().map(({ type }) => type)).toEqual(['call.ended', 'call.transcribed']);
  expect(told()[1]!.data).toEqual(await read());

  const { client, database } = calling.server;
  const { data: made } = await client.POST('/v1/exports', { body: { type: 'calls', filter: { agentId } } });
  const params = { path: { exportId: made!.id } };
  const exported = async () => (await client.GET('/v1/exports/{exportId}', { params })).data!;
  await until(async () => (await exported()).status === 'ready');
  const file = await (await fetch((await exported()).url!)).text();
  expect(file).toContain('"{""mood"":""good""}"');
  expect(file).toContain('""text"":""Splendid, thank you.""');

  const { data: erasure } = await client.POST('/v1/erasures', { body: { phoneNumber: toNumber } });
  const at = { params: { path: { erasureId: erasure!.id } } };
  await until(async () => (await client.GET('/v1/erasures/{erasureId}', at)).data!.status === 'completed');
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ found: number }>`
      select (select count(*) from call_transcripts where turns::text like '%Splendid%')
        + (select count(*) from events where data::text like '%Splendid%')
        + (select count(*) from webhook_deliveries w where w::text like '%Splendid%') as found`.execute(db),
  );
  expect(rows).toEqual([{ found: 0 }]);
  expect((await read()).result).not.toHaveProperty('data');
  await receiver.stop();
});

test('an agent of a file talks as one of the server, by the operator’s key, which goes to its own address alone', async () => {
  behaviour.asked = (session) => session.respond({ hertz: 700, ms: 400, words: 'Hello.', tools: { end_call: {} } });
  callee = async (_incoming, answer) => {
    await answer();
  };
  const read = await call('reception', '+14155550130', { name: 'Ada', day: 'Monday' });
  await over(read);
  await until(async () =>
    expect((await read()).result?.transcript).toMatchObject([{ role: 'agent', text: 'Hello.' }, {}]),
  );
  expect(await read()).toMatchObject({ agentId: 'reception', outcome: 'answered', endedBy: 'agent' });
  const session = model.sessions.at(-1)!;
  expect(JSON.stringify(session.of('session.update'))).toContain('Remind ⟦Ada⟧');
  expect(JSON.stringify(session.of('response.create'))).toContain('Hello Ada.');

  const keysOf = async (connection: { url?: string; apiKey?: string | undefined }) => {
    const from = model.sessions.length;
    const { data } = await make({}, { apiKey: undefined, ...connection });
    expect(data!.data.agent.connection).toMatchObject({ hasApiKey: connection.apiKey !== undefined });
    const agentId = data!.data.agent.id;
    await calling.server.client.POST('/v1/agents/{agentId}/test', { params: { path: { agentId } } });
    return new Set(model.sessions.slice(from).map(({ request }) => request.headers.authorization));
  };
  expect(session.request.headers.authorization).toBe(`Bearer ${OPERATORS}`);
  expect(await keysOf({})).toEqual(new Set([`Bearer ${OPERATORS}`]));
  expect(await keysOf({ apiKey: KEY })).toEqual(new Set([`Bearer ${KEY}`]));
  expect(await keysOf({ url: `${model.url}/other` })).toEqual(new Set([undefined]));
  expect(await keysOf({ url: `${model.url}?model=other` })).toEqual(new Set([undefined]));
});
