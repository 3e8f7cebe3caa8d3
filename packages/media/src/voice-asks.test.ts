import { expect, test } from 'vitest';
import { VoiceAsks } from './voice-asks.ts';

test('each voice gets the answer to what it has asked, in whatever order they come', async () => {
  const told: { call: string; asks: number; what: unknown }[] = [];
  const asks = new VoiceAsks((each) => told.push(each as never));
  const [first, second] = [asks.ask('call_1', 'a time'), asks.ask('call_2', 'a favour')];
  expect(told.map(({ call, what }) => [call, what])).toEqual([
    ['call_1', 'a time'],
    ['call_2', 'a favour'],
  ]);
  asks.answer({ answered: told[1]!.asks, fault: 'No.' });
  asks.answer({ answered: told[0]!.asks, answer: 'ten' });
  await expect(first).resolves.toBe('ten');
  await expect(second).rejects.toThrow('No.');
});
