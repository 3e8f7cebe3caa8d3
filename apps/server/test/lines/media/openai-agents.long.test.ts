import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { until } from '../../until.ts';
import { startCalling } from '../telephony/calling.ts';
import { startOpenaiModel } from './realtime/openai-model.ts';
import { msOf, tone } from './tone.ts';

// Their transport for Twilio with all that it stands on, from the registry: 88 MB, which no other test needs.
const packages = ['@openai/agents-extensions@0.18.0', '@openai/agents@0.18.0', 'zod@4', 'ws@8.23.0'];

interface ModelEvent {
  type: string;
  audio?: string;
  audio_end_ms?: number;
  item_id?: string;
}
/** A double of the realtime API, after its documentation: it says two things, and is interrupted in the first. */
const model = new WebSocketServer({ port: 0, host: '127.0.0.1' });
const told: ModelEvent[] = [];
model.on('connection', (socket) => {
  const say = (type: string, fields: object) => socket.send(JSON.stringify({ type, event_id: 'event_1', ...fields }));
  const speak = (at: number, hertz: number, ms: number) => {
    const part = { item_id: `item_${at}`, response_id: `resp_${at}`, content_index: 0, output_index: 0 };
    say('response.created', { response: { id: part.response_id, output: [] } });
    for (let from = 0; from < ms * 8; from += 160)
      say('response.output_audio.delta', { ...part, delta: tone(hertz, 160, from).toString('base64') });
    say('response.output_audio.done', part);
    say('response.done', { response: { id: part.response_id, output: [] } });
  };
  let hasHeard = false;
  say('session.created', { session: { type: 'realtime' } });
  socket.on('message', (data) => {
    const event = JSON.parse(String(data)) as ModelEvent & { session?: object };
    told.push(event);
    if (event.type === 'session.update') say('session.updated', { session: event.session });
    if (event.type === 'input_audio_buffer.append' && !told.some(({ type }) => type === 'said')) {
      told.push({ type: 'said' });
      speak(1, 700, 30_000);
    }
    if (hasHeard || !event.audio || msOf(400, Buffer.from(event.audio, 'base64')) === 0) return;
    hasHeard = true;
    say('input_audio_buffer.speech_started', { item_id: 'item_caller', audio_start_ms: 0 });
    speak(2, 1000, 1000);
  });
});

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'openai-agents-'));
  writeFileSync(path.join(folder, 'package.json'), '{ "name": "openai-agents", "private": true }');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], { cwd: folder });
  copyFileSync(path.join(import.meta.dirname, 'openai-agents/agent.mjs'), path.join(folder, 'agent.mjs'));
}, 300_000);
afterAll(() => {
  model.close();
  rmSync(folder, { recursive: true, force: true });
});

test("OpenAI's own transport for Twilio is understood: it is heard, interrupted, and told how far it was heard", async () => {
  const url = `ws://127.0.0.1:${(model.address() as AddressInfo).port}/v1/realtime`;
  const agent = spawn(process.execPath, ['agent.mjs', url], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface(agent.stdout);
  const [ready] = (await once(lines, 'line')) as [string];
  const telling = once(lines, 'line');
  // Interrupts the first that it is told after a second, and listens to the second.
  await using calling = await startCalling(async (_, answer) => {
    const phone = await answer();
    await phone.speak(Buffer.alloc(800, 0xff));
    await until(() => msOf(700, phone.sound()) >= 1000);
    await phone.speak(tone(400, 4000));
  });
  const call = await (
    await calling.call(await calling.agentAt(`ws://127.0.0.1:${JSON.parse(ready).port}/`), '+14155550111')
  )();
  expect(call).toMatchObject({
    outcome: 'answered',
    endedBy: 'agent',
    agentEnd: { reason: 'hung_up', closeCode: 1000 },
  });
  const [phone] = calling.carrier.phones;
  const heardMs = msOf(700, phone!.sound());
  expect(heardMs).toBeLessThan(20_000);
  expect(msOf(1000, phone!.sound())).toBeGreaterThanOrEqual(960);
  const cut = told.find(({ type, item_id }) => type === 'conversation.item.truncate' && item_id === 'item_1');
  expect(Math.abs(cut!.audio_end_ms! - heardMs)).toBeLessThanOrEqual(500);
  const [report] = (await telling) as [string];
  const { sent, back, errors } = JSON.parse(report) as { sent: string[]; back: string[]; errors: string[] };
  // One mark a delta, and one when it is done.
  expect(sent.length).toBeGreaterThan(1500);
  expect(back.toSorted()).toEqual(sent.toSorted());
  expect(errors).toEqual([]);
  agent.kill();
}, 120_000);

test("a session of OpenAI's own client understands the double that the server's models are tested against", async () => {
  let isFirst = true;
  await using double = await startOpenaiModel({
    told: (session, { type }) => {
      if (type !== 'input_audio_buffer.append' || !isFirst) return;
      isFirst = false;
      session.respond({ hertz: 700, ms: 1000, words: 'Hello, Ada.', tools: { note: { text: 'Ada' } } });
    },
    asked: (session) => void session.respond({ hertz: 1000, ms: 5000, words: 'It is noted, and much more.' }),
  });
  copyFileSync(path.join(import.meta.dirname, 'openai-agents/session.mjs'), path.join(folder, 'session.mjs'));
  const client = spawn(process.execPath, ['session.mjs', double.url], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const heard: { sound?: string; noted?: string; interrupted?: boolean; error?: string; history?: string[] }[] = [];
  createInterface({ input: client.stdout }).on('line', (line) => heard.push(JSON.parse(line)));
  const sound = () => Buffer.concat(heard.map(({ sound: piece = '' }) => Buffer.from(piece, 'base64')));
  await until(() => msOf(1000, sound()) >= 4900);
  expect(msOf(700, sound())).toBeGreaterThanOrEqual(980);
  expect(heard).toContainEqual({ noted: 'Ada' });
  const [session] = double.sessions;
  expect(session!.of('conversation.item.create')).toMatchObject([
    { item: { type: 'function_call_output', output: 'It is noted.' } },
  ]);
  session!.hears('Stop.');
  await until(() => heard.some(({ interrupted }) => interrupted));
  await until(() => session!.of('conversation.item.truncate').length > 0);
  await until(() => expect(heard.findLast(({ history }) => history)!.history).toContain('Stop.'));
  client.stdin.end();
  await once(client, 'close');
  expect(heard.filter(({ error }) => error)).toEqual([]);
  expect(double.faults).toEqual([]);
}, 120_000);
