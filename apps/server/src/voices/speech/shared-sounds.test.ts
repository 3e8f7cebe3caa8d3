import { expect, test } from 'vitest';
import { SharedSounds } from './shared-sounds.ts';

test('a sound is loaded once, and what was not played for longest is forgotten', async () => {
  const sounds = new SharedSounds(250);
  const loaded: string[] = [];
  const get = (name: string) =>
    sounds.get(name, async () => {
      loaded.push(name);
      return new Uint8Array(100).fill(7);
    });
  const [first, again] = await Promise.all([get('a'), get('a')]);
  expect(first).toBe(again);
  expect(new Uint8Array(first)[99]).toBe(7);
  await get('b');
  await get('a');
  await get('c');
  await get('a');
  await get('b');
  expect(loaded).toEqual(['a', 'b', 'c', 'b']);
});

test('one that can not be had is asked for again', async () => {
  const sounds = new SharedSounds();
  await expect(sounds.get('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect((await sounds.get('a', async () => new Uint8Array(1))).byteLength).toBe(1);
});
