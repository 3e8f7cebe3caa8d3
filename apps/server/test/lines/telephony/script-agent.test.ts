import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importFile } from '../../audience/contact-lists/contact-files.ts';
import { until } from '../../until.ts';
import { sounds, uploadSound } from '../../voices/sounds/sounds.ts';
import { toneFile } from '../../voices/sounds/wav-files.ts';
import { type SpeechDouble, startSpeechDouble } from '../../voices/speech/speech-server.ts';
import type { Peer } from '../media/peer.ts';
import { msOf } from '../media/tone.ts';
import { type Calling, FROM, startCalling } from './calling.ts';
import type { Callee } from './carrier.ts';
import { press } from './keys.ts';

type Step = components['schemas']['ScriptStep'];

let callee: Callee;
let calling: Calling;
let speech: SpeechDouble;
beforeAll(async () => {
  speech = await startSpeechDouble();
  const settings = { speechUrl: speech.url, speechKey: 'a key', speechModel: 'a-model', speechVoice: 'ada' };
  calling = await startCalling((call, answer) => callee(call, answer), undefined, undefined, settings);
});
afterAll(async () => {
  await calling[Symbol.asyncDispose]();
  await speech[Symbol.asyncDispose]();
});

const make = (steps: Step[], more: object = {}) =>
  calling.server.client.POST('/v1/agents', {
    body: { name: 'Reminder', connection: { type: 'script', steps, ...more } },
  });
async function agentWith(steps: Step[], more: object = {}): Promise<string> {
  const { data, error } = await make(steps, more);
  expect(error).toBeUndefined();
  return data!.data.agent.id;
}
const tried = (agentId: string) =>
  calling.server.client.POST('/v1/agents/{agentId}/test', { params: { path: { agentId } } });

/** Calls somebody. @returns what reads the call */
async function call(agentId: string, toNumber: string, variables: Record<string, string> = {}) {
  const body = { agentId, fromNumber: FROM, toNumber, variables };
  const { data, error } = await calling.server.client.POST('/v1/calls', { body });
  if (!data) return async () => ({ error }) as never;
  const path = { roomId: data.roomId };
  return async () => (await calling.server.client.GET('/v1/calls/{roomId}', { params: { path } })).data!;
}
async function over(read: Awaited<ReturnType<typeof call>>) {
  await until(async () => (await read()).endedAt !== undefined);
  await until(async () => (await read()).result?.transcript !== undefined);
  return read();
}

const hears = (phone: Peer, hertz: number, ms: number) => until(() => msOf(hertz, phone.sound()) >= ms);
const silence = Buffer.alloc(800, 0xff);

