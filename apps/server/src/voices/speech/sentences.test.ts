import { afterEach, expect, test, vi } from 'vitest';
import { createSentences, type SentenceDeps } from './sentences.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a sentence whose turn does not come within a minute is given up, and later ones are spoken', async () => {
  vi.useFakeTimers();
  const finish: (() => void)[] = [];
  const engine = {
    name: 'slow',
    speak: () => new Promise<Buffer>((resolve) => void finish.push(() => resolve(Buffer.alloc(8)))),
  };
  const sentences = createSentences({ findEngine: async () => engine } as unknown as SentenceDeps);
  const speak = (text: string) => sentences.speechFor({ workspaceId: 'a', roomId: text }, { text, language: 'en' });
  const first = Array.from({ length: 4 }, (_, at) => speak(`${at}`));
  const late = expect(speak('late')).rejects.toThrow('More sentences wait');
  await vi.advanceTimersByTimeAsync(61_000);
  await late;
  const next = speak('next');
  for (const each of finish.splice(0)) each();
  await Promise.all(first);
  for (const each of finish.splice(0)) each();
  expect((await next).byteLength).toBe(8);
});
