import { expect, test } from 'vitest';
import { until } from '../../../until.ts';
import { testPlane } from '../plane.ts';
import { msOf, tone } from '../tone.ts';
import { startOpenaiModel } from './openai-model.ts';
import { KEY, realtimeCalls } from './realtime-call.ts';

const plane = testPlane();

const openCall = realtimeCalls(plane, startOpenaiModel, { protocol: 'openai_realtime', model: 'gpt-realtime-2' });

test('it is told how to be while the phone rings, speaks at the answer, and both hear each other', async () => {
  await using call = await openCall({ ask: { firstMessage: 'Hello, Ada.', voice: 'marin', language: 'en' } });
  const { session, peer } = call;
  expect(call.connected).toEqual({ connected: true });
  expect(session.request.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(session.request.url).toBe('/v1/realtime?model=gpt-realtime-2');
  expect(session.told.map(({ type }) => type)).toEqual(['session.update']);
  await call.media.answer();
  await until(() => msOf(700, peer.sound()) >= 40);
  expect(session.of('response.create')).toMatchObject([
    { response: { instructions: expect.stringContaining('Hello, Ada.') } },
  ]);
  await peer.speak(tone(400, 8000));
  await until(() => msOf(400, session.heard()) >= 940 && msOf(700, peer.sound()) >= 980);
  await call.media.digit('5');
  await until(() => expect(session.told).toContainEqual(expect.objectContaining({ type: 'conversation.item.create' })));
});

test('a callee that speaks is not talked over: what waits is cleared, the model is told what was heard, and the transcript is cut', async () => {
  const words = 'one two three four five six seven eight nine ten';
  await using call = await openCall({
    behaviour: { asked: (session) => void session.respond({ hertz: 700, ms: 10_000, words }) },
  });
  const { session, peer } = call;
  await call.media.answer();
  await until(() => msOf(700, peer.sound()) >= 2000);
  session.hears('Stop, please.');
  await until(() => session.of('conversation.item.truncate').length > 0);
  const after = peer.heard.length;
  await until(() => peer.heard.length > after + 15);
  const heard = msOf(700, peer.sound());
  const [told] = session.of('conversation.item.truncate');
  expect(Math.abs(Number(told!['audio_end_ms']) - heard)).toBeLessThanOrEqual(60);
  await call.close();
  await until(() => call.transcript() !== undefined);
  expect(call.transcript()).toMatchObject([
    { role: 'agent', text: expect.stringMatching(/^one two/), interrupted: true },
    { role: 'person', text: 'Stop, please.' },
  ]);
  expect(JSON.stringify(call.transcript())).not.toContain('four');
});

test('it hangs up by its tool, once its last words were heard, unless the callee speaks again', async () => {
  let responses = 0;
  await using call = await openCall({
    behaviour: {
      asked: (session) => {
        responses += 1;
        if (responses === 2) session.respond({ hertz: 700, ms: 200, words: 'Yes?' });
        else session.respond({ hertz: 1000, ms: 1500, words: 'Goodbye.', tools: { end_call: {} } });
      },
    },
  });
  const { session, peer, events } = call;
  await call.media.answer();
  await until(() => msOf(1000, peer.sound()) >= 200);
  session.hears('Wait!');
  await until(() => msOf(700, peer.sound()) >= 180);
  expect(events.some(({ type }) => type === 'voice_ended')).toBe(false);
  const before = msOf(1000, peer.sound());
  session.respond({ hertz: 1000, ms: 1500, words: 'Goodbye then.', tools: { end_call: {} } });
  await until(() => expect(events).toContainEqual({ type: 'voice_ended', end: { reason: 'hung_up' } }));
  expect(msOf(1000, peer.sound()) - before).toBeGreaterThanOrEqual(1460);
});

test('tools are used by the process, and what came of them is told to the model and stands in the transcript', async () => {
  await using call = await openCall({
    behaviour: { asked: () => {} },
    answer: ({ name }) => {
      if (name === 'note') throw new Error('That is not possible.');
      return { output: 'done', isDone: true };
    },
  });
  const { session, asked } = call;
  await call.media.answer();
  session.respond({ tools: { note: { a: 1 }, record_result: { summary: 'x' }, unknown: {} } });
  const outputs = () => session.of('conversation.item.create').map(({ item }) => (item as { output?: string }).output);
  await until(() => outputs().length === 3);
  expect(outputs().toSorted()).toEqual(['That is not possible.', 'There is no such tool.', 'done']);
  expect(asked).toEqual([
    { type: 'use_tool', id: expect.any(String), name: 'note', args: '{"a":1}' },
    { type: 'use_tool', id: expect.any(String), name: 'record_result', args: '{"summary":"x"}' },
  ]);
  await until(() => session.of('response.create').length === 2);
  await call.close();
  await until(() => call.transcript() !== undefined);
  expect(call.transcript()).toHaveLength(3);
  expect(call.transcript()).toContainEqual(
    expect.objectContaining({ role: 'system', text: 'note {"a":1}: That is not possible.' }),
  );
});

test('after the end it is asked for what is missing, and the session is closed', async () => {
  await using call = await openCall({
    ask: { asksFor: 'record_result' },
    behaviour: {
      asked: (session, { response }) => {
        const isAsked = (response as { tool_choice?: object } | undefined)?.tool_choice !== undefined;
        if (isAsked) session.respond({ tools: { record_result: { summary: 'Fine.' } } });
        else session.respond({ hertz: 700, ms: 4000, words: 'This is a sentence of which the person hears little.' });
      },
    },
  });
  await call.media.answer();
  await until(() => msOf(700, call.peer.sound()) >= 900);
  await call.close();
  await until(() => call.session.socket.readyState === 3);
  // It is told nothing that it would speak of, and what nobody has heard was not said.
  expect(call.session.of('response.create')).toHaveLength(2);
  await until(() => call.asked.at(-1)!.over?.isAll === true);
  const { result, over } = call.asked.at(-1)!;
  expect(result!.transcript![0]).toMatchObject({ text: expect.not.stringContaining('person'), interrupted: true });
  expect(over!.usage).toMatchObject({ inputTokens: 200, outputTokens: 100 });
  expect(call.asked.map(({ type, name }) => [type, name])).toContainEqual(['use_tool', 'record_result']);
});

test.each([
  [401, 'rejected'],
  [429, 'limit_reached'],
])('a handshake that is answered with %i is %s, and nothing says the key', async (refuse, reason) => {
  await using call = await openCall({ behaviour: { refuse } });
  expect(call.connected).toMatchObject({ connected: false, reason, statusCode: refuse });
  expect(JSON.stringify(call.connected)).not.toContain(KEY);
});

test.each([
  [{ type: 'invalid_request_error', code: 'model_not_found', message: `No such model for ${KEY}.` }, 'rejected'],
  [{ type: 'insufficient_quota', message: 'You have no credit.' }, 'limit_reached'],
])('a session that is refused says why: %j', async (fault, reason) => {
  await using call = await openCall({ behaviour: { fault } });
  const text = `The model refused: ${fault.message.replace(KEY, '…')}`;
  expect(call.connected).toEqual({ connected: false, reason, text });
});

test('a session that breaks is opened once more with what was said, and the second break is the end', async () => {
  await using call = await openCall({
    behaviour: { asked: (session) => void session.respond({ hertz: 700, ms: 200, words: 'Hello, Ada.' }) },
  });
  await call.media.answer();
  await until(() => msOf(700, call.peer.sound()) >= 180);
  call.session.socket.close(1000);
  await until(() => call.model.sessions.length === 2 && call.session.of('response.create').length === 1);
  const { instructions } = call.session.of('session.update')[0]!['session'] as { instructions: string };
  expect(instructions).toContain('agent: Hello, Ada.');
  await until(() => msOf(700, call.peer.sound()) >= 360);
  call.session.socket.close(1011, 'Gone');
  await until(() =>
    expect(call.events).toContainEqual({
      type: 'voice_ended',
      end: { reason: 'crashed', closeCode: 1011, text: 'Gone' },
    }),
  );
});

test('a tool that is at work when a session breaks is told to the next, which would use it again else', async () => {
  let finish: (answer: object) => void = () => {};
  const working = new Promise<object>((resolve) => {
    finish = resolve;
  });
  await using call = await openCall({
    behaviour: { asked: () => {} },
    answer: ({ type }) => (type === 'use_tool' ? working : undefined),
  });
  await call.media.answer();
  call.session.respond({ tools: { note: { a: 1 } } });
  await until(() => call.asked.length === 1);
  call.session.socket.close(1000);
  await until(() => call.model.sessions.length === 2 && call.session.of('session.update').length === 1);
  const { instructions } = call.session.of('session.update')[0]!['session'] as { instructions: string };
  expect(instructions).toContain('system: note {"a":1}');
  finish({ output: 'It is noted.', isDone: true });
});

test('one that says goodbye, asks twice for the end and closes has hung up', async () => {
  await using call = await openCall({
    behaviour: {
      asked: (session) => {
        session.respond({ hertz: 1000, ms: 600, words: 'Goodbye.', tools: { end_call: {} } });
        session.respond({ tools: { end_call: {} } });
      },
    },
  });
  await call.media.answer();
  await until(() => msOf(1000, call.peer.sound()) >= 100);
  call.session.socket.close(1000);
  await until(() => expect(call.events).toContainEqual({ type: 'voice_ended', end: { reason: 'hung_up' } }));
  expect(call.model.sessions).toHaveLength(1);
  expect(msOf(1000, call.peer.sound())).toBeGreaterThanOrEqual(560);
});

test('one that asks twice for the end is spoken to again', async () => {
  let responses = 0;
  await using call = await openCall({
    behaviour: {
      asked: (session) => {
        responses += 1;
        if (responses === 2) return void session.respond({ hertz: 700, ms: 200, words: 'Yes?' });
        session.respond({ hertz: 1000, ms: 2000, words: 'Goodbye.', tools: { end_call: {} } });
        session.respond({ tools: { end_call: {} } });
      },
    },
  });
  await call.media.answer();
  await until(() => msOf(1000, call.peer.sound()) >= 100);
  call.session.hears('Wait!');
  await until(() => msOf(700, call.peer.sound()) >= 180);
});

test('garbage is counted and ignored; a thousand tools a second are refused, and end its part', async () => {
  await using call = await openCall({ behaviour: { asked: () => {} } });
  await call.media.answer();
  const { session } = call;
  for (const text of ['{', '[]', 'null', '\0', '['.repeat(100_000)]) session.socket.send(text);
  session.socket.send(Buffer.alloc(1000));
  for (let i = 0; i < 1200; i += 1)
    session.say('response.function_call_arguments.done', {
      ...{ response_id: 'r', item_id: `i${i}`, output_index: 0, call_id: `c${i}`, name: 'note', arguments: '{}' },
    });
  await until(() =>
    expect(call.events).toContainEqual({
      type: 'voice_ended',
      end: { reason: 'too_large', text: 'It called tools without end.' },
    }),
  );
  expect(call.asked.length).toBeLessThanOrEqual(15);
  expect((await call.close()).voice['messagesIgnored']).toBe(6);
});
