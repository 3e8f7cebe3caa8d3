import { expect, test } from 'vitest';
import { openaiRealtime } from './openai-realtime.ts';
import type { SpeechModel } from './speech-model.ts';

interface Sent {
  type: string;
  [field: string]: unknown;
}

/** A session, and what it has sent. */
function session(): { model: SpeechModel; sent: Sent[]; types: () => string[]; reads: (event: object) => unknown } {
  const sent: Sent[] = [];
  const terms = { model: 'gpt-realtime-2', instructions: 'Be brief.', voice: 'marin', language: 'de', tools: [] };
  const model = openaiRealtime.session(terms, (message) => sent.push(message as Sent));
  const reads = (event: object) => model.read(Buffer.from(JSON.stringify(event)));
  return { model, sent, types: () => sent.map(({ type }) => type), reads };
}

test('a model is named in the address, unless that names one, and its key goes as its host wants it', () => {
  const { urlOf, headersOf, url } = openaiRealtime;
  expect(urlOf(url, 'gpt-realtime-2')).toBe('wss://api.openai.com/v1/realtime?model=gpt-realtime-2');
  expect(urlOf('wss://a.example/x?model=own&b=1', 'other')).toBe('wss://a.example/x?model=own&b=1');
  expect(headersOf(url, 'sk-1')).toEqual({ Authorization: 'Bearer sk-1' });
  expect(headersOf('wss://me.openai.azure.com/openai/v1/realtime', 'k')).toEqual({ 'api-key': 'k' });
  expect(headersOf('ws://localhost:8765/v1/realtime', undefined)).toEqual({});
});

test('a session begins with its terms, µ-law both ways', () => {
  const { model, sent, reads } = session();
  model.begin();
  const format = { type: 'audio/pcmu' };
  expect(sent).toMatchObject([
    {
      type: 'session.update',
      session: {
        type: 'realtime',
        instructions: 'Be brief.',
        audio: { input: { format, transcription: { language: 'de' } }, output: { format, voice: 'marin' } },
      },
    },
  ]);
  expect(reads({ type: 'session.updated', session: {} })).toEqual([{ type: 'ready' }]);
});

test('sound, words and turns are read', () => {
  const { reads } = session();
  const ulaw = Buffer.from([1, 2, 3]);
  const delta = ulaw.toString('base64');
  expect(reads({ type: 'response.output_audio.delta', item_id: 'a', delta })).toEqual([
    { type: 'sound', item: 'a', ulaw },
  ]);
  const long = Buffer.alloc(600_000, 0x7f);
  const event = { item_id: 'a', type: 'response.output_audio.delta', delta: long.toString('base64'), output_index: 0 };
  expect(reads(event)).toEqual([{ type: 'sound', item: 'a', ulaw: long }]);
  expect(reads({ type: 'response.output_audio_transcript.delta', item_id: 'a', delta: 'Hi' })).toEqual([
    { type: 'words', item: 'a', text: 'Hi' },
  ]);
  const completed = 'conversation.item.input_audio_transcription.completed';
  expect(reads({ type: completed, item_id: 'b', transcript: 'Yes.' })).toEqual([
    { type: 'heard', item: 'b', text: 'Yes.' },
  ]);
  expect(reads({ type: 'input_audio_buffer.speech_started', item_id: 'b' })).toEqual([
    { type: 'speech_started', item: 'b' },
  ]);
  expect(reads({ type: 'rate_limits.updated', rate_limits: [] })).toEqual([]);
});

test('what means nothing is undefined, and fields of another type are none', () => {
  const { model, reads } = session();
  const texts = ['', '{', '[]', 'null', '"a"', '{"type":7}', '['.repeat(2_000_000), `{"delta":"${'A'.repeat(20_000)}`];
  for (const text of texts) expect(model.read(Buffer.from(text))).toBeUndefined();
  const words = { type: 'response.function_call_arguments.done', arguments: 'x'.repeat(10_000_000) };
  expect(reads(words)).toBeUndefined();
  expect(reads({ type: 'response.output_audio.delta', item_id: 7, delta: {} })).toEqual([
    { type: 'sound', item: '', ulaw: Buffer.alloc(0) },
  ]);
  expect(reads({ type: 'response.done', response: 7 })).toEqual([{ type: 'rested' }]);
});

