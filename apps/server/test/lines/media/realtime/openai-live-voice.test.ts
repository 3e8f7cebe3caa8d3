import { expect, test } from 'vitest';
import { until } from '../../../until.ts';
import { testPlane } from '../plane.ts';
import { msOf, tone } from '../tone.ts';
import { startLiveModel } from './openai-live-model.ts';
import { KEY, realtimeCalls } from './realtime-call.ts';

const plane = testPlane();

const openCall = realtimeCalls(plane, startLiveModel, {
  protocol: 'openai_live',
  model: 'gpt-live-1',
  backendModel: 'gpt-6-luna',
});

test('it is told how to be while the phone rings, speaks at the answer, and both hear each other', async () => {
  await using call = await openCall({ ask: { firstMessage: 'Hello, Ada.', voice: 'marin' } });
  const { session, peer } = call;
  expect(call.connected).toEqual({ connected: true });
  expect(session.request.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(session.told).toMatchObject([
    {
      type: 'session.start',
      session: {
        model: 'gpt-live-1',
        instructions: expect.stringContaining('- end_call: Does it.'),
        delegation: { type: 'responses', responses: { model: 'gpt-6-luna' } },
        audio: { format: { type: 'audio/pcmu', rate: 8000 }, output: { voice: 'marin' } },
      },
    },
  ]);
  await call.media.answer();
  await until(() => msOf(700, peer.sound()) >= 500);
  expect(session.of('session.commentary.append')).toMatchObject([
    { content: expect.stringContaining('<words>Hello, Ada.</words>') },
  ]);
  await peer.speak(tone(400, 4000));
  await until(() => msOf(400, session.heard()) >= 200);
  await call.media.digit('5');
  await until(() => session.of('session.instructions.append').length === 1);
});

test('a callee that speaks is not talked over, though the model goes on, and the transcript is cut', async () => {
  const words = 'one two three four five six seven eight nine ten';
  let said = Promise.resolve();
  await using call = await openCall({
    behaviour: {
      asked: (session) => {
        said = session.speak({ hertz: 700, ms: 1600, words });
      },
    },
  });
  const { session, peer } = call;
  await call.media.answer();
  await until(() => msOf(700, peer.sound()) >= 400);
  const before = msOf(700, peer.sound());
  await peer.speak(tone(400, 8000));
  expect(msOf(700, peer.sound()) - before).toBeLessThan(700);
  session.hears('Stop, please.');
  await said;
  // It has heard that the callee stopped.
  await until(() => msOf(400, session.heard()) >= 400 && msOf(400, session.heard().subarray(-4000)) === 0);
  await session.speak({ hertz: 1000, ms: 400, words: 'Of course.' });
  await until(() => msOf(1000, peer.sound()) >= 200);
  await call.close();
  await until(() => call.transcript() !== undefined);
  const [first, ...others] = call.transcript() as { text: string }[];
  expect(first).toMatchObject({ role: 'agent', text: expect.stringMatching(/^one/), interrupted: true });
  expect(first!.text).not.toContain('nine');
  expect(others.map(({ text }) => text)).toEqual(['Stop, please.', expect.stringMatching(/^Of/)]);
});

test('tools are used by the process, and it goes on once all of them are answered', async () => {
  await using call = await openCall({
    behaviour: { asked: () => {} },
    answer: ({ name }) => {
      if (name === 'note') throw new Error('That is not possible.');
      return { output: 'done', isDone: true };
    },
  });
  const { session, asked } = call;
  await call.media.answer();
  session.work({ note: { a: 1 }, record_result: { summary: 'x' }, unknown: {} });
  await until(() => session.of('response.create').length === 1);
  expect(session.outputs().toSorted()).toEqual(['That is not possible.', 'There is no such tool.', 'done']);
  expect(asked.map(({ name }) => name)).toEqual(['note', 'record_result']);
  expect((await call.close()).voice).toMatchObject({ inputTokens: 100, outputTokens: 50, toolCalls: 3 });
});

test('it hangs up by its tool once it has fallen silent', async () => {
  await using call = await openCall({
    behaviour: {
      asked: (session) => {
        session.work({ end_call: {} });
        setTimeout(() => void session.speak({ hertz: 1000, ms: 800, words: 'Goodbye.' }), 300);
      },
    },
  });
  await call.media.answer();
  await call.peer.speak(Buffer.alloc(8 * 3000, 0xff));
  await until(() => expect(call.ended()).toEqual([{ reason: 'hung_up' }]));
  expect(msOf(1000, call.peer.sound())).toBeGreaterThanOrEqual(400);
});

test('after the end it is asked for what is missing, and the session is closed', async () => {
  await using call = await openCall({
    ask: { asksFor: 'record_result' },
    behaviour: { worked: (session) => session.work({ record_result: { summary: 'Fine.' } }) },
  });
  await call.media.answer();
  await until(() => msOf(700, call.peer.sound()) >= 60);
  await call.close();
  await until(() => call.session.socket.readyState === 3);
  expect(call.session.told.at(-1)).toEqual({ type: 'session.close' });
  expect(call.session.of('session.update')).toMatchObject([
    { session: { delegation: { responses: { tool_choice: { name: 'record_result' } } } } },
  ]);
  expect(call.asked).toContainEqual({
    type: 'use_tool',
    id: expect.any(String),
    name: 'record_result',
    args: '{"summary":"Fine."}',
  });
});

test.each([
  [{ code: 'model_not_found', type: 'invalid_request_error', message: `No such model for ${KEY}.` }, 'rejected'],
  [{ code: 'credit_balance_exhausted', type: 'billing', message: 'You have no credit.' }, 'limit_reached'],
])('a session that is refused says why: %j', async (fault, reason) => {
  await using call = await openCall({ behaviour: { fault } });
  const text = `The model refused: ${fault.message.replace(KEY, '…')}`;
  expect(call.connected).toEqual({ connected: false, reason, text });
});

test('a session that is over by its time is opened again, and one that breaks once more with what was said', async () => {
  await using call = await openCall({
    behaviour: { asked: (session) => void session.speak({ hertz: 700, ms: 200, words: 'Hello, Ada.' }) },
  });
  const { model, peer } = call;
  await call.media.answer();
  await until(() => msOf(700, peer.sound()) >= 60);
  const resource = { id: 'sess_1', expires_at: 1, model: 'gpt-live-1', status: 'active' };
  call.session.say('session.closed', { reason: 'expired', session: resource, usage: { seconds: 3600 } });
  call.session.socket.close(1000);
  await until(() => model.sessions.length === 2 && call.session.told.length > 0);
  const { instructions } = call.session.of('session.start')[0]!['session'] as { instructions: string };
  expect(instructions).toContain('agent: Hello, Ada.');
  await until(() => call.session.of('session.commentary.append').length === 1);
  call.session.socket.close(1011);
  await until(() => model.sessions.length === 3 && call.session.told.length > 0);
});

test('garbage is counted and ignored; a thousand tools a second are refused, and end its part', async () => {
  await using call = await openCall({ behaviour: { asked: () => {} } });
  await call.media.answer();
  const { session } = call;
  const texts = ['{', '[]', 'null', '\0', '{"type":7}', JSON.stringify({ type: 'error', x: 'x'.repeat(300_000) })];
  for (const text of texts) session.socket.send(text);
  for (let i = 0; i < 1200; i += 1) session.work({ note: {} });
  await until(() =>
    expect(call.ended()).toMatchObject([{ reason: 'too_large', text: 'It called tools without end.' }]),
  );
  expect(call.asked.length).toBeLessThanOrEqual(15);
  expect((await call.close()).voice['messagesIgnored']).toBe(texts.length);
});
