import type { ModelUsage } from './speech-model.ts';

const names = [
  'inputTokens',
  'outputTokens',
  'inputAudioTokens',
  'outputAudioTokens',
  'cachedInputTokens',
] as const satisfies readonly (keyof ModelUsage)[];

/** What was used together; of parts that were never told there is nothing. */
export function addUsage(sum: ModelUsage | undefined, more: ModelUsage): ModelUsage {
  const all: ModelUsage = { inputTokens: 0, outputTokens: 0, ...sum };
  for (const name of names) if (more[name] !== undefined) all[name] = (all[name] ?? 0) + more[name];
  return all;
}

/** What is known of it by the counts of a voice; nothing of one that has no model, or whose model tells nothing. */
export function usageOf(counts: Record<string, number> | undefined): ModelUsage | undefined {
  const { inputTokens, outputTokens } = counts ?? {};
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const told = names.flatMap((name) => (counts?.[name] === undefined ? [] : [[name, counts[name]]]));
  return { inputTokens, outputTokens, ...Object.fromEntries(told) };
}
