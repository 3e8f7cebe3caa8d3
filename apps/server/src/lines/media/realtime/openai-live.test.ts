import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openaiLive } from './openai-live.ts';
import type { ModelEvent } from './speech-model.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

interface Sent {
  type: string;
  content?: string;
}

/** A session, and what it has sent. */
function session() {
  const sent: Sent[] = [];
  const terms = { model: 'gpt-live-1', backendModel: 'gpt-6-luna', instructions: 'Be brief.', tools: [] };
  const model = openaiLive.session(terms, (message) => sent.push(message as Sent));
  const reads = (event: object) => model.read(Buffer.from(JSON.stringify(event)));
  const works = (event: object) => reads({ type: 'response.event', event });
  return { model, sent, types: () => sent.map(({ type }) => type), reads, works };
}

const loud = Buffer.alloc(160, 0x80);
const silent = Buffer.alloc(160, 0xff);
const sound = (ulaw: Buffer) => ({ type: 'session.output_audio.delta', delta: ulaw.toString('base64') });
const itemOf = (events: readonly ModelEvent[] | undefined) => (events?.[0] as { item?: string } | undefined)?.item;

test('a silence ends what it says, and silence that it sends all the time is not played', () => {
  const { model, reads } = session();
  expect(itemOf(reads(sound(loud)))).toBe('turn 1');
  expect(itemOf(reads(sound(silent)))).toBe('turn 1');
  vi.advanceTimersByTime(900);
  expect(itemOf(reads(sound(loud)))).toBe('turn 1');
  expect(model.hear(silent)).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(reads(sound(silent))).toEqual([]);
  expect(model.hear(silent)).toEqual([{ type: 'rested' }]);
  expect(model.hear(silent)).toEqual([]);
  expect(itemOf(reads(sound(loud)))).toBe('turn 2');
});

test('what is interrupted is not heard until the callee has stopped, for some seconds at most', () => {
  const { model, reads } = session();
  const speaks = () => Array.from({ length: 3 }, () => model.hear(loud)).flat();
  expect(itemOf(reads(sound(loud)))).toBe('turn 1');
  expect(speaks()).toEqual([{ type: 'speech_started', item: 'person 2', cuts: 'turn 1' }]);
  expect(itemOf(reads(sound(loud)))).toBe('turn 1');
  const pauses = () => {
    for (let frame = 0; frame < 15; frame += 1) model.hear(Buffer.alloc(160, 0xff));
  };
  pauses();
  expect(speaks()).toMatchObject([{ cuts: 'turn 1' }]);
  expect(itemOf(reads(sound(loud)))).toBe('turn 1');
  pauses();
  expect(itemOf(reads(sound(loud)))).toBe('turn 2');
  vi.advanceTimersByTime(100);
  for (let frame = 0; frame < 200; frame += 1) model.hear(Buffer.alloc(160, 0xff));
  speaks();
  expect(itemOf(reads(sound(loud)))).toBe('turn 2');
  vi.advanceTimersByTime(900);
  expect(itemOf(reads(sound(loud)))).toBe('turn 2');
  for (let i = 0; i < 3; i += 1) {
    vi.advanceTimersByTime(700);
    reads(sound(loud));
  }
  expect(itemOf(reads(sound(loud)))).toBe('turn 3');
});

test('it goes on once all tools that it called are answered, and its response is over', () => {
  const { model, types, works } = session();
  const called = (id: string) =>
    works({
      type: 'response.output_item.done',
      item: { type: 'function_call', call_id: id, name: 'a', arguments: '{}' },
    });
  works({ type: 'response.created', response: {} });
  expect(called('1')).toEqual([{ type: 'tool', id: '1', name: 'a', args: '{}' }]);
  called('2');
  model.answer('1', 'ok');
  const usage = { input_tokens: 3, output_tokens: 1, input_tokens_details: { cached_tokens: 2 } };
  expect(works({ type: 'response.completed', response: { usage } })).toEqual([
    { type: 'used', inputTokens: 3, outputTokens: 1, cachedInputTokens: 2 },
  ]);
  expect(types()).toEqual(['response.item.create']);
  model.answer('2', 'ok');
  model.answer('2', 'again');
  expect(types()).toEqual(['response.item.create', 'response.item.create', 'response.create']);
  expect(works({ type: 'response.output_item.done', item: { type: 'message' } })).toEqual([]);
});

test('a request to go on that is refused is made again later', () => {
  const { model, types, reads, works } = session();
  const creates = () => types().filter((type) => type === 'response.create').length;
  model.askFor('record_result', 'The call has ended.');
  expect(creates()).toBe(1);
  const error = { code: 'x', type: 'invalid_request_error', message: 'Busy.', client_event_id: 'go-on' };
  expect(reads({ type: 'error', error })).toEqual([{ type: 'fault', limit: false, isSilent: false, text: 'Busy.' }]);
  expect(creates()).toBe(1);
  works({ type: 'response.completed', response: {} });
  expect(creates()).toBe(2);
});

test('words that are too many for one message are sent in pieces', () => {
  const { model, sent } = session();
  const words = 'Grüß Gott, hier spricht die Praxis. '.repeat(50);
  model.speak(words);
  model.speak('x'.repeat(3000));
  expect(sent.map(({ content }) => content).join('')).toBe(words + 'x'.repeat(3000));
  for (const { content } of sent) expect(Buffer.byteLength(content!)).toBeLessThanOrEqual(1000);
  expect(sent.filter(({ type }) => type === 'session.commentary.append')).toHaveLength(2);
});

test('what means nothing is undefined, and fields of another type are none', () => {
  const { model, reads, works } = session();
  for (const text of ['', '{', '[]', 'null', '{"type":7}', '['.repeat(2_000_000)])
    expect(model.read(Buffer.from(text))).toBeUndefined();
  expect(works({ type: 'response.output_item.done', item: { arguments: 'x'.repeat(10_000_000) } })).toBeUndefined();
  expect(works({ type: 'response.completed', response: 7 })).toEqual([]);
  expect(reads({ type: 'response.event', event: 7 })).toEqual([]);
  expect(reads({ type: 'info', code: 'x' })).toEqual([]);
  expect(reads({ type: 'session.closed', reason: 'expired' })).toEqual([{ type: 'moves' }]);
});
