import type { ModelUsage } from './speech-model.ts';

/** What a model's use is told by. */
export const usageNames = [
  'inputTokens',
  'outputTokens',
  'inputAudioTokens',
  'outputAudioTokens',
  'cachedInputTokens',
] as const satisfies readonly (keyof ModelUsage)[];

/** Of each kind, in one call: no model uses as much, and the calls of years still have a sum that the database holds. */
const MOST_TOKENS = 1_000_000_000;

/** What was used together; of parts that were never told there is nothing. */
export function addUsage(sum: ModelUsage | undefined, more: ModelUsage): ModelUsage {
  const all: ModelUsage = { inputTokens: 0, outputTokens: 0, ...sum };
  for (const name of usageNames)
    if (more[name] !== undefined) all[name] = Math.min((all[name] ?? 0) + more[name], MOST_TOKENS);
  return all;
}

/** What is known of it by the counts of a voice; nothing of one that has no model, or whose model tells nothing. */
export function usageOf(counts: Record<string, number> | undefined): ModelUsage | undefined {
  const { inputTokens, outputTokens } = counts ?? {};
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const told = usageNames.flatMap((name) => (counts?.[name] === undefined ? [] : [[name, counts[name]]]));
  return { inputTokens, outputTokens, ...Object.fromEntries(told) };
}
