import { expect, test } from 'vitest';
import { until } from '../../../until.ts';
import { testPlane } from '../plane.ts';
import { msOf, tone } from '../tone.ts';
import { startGeminiModel } from './gemini-model.ts';
import { KEY, realtimeCalls } from './realtime-call.ts';

const plane = testPlane();

const openCall = realtimeCalls(plane, startGeminiModel, { protocol: 'gemini_live', model: 'gemini-3.8-live' });

test('it is told how to be while the phone rings, speaks at the answer, and both hear each other', async () => {
  await using call = await openCall({ ask: { firstMessage: 'Hello, Ada.', voice: 'Kore', language: 'de' } });
  const { session, peer } = call;
  expect(call.connected).toEqual({ connected: true });
  expect(session.request.headers['x-goog-api-key']).toBe(KEY);
  expect(session.request.url).not.toContain(KEY);
  expect(session.told).toMatchObject([
    {
      setup: {
        model: 'models/gemini-3.8-live',
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        inputAudioTranscription: { languageCodes: ['de'] },
      },
    },
  ]);
  await call.media.answer();
  await until(() => msOf(700, peer.sound()) >= 700);
  expect(session.texts()).toEqual([expect.stringContaining('<words>Hello, Ada.</words>')]);
  await peer.speak(tone(400, 4000));
  await until(() => msOf(400, session.heard()) >= 200);
  await call.media.digit('5');
  await until(() => expect(session.texts()[1]).toContain('pressed the key 5'));
});

test('a callee that speaks is not talked over: what waits is cleared, and the transcript is cut', async () => {
  const words = 'one two three four five six seven eight nine ten';
  await using call = await openCall({
    behaviour: {
      asked: (session) => {
        for (const part of [words, ' eleven twelve'])
          session.say({ serverContent: { outputTranscription: { text: part } } });
        session.respond({ hertz: 700, ms: 10_000 });
      },
    },
  });
  const { session, peer } = call;
  await call.media.answer();
  await until(() => msOf(700, peer.sound()) >= 1500);
  session.hears('Stop, please.');
  await until(() => msOf(700, peer.sound().subarray(-3200)) === 0);
  const heard = msOf(700, peer.sound());
  await peer.speak(tone(400, 2400));
  expect(msOf(700, peer.sound())).toBe(heard);
  session.respond({ hertz: 1000, ms: 400, words: 'Of course.' });
  await until(() => msOf(1000, peer.sound()) >= 200);
  await call.close();
  await until(() => call.transcript() !== undefined);
  expect(call.transcript()).toMatchObject([
    { role: 'agent', text: expect.stringMatching(/^one/), interrupted: true },
    { role: 'person', text: 'Stop, please.' },
    { role: 'agent', text: expect.stringMatching(/^Of/) },
  ]);
  expect(JSON.stringify(call.transcript())).not.toContain('five');
});

test('it hangs up by its tool once its last words were heard, which may come after the call of the tool', async () => {
  await using call = await openCall({
    behaviour: {
      asked: (session) => {
        session.say({ toolCall: { functionCalls: [{ id: 'bye', name: 'end_call', args: {} }] } });
        setTimeout(() => session.respond({ hertz: 1000, ms: 800, words: 'Goodbye.' }), 300);
      },
    },
  });
  await call.media.answer();
  await until(() => expect(call.ended()).toEqual([{ reason: 'hung_up' }]));
  expect(msOf(1000, call.peer.sound())).toBeGreaterThanOrEqual(500);
  expect((await call.close()).voice).toMatchObject({ inputTokens: 100, outputTokens: 50, toolCalls: 1 });
});

test('a farewell that it takes back is none', async () => {
  await using call = await openCall({
    behaviour: {
      asked: (session) => {
        session.respond({ hertz: 1000, ms: 600, words: 'Goodbye.', tools: { end_call: {} } });
        session.say({ toolCallCancellation: { ids: ['function-call-1'] } });
        session.hears('Wait!');
        session.respond({ hertz: 700, ms: 1000, words: 'Yes?' });
      },
    },
  });
  await call.media.answer();
  await until(() => msOf(700, call.peer.sound()) >= 700);
  expect(call.ended()).toEqual([]);
  expect(call.session.outputs()).toEqual([]);
});

