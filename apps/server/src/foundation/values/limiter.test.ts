import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { allWhileAlone, anyFree, limiter, Shares } from './limiter.ts';

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
  const limit = limiter(2, anyFree);
  const all = ['a', 'b', 'c', 'd'].map((name) => limit('one', work(name)));
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

test('a key takes another slot only while it holds fewer than are free; the others have theirs at once', async () => {
  const { begun, work, end } = byHand();
  const limit = limiter(8);
  const noisy = Array.from({ length: 20 }, (_, at) => limit('noisy', work(`n${at}`)));
  expect(begun).toEqual(['n0', 'n1', 'n2', 'n3']);
  const quiet = ['q0', 'q1', 'q2'].map((name) => limit('quiet', work(name)));
  expect(begun.slice(4)).toEqual(['q0', 'q1']);
  const late = limit('late', work('l0'));
  expect(begun.slice(6)).toEqual(['l0']);
  end('n0');
  await noisy[0];
  // Of the two that are free neither the noisy one, which holds three, nor the quiet one, which holds two, takes any.
  expect(begun).toHaveLength(7);
  end('l0');
  await late;
  expect(begun.slice(7)).toEqual(['q2']);
  limit.drop();
  for (const name of begun.filter((each) => each !== 'n0' && each !== 'l0')) end(name);
  await Promise.all([...noisy, ...quiet]);
});

test('keys that wait have their turn one after the other', async () => {
  const { begun, work, end } = byHand();
  const limit = limiter(1);
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => limit(name[0]!, work(name)));
  for (let at = 0; at < all.length; at += 1) {
    end(begun[at]!);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('what fails fails for itself and makes room', async () => {
  const { begun, work, end, fail } = byHand();
  const limit = limiter(1);
  const bad = limit('one', work('bad'));
  const good = limit('one', work('good'));
  fail('bad').reject(new Error('no'));
  await expect(bad).rejects.toThrow('no');
  expect(begun).toEqual(['bad', 'good']);
  end('good');
  expect(await good).toBe('good');
});

test('what is dropped never begins; idle waits for what has begun', async () => {
  const { begun, work, end } = byHand();
  const limit = limiter(1);
  const first = limit('one', work('first'));
  const second = limit('two', work('second'));
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

/** Asks by keys, and at each `end` the end of some work that is under way. */
const acts = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ ask: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f') }) },
    { weight: 1, arbitrary: fc.record({ end: fc.nat(40) }) },
  ),
  { maxLength: 120 },
);

test('whatever is asked and ends: never over the total, no key over its share, none waits that may begin, all is done', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 12 }), acts, async (total, given) => {
      const limit = limiter(total);
      const running: { key: string; end: () => void }[] = [];
      const held = (key: string) => running.filter((each) => each.key === key).length;
      let done = 0;
      const asked: Promise<unknown>[] = [];
      const waiting = new Map<string, number>();
      const settled = () => new Promise((resolve) => setImmediate(resolve));
      const begin = (key: string) => () => {
        const free = total - running.length;
        expect(held(key)).toBeLessThan(free);
        waiting.set(key, waiting.get(key)! - 1);
        return new Promise<void>((resolve) => {
          const each = { key, end: () => resolve() };
          running.push(each);
        }).then(() => {
          done += 1;
        });
      };
      const endOne = async (at: number) => {
        const [each] = running.splice(at % running.length, 1);
        each!.end();
        await settled();
      };
      for (const act of given) {
        if ('ask' in act) {
          waiting.set(act.ask, (waiting.get(act.ask) ?? 0) + 1);
          asked.push(limit(act.ask, begin(act.ask)));
        } else if (running.length > 0) await endOne(act.end);
        expect(running.length).toBeLessThanOrEqual(total);
        expect(limit.underWay()).toBe(running.length);
        for (const [key, count] of waiting)
          if (count > 0) expect(held(key)).toBeGreaterThanOrEqual(total - running.length);
      }
      // No key starves: what ends makes room for the next until nothing is left.
      while (running.length > 0) await endOne(0);
      await Promise.all(asked);
      expect([done, limit.waiting(), limit.underWay()]).toEqual([asked.length, 0, 0]);
    }),
    { numRuns: 200 },
  );
});

test('one that waits with nothing under way is next after one turn of the others, however much a noisy key asks', async () => {
  const { begun, work, end } = byHand();
  const limit = limiter(4);
  const noisy = Array.from({ length: 50 }, (_, at) => limit('noisy', work(`n${at}`)));
  const others = ['a', 'b', 'c', 'd'].map((name) => limit(name, work(name)));
  expect(begun).toEqual(['n0', 'n1', 'a', 'b']);
  end('n0');
  await noisy[0];
  end('n1');
  await noisy[1];
  end('a');
  await others[0];
  expect(begun.slice(4)).toEqual(['c', 'n2', 'd']);
  limit.drop();
  for (const name of ['b', 'c', 'n2', 'd']) end(name);
  await Promise.all([...noisy, ...others]);
});

test('what one has waiting is dropped at once, and what others have is not', async () => {
  const limit = limiter(1, anyFree);
  let end = () => {};
  const first = limit('a', () => new Promise<void>((resolve) => (end = resolve)));
  const mine = {};
  const dropped = limit('a', async () => 'never', mine);
  const kept = limit('a', async () => 'kept', {});
  limit.drop(mine);
  expect(await dropped).toBeUndefined();
  expect(limit.waiting()).toBe(1);
  end();
  expect([await first, await kept]).toEqual([undefined, 'kept']);
});

test('alone a key has half of the slots, two have a third each', () => {
  const alone = new Shares(64);
  while (alone.take('a'));
  expect(alone.held('a')).toBe(32);
  const two = new Shares(63);
  for (let takes = 0; takes < 200; takes += 1) {
    two.take('a');
    two.take('b');
  }
  expect([two.held('a'), two.held('b'), two.underWay()]).toEqual([21, 21, 42]);
  two.giveBack('a');
  expect([two.held('a'), two.underWay()]).toEqual([20, 41]);
});

test('one that is alone takes all where that is the rule, and gives way to who has found nothing', () => {
  const ports = new Shares(10, allWhileAlone);
  while (ports.take('alone'));
  expect(ports.held('alone')).toBe(10);
  expect(ports.take('next')).toBe(false);
  ports.giveBack('alone');
  expect([ports.room('alone', 5), ports.room('next', 5)]).toEqual([0, 1]);
  expect([ports.take('alone'), ports.take('next')]).toEqual([false, true]);
  for (let ended = 0; ended < 5; ended += 1) ports.giveBack('alone');
  // Of the five that are free it has as many as its own four let it, and the other more.
  expect([ports.room('alone', 5), ports.room('next', 5)]).toEqual([1, 2]);
  // Counted, though there is none.
  for (let more = 0; more < 12; more += 1) ports.add('next');
  expect([ports.underWay(), ports.take('alone'), ports.room('next', 5)]).toEqual([17, false, 0]);
});

test('one that is alone leaves some to those of the same day, and has all again on the next', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => now.mockRestore());
  const ports = new Shares(100, allWhileAlone);
  ports.take('quiet');
  ports.giveBack('quiet');
  expect(ports.room('noisy', 100)).toBe(90);
  while (ports.take('noisy'));
  expect(ports.held('noisy')).toBe(90);
  while (ports.take('quiet'));
  expect(ports.held('quiet')).toBe(5);
  for (let over = 0; over < 5; over += 1) ports.giveBack('quiet');
  now.mockReturnValue(25 * 3600 * 1000);
  expect(ports.room('noisy', 100)).toBe(10);
});
