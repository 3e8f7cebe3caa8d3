import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inChunks } from './in-chunks.ts';

test('rests after each chunk for as long as it took', async () => {
  const rests: number[] = [];
  let ended: number | undefined;
  let chunks = 0;
  await inChunks(async () => {
    if (ended !== undefined) rests.push(performance.now() - ended);
    await sleep(20);
    ended = performance.now();
    chunks += 1;
    return chunks < 3;
  });
  expect(rests).toHaveLength(2);
  for (const rest of rests) expect(rest).toBeGreaterThanOrEqual(18);
});

test('ends between two chunks when it is told to', async () => {
  const closing = new AbortController();
  let chunks = 0;
  await inChunks(async () => {
    chunks += 1;
    if (chunks === 2) closing.abort();
    return true;
  }, closing.signal);
  expect(chunks).toBe(2);
});