test('tools are used once, though it takes a call back and calls again', async () => {
  let finish: (answer: object) => void = () => {};
  const working = new Promise<object>((resolve) => {
    finish = resolve;
  });
  await using call = await openCall({
    behaviour: { asked: () => {} },
    answer: ({ name }) => {
      if (name === 'note') return working;
      if (name === 'record_result') throw new Error('That is not possible.');
      return undefined;
    },
  });
  const { session, asked } = call;
  await call.media.answer();
  const [first] = session.respond({ tools: { note: { a: 1 }, record_result: {}, unknown: {} } });
  await until(() => session.outputs().length === 2);
  expect(session.outputs().toSorted()).toEqual([
    ['record_result', 'That is not possible.'],
    ['unknown', 'There is no such tool.'],
  ]);
  session.say({ toolCallCancellation: { ids: [first] } });
  session.respond({ tools: { note: { a: 1 } } });
  await until(() => asked.length === 2);
  finish({ output: 'It is noted.', isDone: true });
  await until(() => session.outputs().length === 3);
  expect(session.outputs()[2]).toEqual(['note', 'It is noted.']);
  expect(session.told.at(-1)?.toolResponse?.functionResponses[0]?.id).not.toBe(first);
  expect(asked.filter(({ name }) => name === 'note')).toHaveLength(1);
});

test('after the end it is asked for what is missing, and the session is closed', async () => {
  await using call = await openCall({
    ask: { asksFor: 'record_result' },
    behaviour: {
      asked: (session, text) =>
        session.respond(
          text.includes('record_result') ? { tools: { record_result: { summary: 'Fine.' } } } : { hertz: 700, ms: 100 },
        ),
    },
  });
  await call.media.answer();
  await until(() => msOf(700, call.peer.sound()) >= 60);
  await call.close();
  await until(() => call.session.socket.readyState === 3);
  expect(call.asked).toContainEqual({
    type: 'use_tool',
    id: expect.any(String),
    name: 'record_result',
    args: '{"summary":"Fine."}',
  });
});

test.each([
  [1007, 'API key not valid. Please pass a valid API key.', { reason: 'rejected', isKeyRefused: true }],
  [1008, 'models/gemini-0 is not found for API version v1beta.', { reason: 'rejected' }],
  [1011, 'You exceeded your current quota, please check your plan and billing details.', { reason: 'limit_reached' }],
])('a session that is closed with %i at its begin says why: %s', async (code, reason, failure) => {
  await using call = await openCall({ behaviour: { close: () => ({ code, reason }) } });
  const text = `The model began no session (${code}: ${reason}).`;
  expect(call.connected).toEqual({ connected: false, ...failure, text });
});

test('a handshake that is answered with 429 is a limit', async () => {
  await using call = await openCall({ behaviour: { refuse: 429 } });
  expect(call.connected).toMatchObject({ connected: false, reason: 'limit_reached', statusCode: 429 });
});

test('a session that breaks is opened once more with what was said, and the second break is the end', async () => {
  await using call = await openCall({
    behaviour: { asked: (session) => void session.respond({ hertz: 700, ms: 200, words: 'Hello, Ada.' }) },
  });
  await call.media.answer();
  await until(() => msOf(700, call.peer.sound()) >= 100);
  call.session.socket.close(1011, 'Internal error encountered.');
  await until(() => call.model.sessions.length === 2 && call.session.texts().length === 1);
  expect(call.session.told[0]?.setup?.systemInstruction.parts[0]?.text).toContain('agent: Hello, Ada.');
  expect(call.session.told[0]?.setup?.sessionResumption).toEqual({});
  await until(() => msOf(700, call.peer.sound()) >= 220);
  call.session.socket.close(1011, 'Resource has been exhausted (e.g. check quota).');
  await until(() =>
    expect(call.ended()).toMatchObject([{ reason: 'limit_reached', closeCode: 1011, text: /exhausted/ }]),
  );
});

