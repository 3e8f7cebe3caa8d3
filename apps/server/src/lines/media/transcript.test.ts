import { expect, test } from 'vitest';
import { Transcript } from './transcript.ts';

const at = Date.parse('2026-11-27T10:00:00Z');

test('turns stand in the order in which they began, whenever their words come', () => {
  const transcript = new Transcript();
  transcript.begin('a', 'agent', at);
  transcript.begin('b', 'person', at + 2000);
  transcript.note(at + 1000, 'opt_out: done');
  transcript.add('b', 'No, thank you.');
  transcript.add('a', 'Hello,');
  transcript.add('a', ' Ada.');
  expect(transcript.turns()).toEqual([
    { at: '2026-11-27T10:00:00.000Z', role: 'agent', text: 'Hello, Ada.' },
    { at: '2026-11-27T10:00:01.000Z', role: 'system', text: 'opt_out: done' },
    { at: '2026-11-27T10:00:02.000Z', role: 'person', text: 'No, thank you.' },
  ]);
});

test('a sentence that was interrupted is cut by the share that was heard, and what nobody heard is left out', () => {
  const transcript = new Transcript();
  for (const item of ['heard', 'cut', 'unheard']) transcript.begin(item, 'agent', at);
  transcript.add('heard', 'Good morning.');
  transcript.sound('heard', 8000, 0);
  transcript.add('cut', 'one two three four');
  transcript.sound('cut', 4000, 8000);
  transcript.sound('cut', 4000, 12_000);
  transcript.add('unheard', 'And another thing.');
  transcript.sound('unheard', 8000, 16_000);
  expect(transcript.cutAt(12_000)).toEqual([
    { item: 'cut', heard: 4000 },
    { item: 'unheard', heard: 0 },
  ]);
  expect(['heard', 'cut', 'unheard', 'other'].map((item) => transcript.isCut(item))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(transcript.cutAt(12_000)).toEqual([]);
  // What comes of it later is not heard, and counts.
  transcript.sound('cut', 8000, undefined);
  transcript.add('cut', ' five six seven eight');
  expect(transcript.turns().map(({ text, interrupted }) => [text, interrupted])).toEqual([
    ['Good morning.', undefined],
    ['one two', true],
  ]);
});

test('it is bounded', () => {
  const transcript = new Transcript();
  for (let turn = 0; turn < 3000; turn += 1) transcript.note(at, 'x'.repeat(1000));
  const turns = transcript.turns();
  expect(turns.length).toBeLessThanOrEqual(2000);
  expect(JSON.stringify(turns).length).toBeLessThan(1_048_576);
});
