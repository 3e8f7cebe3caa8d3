import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { geminiLive } from './gemini-live.ts';
import type { ModelEvent, SessionTerms } from './speech-model.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A session, and what it has sent. */
function session(terms: Partial<SessionTerms> = {}) {
  const sent: object[] = [];
  const all = { model: 'gemini-3.8-live', instructions: 'Be brief.', tools: [], ...terms };
  const model = geminiLive.session(all, (message) => sent.push(message));
  const reads = (message: object) => model.read(Buffer.from(JSON.stringify(message)));
  const content = (serverContent: object) => reads({ serverContent })!;
  return { model, sent, reads, content };
}

const sound = (bytes: number, mimeType = 'audio/pcm;rate=24000') => ({
  modelTurn: { parts: [{ inlineData: { mimeType, data: Buffer.alloc(bytes, 1).toString('base64') } }] },
});
const itemsOf = (events: readonly ModelEvent[]) => events.map((event) => ('item' in event ? event.item : event.type));

test('a model is named in the setup, and its key stands in no address', () => {
  const { urlOf, headersOf, url } = geminiLive;
  expect(urlOf(url, 'gemini-3.8-live')).toBe(url);
  expect(headersOf(url, 'key')).toEqual({ 'x-goog-api-key': 'key' });
  expect(headersOf(url, undefined)).toEqual({});
  const { model, sent } = session({ model: 'publishers/google/models/a', resume: 'handle' });
  model.begin();
  expect(sent).toMatchObject([
    { setup: { model: 'publishers/google/models/a', sessionResumption: { handle: 'handle' } } },
  ]);
});

test('sound of 24 kHz becomes that of a telephone, in messages of any length', () => {
  const { content, reads } = session();
  expect(content(sound(960))).toMatchObject([{ type: 'sound', item: 'turn 1', ulaw: { length: 160 } }]);
  // Ten seconds, which are taken out before the rest is parsed, and a minute.
  expect(content(sound(480_000))).toMatchObject([{ type: 'sound', item: 'turn 1', ulaw: { length: 80_000 } }]);
  expect(content(sound(2_880_000))).toBeUndefined();
  expect(content(sound(640, 'audio/pcm;rate=16000'))).toMatchObject([{ ulaw: { length: 160 } }]);
  for (const mimeType of ['audio/pcm;rate=47999', 'audio/pcm;rate=1', 'audio/pcm;rate=99999999999'])
    expect(content(sound(960, mimeType))).toEqual([]);
  const args = { data: 'x'.repeat(20_000) };
  expect(reads({ toolCall: { functionCalls: [{ id: 'a', name: 'note', args }] } })).toContainEqual({
    ...{ type: 'tool', id: 'a', name: 'note', args: JSON.stringify(args) },
  });
});

test('turns of both sides are told apart, though words come late', () => {
  const { content } = session();
  const words = (text: string) => itemsOf(content({ outputTranscription: { text } }));
  const heard = (text: string) => itemsOf(content({ inputTranscription: { text } }));
  expect(itemsOf(content(sound(960)))).toEqual(['turn 1']);
  expect(words('Hello.')).toEqual(['turn 1']);
  vi.advanceTimersByTime(5000);
  expect(itemsOf(content({ interrupted: true }))).toEqual(['person 2']);
  expect(words('I was')).toEqual(['turn 1']);
  expect(content({ turnComplete: true })).toEqual([{ type: 'rested' }]);
  expect(heard('Yes')).toEqual(['person 2']);
  expect(words('Fine')).toEqual(['turn 2']);
  expect(itemsOf(content(sound(960)))).toEqual(['turn 2']);
  expect(heard(', please.')).toEqual(['person 2']);
  vi.advanceTimersByTime(5000);
  expect(heard('And')).toEqual(['person 3']);
  // Another vendor may say that it was interrupted, and never that the turn is over.
  content({ interrupted: true });
  expect(itemsOf(content(sound(960)))).toEqual(['turn 3']);
});

test('what is at the end of its sound is said too, and its turn is over', () => {
  const { content } = session();
  const events = [...content(sound(9600)), ...content({ generationComplete: true, turnComplete: true })];
  expect(events.map(({ type }) => type)).toEqual(['sound', 'sound', 'rested']);
  const bytes = events.reduce((all, event) => all + (event.type === 'sound' ? event.ulaw.length : 0), 0);
  expect(Math.abs(bytes - 1600)).toBeLessThan(80);
});