test('a connection that the vendor gives up is changed for another one once it rests, which goes on from there', async () => {
  await using call = await openCall({
    behaviour: { asked: (session) => void session.respond({ hertz: 700, ms: 1000, words: 'Hello.' }) },
  });
  const first = call.session;
  await call.media.answer();
  await until(() => msOf(700, call.peer.sound()) >= 100);
  first.say({ sessionResumptionUpdate: { newHandle: 'handle-1', resumable: true } });
  first.say({ serverContent: { outputTranscription: { text: ' And more.' } } });
  first.say({ goAway: { timeLeft: '10s' } });
  await call.media.digit('1');
  await until(() => first.texts().length === 2);
  expect(call.model.sessions).toHaveLength(1);
  first.say({ serverContent: { turnComplete: true } });
  await until(() => call.model.sessions.length === 2 && call.session.told.length > 1);
  expect(call.session.told[0]?.setup?.sessionResumption).toEqual({ handle: 'handle-1' });
  expect(call.session.texts()).toEqual([]);
  await call.peer.speak(tone(400, 4000));
  await until(() => msOf(400, call.session.heard()) >= 100);
  // It is no break: that is still to come.
  call.session.socket.close(1011);
  await until(() => call.model.sessions.length === 3 && call.session.texts().length === 1);
});

test('what a message tells beside the end of a turn is of its connection, though that is then given up', async () => {
  await using call = await openCall({
    behaviour: {
      asked: (session) => session.say({ serverContent: { outputTranscription: { text: 'One moment.' } } }),
      answered: (session) => session.say({ serverContent: { turnComplete: true } }),
    },
  });
  const first = call.session;
  await call.media.answer();
  await until(() => first.texts().length === 1);
  first.say({ goAway: { timeLeft: '10s' } });
  first.say({
    serverContent: { turnComplete: true, turnCompleteReason: 'BLOCKLIST' },
    toolCall: { functionCalls: [{ id: 'c', name: 'note', args: {} }] },
  });
  await until(() => expect(first.outputs()).toEqual([['note', 'done']]));
  await until(() => call.model.sessions.length === 2);
  expect(call.ended()).toEqual([]);
});

test('one that can not be resumed goes on with what was said', async () => {
  await using call = await openCall({
    behaviour: {
      asked: (session) => void session.respond({ hertz: 700, ms: 200, words: 'Hello, Ada.' }),
      close: (session) =>
        session.told[0]?.setup?.sessionResumption?.handle === 'stale'
          ? { code: 1007, reason: 'Request contains an invalid argument.' }
          : undefined,
    },
  });
  await call.media.answer();
  await until(() => msOf(700, call.peer.sound()) >= 100);
  call.session.say({ sessionResumptionUpdate: { newHandle: 'stale', resumable: true } });
  call.session.say({ goAway: { timeLeft: '10s' } });
  await until(() => call.model.sessions.length === 3 && call.session.told.length > 1);
  expect(call.session.told[0]?.setup?.systemInstruction.parts[0]?.text).toContain('agent: Hello, Ada.');
  expect(call.session.texts()).toEqual([]);
});

test('garbage is counted and ignored; a thousand tools a second are refused, and end its part', async () => {
  await using call = await openCall({ behaviour: { asked: () => {} } });
  await call.media.answer();
  const { session } = call;
  const texts = ['{', '[]', 'null', '\0', '['.repeat(100_000), JSON.stringify({ toolCall: 'x'.repeat(300_000) })];
  for (const text of texts) session.socket.send(text);
  for (let i = 0; i < 1200; i += 1)
    session.say({ toolCall: { functionCalls: [{ id: `c${i}`, name: 'note', args: {} }] } });
  await until(() =>
    expect(call.ended()).toMatchObject([{ reason: 'too_large', text: 'It called tools without end.' }]),
  );
  expect(call.asked.length).toBeLessThanOrEqual(15);
  expect((await call.close()).voice['messagesIgnored']).toBe(texts.length);
});
