import { expect, test } from 'vitest';
import { noteLateSound, soundFirst } from './sound-first.ts';

const waited = async (): Promise<number> => {
  const began = performance.now();
  await soundFirst();
  return performance.now() - began;
};

test('nobody waits while sound is on time', async () => {
  let isOver = false;
  void soundFirst().then(() => {
    isOver = true;
  });
  await Promise.resolve();
  await Promise.resolve();
  expect(isOver).toBe(true);
});

test('who can wait goes on once sound was on time for a tenth of a second, and after a second at the latest', async () => {
  noteLateSound();
  expect(await waited()).toBeGreaterThan(95);
  const late = setInterval(noteLateSound, 5);
  noteLateSound();
  expect(await waited()).toBeGreaterThan(995);
  clearInterval(late);
});