test('a tool is answered by its name, unless the model has taken it back', () => {
  const { model, sent, reads } = session();
  const calls = [{ id: 'a', name: 'one', args: { x: 1 } }, { id: 'b', name: 'two' }, { name: 'three' }];
  const events = reads({ toolCall: { functionCalls: calls } })!;
  expect(events).toEqual([
    { type: 'tool', id: 'a', name: 'one', args: '{"x":1}' },
    { type: 'tool', id: 'b', name: 'two', args: '{}' },
    { type: 'tool', id: expect.any(String), name: 'three', args: '{}' },
  ]);
  const { id: unnamed } = events[2] as { id: string };
  expect(reads({ toolCallCancellation: { ids: ['b'] } })).toEqual([{ type: 'withdrawn', id: 'b' }]);
  for (const id of ['a', 'b', unnamed, 'unknown']) model.answer(id, 'ok');
  expect(sent).toEqual([
    { toolResponse: { functionResponses: [{ id: 'a', name: 'one', response: { output: 'ok' } }] } },
    { toolResponse: { functionResponses: [{ name: 'three', response: { output: 'ok' } }] } },
  ]);
});

test('uses of a tool that the vendor does not name are told apart, also in another session', () => {
  const use = { toolCall: { functionCalls: [{ name: 'one' }, { name: 'one' }] } };
  const ids = [session(), session()].flatMap(({ reads }) => reads(use)!.map((event) => (event as { id: string }).id));
  expect(new Set(ids).size).toBe(4);
  expect(ids).not.toContain('');
});

test('what it has used, where it can be resumed and that it must move are read', () => {
  const { model, reads } = session();
  const usage = { promptTokenCount: 7, toolUsePromptTokenCount: 1, responseTokenCount: 3, thoughtsTokenCount: 2 };
  expect(reads({ usageMetadata: usage })).toEqual([{ type: 'used', inputTokens: 8, outputTokens: 5 }]);
  const promptTokensDetails = [
    { modality: 'TEXT', tokenCount: 3 },
    { modality: 'AUDIO', tokenCount: 4 },
  ];
  const parts = { promptTokensDetails, responseTokensDetails: [], cachedContentTokenCount: 2 };
  expect(reads({ usageMetadata: { ...usage, ...parts } })).toMatchObject([
    { inputAudioTokens: 4, outputAudioTokens: 0, cachedInputTokens: 2 },
  ]);
  reads({ sessionResumptionUpdate: { newHandle: 'h', resumable: true } });
  expect(model.resumption).toBe('h');
  reads({ sessionResumptionUpdate: { resumable: false } });
  expect(model.resumption).toBeUndefined();
  reads({ sessionResumptionUpdate: { newHandle: 'h'.repeat(10_000), resumable: true } });
  expect(model.resumption).toBeUndefined();
  expect(reads({ goAway: { timeLeft: '9s' } })).toEqual([{ type: 'moves' }]);
  expect(reads({ serverContent: { turnComplete: true, turnCompleteReason: 'RESPONSE_REJECTED' } })).toEqual([
    { type: 'rested' },
    { type: 'fault', limit: false, isSilent: true, text: 'RESPONSE_REJECTED' },
  ]);
});

test('what means nothing is undefined or nothing, and fields of another type are none', () => {
  const { model, reads } = session();
  for (const text of [
    '',
    '{',
    '[]',
    'null',
    '"a"',
    '['.repeat(2_000_000),
    `{"inlineData":{"data":"${'A'.repeat(20_000)}`,
  ])
    expect(model.read(Buffer.from(text))).toBeUndefined();
  expect(reads({ toolCall: { functionCalls: [{ name: 'a', args: 'x'.repeat(10_000_000) }] } })).toBeUndefined();
  expect(reads({ toolCall: { functionCalls: Array(65).fill({}) } })).toBeUndefined();
  expect(reads({ fromTomorrow: {} })).toEqual([]);
  expect(reads({ serverContent: { modelTurn: 7, inputTranscription: { text: 7 }, interrupted: 'yes' } })).toEqual([]);
  expect(
    reads({ serverContent: { modelTurn: { parts: [7, null, { inlineData: [] }, { text: 'Hm', thought: true }] } } }),
  ).toEqual([]);
  expect(reads({ toolCall: 7, toolCallCancellation: { ids: 'a' }, usageMetadata: 7 })).toMatchObject([
    { type: 'used', inputTokens: 0 },
  ]);
});

test.each([
  ['You exceeded your current quota, please check your plan and billing details.', 'limit'],
  ['Resource has been exhausted (e.g. check quota).', 'limit'],
  ['The model is overloaded. Please try again later.', 'limit'],
  ['API key not valid. Please pass a valid API key.', 'key'],
  ["Method doesn't allow unregistered callers (callers without established identity).", 'key'],
  ['Request contains an invalid argument.', undefined],
])('a close with "%s" is of %s', (text, kind) => {
  expect(geminiLive.faultOf!(text)).toBe(kind);
});
