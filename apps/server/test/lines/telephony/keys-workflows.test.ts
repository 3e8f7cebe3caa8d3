import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { type SpeechDouble, startSpeechDouble } from '../../voices/speech/speech-server.ts';
import { msOf } from '../media/tone.ts';
import { type Calling, FROM, startCalling } from './calling.ts';
import type { Callee } from './carrier.ts';
import { press } from './keys.ts';

let callee: Callee;
/** Each workflow calls somebody else: one of them opts out. */
let people = 0;
let calling: Calling;
let speech: SpeechDouble;
beforeAll(async () => {
  speech = await startSpeechDouble();
  calling = await startCalling((call, answer) => callee(call, answer), undefined, undefined, { speechUrl: speech.url });
});
afterAll(async () => {
  await calling[Symbol.asyncDispose]();
  await speech[Symbol.asyncDispose]();
});

const read = (file: string) => readFileSync(new URL(`../../../../../${file}`, import.meta.url), 'utf8');

test.each([
  [
    'reminder-by-keys',
    { agent: 'reminder', id: 'agent_reminder', keys: '2' },
    { comes: false, roomId: expect.any(String) },
  ],
  [
    'confirmation-by-key',
    { agent: 'confirmation', id: 'agent_confirmation', keys: '1' },
    { confirmed: true, roomId: expect.any(String) },
  ],
  [
    'survey-by-keys',
    { agent: 'survey', id: 'agent_survey', keys: '1412#' },
    { visit: '4', minutesWaited: '12', isUnhappy: false },
  ],
  ['opt-out-by-key', { agent: 'opt-out-line', id: 'agent_opt_out', keys: '1' }, { optedOut: true }],
])('%s: a script takes the keys, without any model, and the run goes on by them', async (name, given, output) => {
  const { client, clock } = calling.server;
  const made = await client.POST('/v1/agents', { body: JSON.parse(read(`examples/agents/${given.agent}.json`)) });
  expect(made.error).toBeUndefined();
  const definition = read(`docs/workflows/${name}.json`).replaceAll(given.id, made.data!.data.agent.id);
  const workflowId = (
    await client.POST('/v1/workflows', { body: JSON.parse(definition.replaceAll('+14155550100', FROM)) })
  ).data!.data.id;
  const path = { workflowId };
  expect((await client.POST('/v1/workflows/{workflowId}/publish', { params: { path } })).error).toBeUndefined();
  callee = async (_incoming, answer) => {
    const phone = await answer();
    await phone.speak(Buffer.alloc(800, 0xff));
    await until(() => msOf(700, phone.sound()) >= 100);
    for (const key of given.keys) {
      press(phone, key);
      await sleep(150);
    }
  };
  people += 1;
  const phone_number = `+1415555012${people}`;
  const context = { phone_number, appointment_at: clock.now().toISOString(), delivery: 'Monday' };
  const header = { 'Idempotency-Key': name };
  const started = await client.POST('/v1/workflows/{workflowId}/run', { params: { path, header }, body: { context } });
  const { id: runId } = started.data!.data;
  const run = async () => (await client.GET('/v1/workflow-runs/{runId}', { params: { path: { runId } } })).data!.data;
  await until(async () => {
    const { status, wakeAt } = await run();
    if (status === 'waiting_schedule') clock.advance(Math.max(0, Date.parse(wakeAt!) - clock.now().getTime()));
    expect(status).toBe('completed');
  });
  expect((await run()).output).toEqual(output);
});