test('a reminder by keys: it greets by name, a key ends its question, and what came of it is kept', async () => {
  const bye = await uploadSound(
    calling.server,
    'bye.wav',
    toneFile({ rate: 16_000, kind: 'pcm16', seconds: 0.6 }, 1100),
  );
  speech.says('Hello Ada.', { hertz: 500, seconds: 0.5 });
  speech.says('Press 1 to confirm.', { hertz: 900, seconds: 20 });
  const steps: Step[] = [
    { id: 'hello', type: 'say', text: 'Hello {{name | default: "there"}}.' },
    { id: 'confirm', type: 'ask', text: 'Press 1 to confirm.', keys: '12', saveAs: 'confirmed' },
    { id: 'by', type: 'branch', on: 'confirm', cases: [{ is: '1', next: 'yes' }], next: 'bye' },
    {
      id: 'yes',
      type: 'set',
      data: { choice: 'key {{confirm}} of {{name}}, {{note}}' },
      disposition: 'confirmed',
      converted: true,
    },
    { id: 'bye', type: 'say', soundId: bye.id },
    { id: 'end', type: 'hang_up' },
  ];
  const agentId = await agentWith(steps, { language: 'en-GB' });
  expect((await tried(agentId)).data!.data).toMatchObject({ reachable: true, reason: 'ok', spoke: true });
  let quietMs = 0;
  callee = async (incoming, answer) => {
    incoming.ring();
    await until(() => speech.asked.some(({ input }) => input === 'Hello Ada.'));
    const phone = await answer();
    await phone.speak(silence);
    await hears(phone, 900, 300);
    press(phone, '1');
    const pressedAt = performance.now();
    await hears(phone, 1100, 500);
    quietMs = phone.heard.findLast(({ ulaw }) => msOf(900, ulaw) > 0)!.at - pressedAt;
  };
  const found = await over(await call(agentId, '+14155550111', { name: 'Ada', note: '{{confirm}} {{name}}' }));
  // Of a sentence of 20 seconds; how soon is measured by `bench -- voices`.
  expect(quietMs).toBeLessThan(5000);
  expect(found).toMatchObject({
    ...{ outcome: 'answered', endedBy: 'agent', agentEnd: { reason: 'hung_up' } },
    result: {
      ...{
        data: { confirmed: '1', choice: 'key 1 of Ada, {{confirm}} {{name}}' },
        disposition: 'confirmed',
        converted: true,
      },
      transcript: [
        { role: 'agent', text: 'Hello Ada.' },
        { role: 'agent', text: expect.stringMatching(/^(Press\b.*)?/), interrupted: true },
        { role: 'system', text: 'The key 1 was pressed.' },
        { role: 'agent', text: `(${bye.id})` },
      ].filter(({ text }) => typeof text === 'string'),
    },
  });
  expect(speech.asked.find(({ input }) => input === 'Hello Ada.')).toEqual({
    ...{ model: 'a-model', voice: 'ada', input: 'Hello Ada.', response_format: 'wav', language: 'en-GB' },
    authorization: 'Bearer a key',
  });
  expect(speech.asked.filter(({ input }) => input === 'Press 1 to confirm.')).toHaveLength(1);

  const params = { path: { soundId: bye.id } };
  expect((await calling.server.client.DELETE(`${sounds}/{soundId}`, { params })).error).toMatchObject({
    code: 'sound_in_use',
  });
});

test('an opt-out by a key stops the next dial, and silence has it asked again', async () => {
  speech.says('Press 9.', { hertz: 900, seconds: 0.3 });
  speech.says('Nothing?', { hertz: 1300, seconds: 0.3 });
  speech.says('You are not called again.', { hertz: 500, seconds: 0.5 });
  const agentId = await agentWith([
    {
      id: 'no',
      type: 'ask',
      text: 'Press 9.',
      keys: '9',
      timeoutSeconds: 1,
      nothing: { text: 'Nothing?' },
      otherwise: 'end',
    },
    { id: 'out', type: 'opt_out' },
    { id: 'done', type: 'say', text: 'You are not called again.' },
    { id: 'end', type: 'hang_up' },
  ]);
  callee = async (_incoming, answer) => {
    const phone = await answer();
    await phone.speak(silence);
    await hears(phone, 1300, 200);
    await hears(phone, 900, 400);
    press(phone, '9');
  };
  const found = await over(await call(agentId, '+14155550112'));
  expect(found).toMatchObject({ outcome: 'answered', endedBy: 'agent', result: { optOut: true } });
  expect(found.result!.transcript!.map(({ text }) => text)).toContain('You are not called again.');
  expect(await (await call(agentId, '+14155550112'))()).toMatchObject({ error: { code: 'call_refused' } });
});

test('somebody is called back once, with what was known of it', async () => {
  speech.says('We call again.', { hertz: 500, seconds: 0.4 });
  const agentId = await agentWith([
    { id: 'back', type: 'call_back', inMinutes: 120 },
    { id: 'bye', type: 'say', text: 'We call again.' },
  ]);
  callee = async (_incoming, answer) => void (await (await answer()).speak(silence));
  const found = await over(await call(agentId, '+14155550113', { name: 'Ada' }));
  expect(found).toMatchObject({ outcome: 'answered', endedBy: 'agent' });
  const { data } = await calling.server.client.GET('/v1/calls', { params: { query: { status: ['queued'] } } });
  const waiting = data!.items.filter(({ toNumber }) => toNumber === '+14155550113');
  expect(waiting).toHaveLength(1);
  expect(waiting[0]).toMatchObject({ status: 'queued', agentId, variables: { name: 'Ada' } });
});