test('IDs that are too long to be kept are none', () => {
  const { reads } = session();
  const long = 'x'.repeat(200_000);
  expect(reads({ type: 'input_audio_buffer.speech_started', item_id: long })).toEqual([
    { type: 'speech_started', item: '' },
  ]);
  const called = { type: 'response.function_call_arguments.done', call_id: long, name: 'a', arguments: '{}' };
  expect(reads(called)).toEqual([{ type: 'tool', id: '', name: 'a', args: '{}' }]);
});

test('it goes on once all tools that it called are answered, and its response is over', () => {
  const { model, types, reads } = session();
  const called = 'response.function_call_arguments.done';
  reads({ type: 'response.created', response: {} });
  expect(reads({ type: called, call_id: '1', name: 'a', arguments: '{}' })).toEqual([
    { type: 'tool', id: '1', name: 'a', args: '{}' },
  ]);
  reads({ type: called, call_id: '2', name: 'b', arguments: '{}' });
  model.answer('1', 'ok');
  expect(types()).toEqual(['conversation.item.create']);
  reads({ type: 'response.done', response: {} });
  expect(types()).not.toContain('response.create');
  model.answer('2', 'ok');
  expect(types().at(-1)).toBe('response.create');
  // Another one would be refused while this one is made.
  model.tell('The person pressed 5.');
  expect(types().filter((type) => type === 'response.create')).toHaveLength(1);
  reads({ type: 'response.created', response: {} });
  reads({ type: 'response.done', response: {} });
  expect(types().filter((type) => type === 'response.create')).toHaveLength(2);
});

test('a response that is refused since another is made is asked for after it, and one that fails is over', () => {
  const { model, types, reads } = session();
  const creates = () => types().filter((type) => type === 'response.create').length;
  model.speak();
  expect(reads({ type: 'error', error: { code: 'conversation_already_has_active_response', message: 'x' } })).toEqual(
    [],
  );
  expect(creates()).toBe(1);
  reads({ type: 'response.done', response: {} });
  expect(creates()).toBe(2);
  expect(reads({ type: 'error', error: { type: 'invalid_request_error', message: 'No.' } })).toEqual([
    { type: 'fault', limit: false, isSilent: false, text: 'No.' },
  ]);
  model.speak('Say hello.');
  expect(creates()).toBe(3);
});

test('a fault for want of rate or quota is told as one', () => {
  const { reads } = session();
  const failed = (code: string) =>
    reads({ type: 'response.done', response: { status: 'failed', status_details: { error: { code, message: 'm' } } } });
  expect(failed('rate_limit_exceeded')).toContainEqual({ type: 'fault', limit: true, isSilent: true, text: 'm' });
  expect(failed('insufficient_quota')).toContainEqual({ type: 'fault', limit: true, isSilent: true, text: 'm' });
  expect(failed('server_error')).toContainEqual({ type: 'fault', limit: false, isSilent: true, text: 'm' });
});

test('what a response has used is told, with its sound apart if the vendor tells', () => {
  const { reads } = session();
  const done = (usage: object) => reads({ type: 'response.done', response: { status: 'completed', usage } });
  const usage = {
    ...{ input_tokens: 100, output_tokens: 50 },
    input_token_details: { audio_tokens: 60, text_tokens: 40, cached_tokens: 20 },
    output_token_details: { audio_tokens: 45, text_tokens: 5 },
  };
  const parts = { inputAudioTokens: 60, outputAudioTokens: 45, cachedInputTokens: 20 };
  expect(done(usage)).toContainEqual({ type: 'used', inputTokens: 100, outputTokens: 50, ...parts });
  const faulty = { input_tokens: 'many', output_tokens: -1, input_token_details: 7, output_token_details: null };
  expect(done(faulty)).toContainEqual({ type: 'used', inputTokens: 0, outputTokens: 0 });
});

test('it is told what was heard, and asked for a tool once the call is over', () => {
  const { model, sent, types, reads } = session();
  model.cut('a', 340);
  expect(sent).toEqual([{ type: 'conversation.item.truncate', item_id: 'a', content_index: 0, audio_end_ms: 340 }]);
  reads({ type: 'response.created', response: {} });
  model.askFor('record_result', 'The call is over.');
  expect(types().slice(1)).toEqual(['response.cancel', 'conversation.item.create']);
  reads({ type: 'response.done', response: { status: 'cancelled' } });
  expect(sent.at(-1)).toMatchObject({ response: { tool_choice: { type: 'function', name: 'record_result' } } });
});
