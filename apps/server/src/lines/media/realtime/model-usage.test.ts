import { expect, it } from 'vitest';
import { addUsage } from './model-usage.ts';

it('adds up no more than the database can add up of many calls, whatever a model tells', () => {
  const told = { inputTokens: 1e300, outputTokens: Number.POSITIVE_INFINITY, cachedInputTokens: 3 };
  const once = addUsage(undefined, told);
  expect(once).toEqual({ inputTokens: 1e9, outputTokens: 1e9, cachedInputTokens: 3 });
  expect(addUsage(once, told)).toEqual({ inputTokens: 1e9, outputTokens: 1e9, cachedInputTokens: 6 });
});