test('a time of day is that of the callee', async () => {
  const agentId = await agentWith([
    { id: 'back', type: 'call_back', at: '09:30' },
    { id: 'bye', type: 'say', text: 'We call again.' },
  ]);
  callee = async (_incoming, answer) => void (await (await answer()).speak(silence));
  await over(await call(agentId, '+12125550117'));
  const { rows } = await calling.server.database.inEngine(({ db }) =>
    sql<{ at: Date }>`select next_attempt_at as at from call_intents where to_number = 12125550117`.execute(db),
  );
  const inNewYork = { hour: '2-digit', minute: '2-digit', timeZone: 'America/New_York' } as const;
  expect(rows.map(({ at }) => at.toLocaleTimeString('en-GB', inNewYork))).toEqual(['09:30']);
});

test('a campaign whose script can not be said is not started, and says why', async () => {
  speech.says('Never.', { isRefused: true });
  const agentId = await agentWith([{ id: 'a', type: 'say', text: 'Never.' }]);
  const { client } = calling.server;
  const { id } = await importFile(calling.server, 'phone\n+14155550118\n');
  const lists = [{ id, role: 'contacts' as const }];
  const made = await client.POST('/v1/calls/campaigns', { body: { name: 'C', agentId, fromNumber: FROM, lists } });
  const params = { path: { id: made.data!.data.id } };
  const { error, response } = await client.POST('/v1/calls/campaigns/{id}/start', { params });
  expect(response.status).toBe(409);
  expect(JSON.stringify(error)).toContain('sentences can not be played');
});

test('a sentence that is not ready in time is left out, and a script that said nothing has failed', async () => {
  speech.says('Hello Bea.', { afterMs: 6000 });
  speech.says('Goodbye.', { hertz: 500, seconds: 0.5 });
  const slow: Step = { id: 'hello', type: 'say', text: 'Hello {{name}}.' };
  const bye: Step = { id: 'bye', type: 'say', text: 'Goodbye.' };
  callee = async (_incoming, answer) => void (await (await answer()).speak(silence));
  const found = await over(await call(await agentWith([slow, bye]), '+14155550114', { name: 'Bea' }));
  expect(found).toMatchObject({
    outcome: 'answered',
    agentEnd: { reason: 'hung_up', text: 'Sentences that were not ready, and were left out: 1.' },
  });
  const read = await call(await agentWith([slow]), '+14155550115', { name: 'Bea' });
  await until(async () => (await read()).endedAt !== undefined);
  expect(await read()).toMatchObject({ outcome: 'agent_error', agentEnd: { reason: 'crashed' } });
});

test('the callee hangs up in the middle: that is told, and what it had said is kept', async () => {
  speech.says('How are you?', { hertz: 500, seconds: 0.2 });
  speech.says('And how old?', { hertz: 900, seconds: 30 });
  const agentId = await agentWith([
    { id: 'q1', type: 'ask', text: 'How are you?', saveAs: 'mood' },
    { id: 'q2', type: 'ask', text: 'And how old?', length: 3, endKey: '#', saveAs: 'age' },
  ]);
  callee = async (incoming, answer) => {
    const phone = await answer();
    await phone.speak(silence);
    await hears(phone, 500, 100);
    press(phone, '5');
    await hears(phone, 900, 300);
    incoming.hangUp();
  };
  const found = await over(await call(agentId, '+14155550116'));
  expect(found).toMatchObject({
    ...{ outcome: 'answered', endedBy: 'callee', agentEnd: { reason: 'call_ended' } },
    result: { data: { mood: '5' } },
  });
});

