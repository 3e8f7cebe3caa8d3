import { expect, test } from 'vitest';
import { limiter } from './limiter.ts';

/** Work that ends when the test says so. */
function byHand() {
  const begun: string[] = [];
  const ends = new Map<string, { resolve: (name: string) => void; reject: (error: Error) => void }>();
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve, reject) => ends.set(name, { resolve, reject }));
  };
  return { begun, work, end: (name: string) => ends.get(name)!.resolve(name), fail: (name: string) => ends.get(name)! };
}

test('so much is under way at a time, and the rest follows in its order', async () => {
  const { begun, work, end } = byHand();
  const limit = limiter(2);
  const all = ['a', 'b', 'c', 'd'].map((name) => limit(work(name)));
  expect(begun).toEqual(['a', 'b']);
  expect([limit.underWay(), limit.waiting()]).toEqual([2, 2]);
  end('b');
  expect(await all[1]).toBe('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  for (const name of ['a', 'c']) end(name);
  await all[0];
  end('d');
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
  expect(limit.underWay()).toBe(0);
});

test('what fails fails for itself and makes room', async () => {
  const { begun, work, end, fail } = byHand();
  const limit = limiter(1);
  const bad = limit(work('bad'));
  const good = limit(work('good'));
  fail('bad').reject(new Error('no'));
  await expect(bad).rejects.toThrow('no');
  expect(begun).toEqual(['bad', 'good']);
  end('good');
  expect(await good).toBe('good');
});

test('what is dropped never begins; idle waits for what has begun', async () => {
  const { begun, work, end } = byHand();
  const limit = limiter(1);
  const first = limit(work('first'));
  const second = limit(work('second'));
  limit.drop();
  expect(await second).toBeUndefined();
  let isIdle = false;
  const idle = limit.idle().then(() => {
    isIdle = true;
  });
  await Promise.resolve();
  expect(isIdle).toBe(false);
  end('first');
  await idle;
  expect(await first).toBe('first');
  expect(begun).toEqual(['first']);
  await limit.idle();
});
