import { expect, test } from 'vitest';
import { SharedSounds, SoundsOfCalls } from './shared-sounds.ts';

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

test('sounds of a call are there until it ends, and the oldest go first if all calls have too many', async () => {
  const sounds = new SoundsOfCalls(100);
  let made = 0;
  const get = (call: string, name: string) =>
    sounds.get(call, name, async () => {
      made += 1;
      return Buffer.alloc(40);
    });
  await get('one', 'hello');
  await get('two', 'hello');
  await get('one', 'hello');
  expect(made).toBe(2);
  await get('three', 'hello');
  await get('one', 'hello');
  expect(made).toBe(3);
  await get('two', 'hello');
  expect(made).toBe(4);
  sounds.forget('two');
  await get('two', 'hello');
  expect(made).toBe(5);
});

test('what is made for a call that has ended meanwhile is not kept', async () => {
  const sounds = new SoundsOfCalls();
  const asked = sounds.get('one', 'hello', async () => Buffer.alloc(40));
  sounds.forget('one');
  await asked;
  let made = 0;
  await sounds.get('one', 'hello', async () => {
    made += 1;
    return Buffer.alloc(40);
  });
  expect(made).toBe(1);
});