test('what is wrong with a script is told at save, with its place', async () => {
  const { error } = await make([
    { id: 'a', type: 'say', text: 'Hello {{ name.' },
    { id: 'b', type: 'ask', text: 'Press.', next: 'nowhere', otherwise: 'a' },
    { id: 'c', type: 'say' },
  ]);
  expect(error!.details!.map(({ path }) => path)).toEqual([
    ...['steps/0', 'steps/0/text', 'steps/1/next', 'steps/1', 'steps/2', 'steps/2/text'].map(
      (at) => `/body/connection/${at}`,
    ),
  ]);
  const unknown = 'snd_01932f3c8a7e7bd0a1b2c3d4e5f60718';
  const missing = await make([{ id: 'a', type: 'say', soundId: unknown }]);
  expect(missing.response.status).toBe(404);
  expect(missing.error!.details![0]!.path).toBe('/body/connection/steps/0/soundId');
});

test('a script is changed, and one whose sentences can not be made is told by its test', async () => {
  speech.says('Broken.', { isRefused: true });
  const agentId = await agentWith([{ id: 'a', type: 'say', text: 'Hello.' }], { voice: 'bea' });
  const params = { path: { agentId } };
  const change = (connection: object) =>
    calling.server.client.PATCH('/v1/agents/{agentId}', { params, body: { connection } });
  const steps: Step[] = [{ id: 'a', type: 'say', text: 'Broken.' }];
  const changed = await change({ steps, language: 'de', voice: null });
  expect(changed.data!.data.connection).toEqual({ type: 'script', language: 'de', steps });
  expect(changed.data!.data.abilities).toEqual(['say']);
  expect((await tried(agentId)).data!.data).toMatchObject({
    ...{ reachable: false, reason: 'rejected' },
    message: "1 of the script's sentences can not be played. The server of SPEECH_URL gave no sound: it answered 500.",
  });
  const refused = await change({ url: 'wss://agents.invalid/' });
  expect(refused.error!.details).toEqual([
    { path: '/body/connection/url', message: 'is not for an agent with a script connection' },
  ]);
});

test('calls back that follow each other keep to the hours of the campaign, to the contact, and end', async () => {
  const agentId = await agentWith([
    { id: 'back', type: 'call_back', inMinutes: 1, otherwise: 'bye' },
    { id: 'bye', type: 'say', text: 'We call again.' },
  ]);
  const { client, clock, database } = calling.server;
  const { id } = await importFile(calling.server, 'phone,timezone\n+14155550119,Europe/Berlin\n');
  const lists = [{ id, role: 'contacts' as const }];
  const callingWindows = [{ days: [1, 2, 3, 4, 5, 6, 7], start: 0, end: 1440 }];
  const body = { name: 'Back', agentId, fromNumber: FROM, lists, callingWindows, timezone: 'America/New_York' };
  const params = { path: { id: (await client.POST('/v1/calls/campaigns', { body })).data!.data.id } };
  let rung = 0;
  callee = async (_incoming, answer) => {
    rung += 1;
    await (await answer()).speak(silence);
  };
  expect((await client.POST('/v1/calls/campaigns/{id}/start', { params })).error).toBeUndefined();
  const kept = async () => {
    const { rows } = await database.inEngine(({ db }) =>
      sql<{
        terms: object;
        windows: object;
      }>`select call_back_terms as terms, calling_windows as windows from call_intents
        where to_number = 14155550119 and next_attempt_at is not null`.execute(db),
    );
    return rows;
  };
  const areOver = (count: number) =>
    until(async () => {
      const { data } = await client.GET('/v1/calls', { params: { query: { phoneNumber: '+14155550119' } } });
      expect(data!.items.filter(({ endedAt }) => endedAt !== undefined)).toHaveLength(count);
    });
  for (const times of [1, 2]) {
    await until(async () => expect(await kept()).toMatchObject([{ terms: { times } }]));
    expect(await kept()).toMatchObject([
      {
        terms: { ownTimezone: 'Europe/Berlin', timezone: 'America/New_York', callingWindows },
        windows: callingWindows,
      },
    ]);
    await areOver(times);
    if (times === 2)
      await database.inEngine(({ db }) =>
        sql`update call_intents set call_back_terms = jsonb_set(call_back_terms, '{times}', '5')
          where to_number = 14155550119`.execute(db),
      );
    clock.advance(61_000);
    await until(() => rung === times + 1);
  }
  await areOver(3);
  expect(await kept()).toEqual([]);
});
