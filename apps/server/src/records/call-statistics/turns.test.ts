import { expect, test, vi } from 'vitest';
import { turns } from './turns.ts';

const never = new AbortController().signal;
const busy = { code: 'unavailable' };
const setting = (given: { waitMs?: number; mostSlow?: number } = {}) =>
  turns({ atOnce: 2, mostSlow: 2, slowMs: 1000, mostWaiting: 2, waitMs: 60_000, ...given });
const work = () => {
  let end = () => {};
  const ended = new Promise<string>((resolve) => {
    end = () => resolve('done');
  });
  return { work: () => ended, end };
};

test('one piece of work of a workspace is under way, two wait, and others have their turn at once', async () => {
  const inTurn = setting();
  const first = work();
  const begun: string[] = [];
  const noted = (name: string) => async () => {
    begun.push(name);
    return name;
  };
  const ours = [inTurn('a', never, first.work), inTurn('a', never, noted('a2')), inTurn('a', never, noted('a3'))];
  await expect(inTurn('a', never, noted('a4'))).rejects.toMatchObject(busy);
  expect(await inTurn('b', never, noted('b1'))).toBe('b1');
  expect(begun).toEqual(['b1']);
  first.end();
  expect(await Promise.all(ours)).toEqual(['done', 'a2', 'a3']);
});

test('so much is under way at a time, whosever it is', async () => {
  const inTurn = setting();
  const [first, second] = [work(), work()];
  const held = [inTurn('a', never, first.work), inTurn('b', never, second.work)];
  let begun = false;
  const third = inTurn('c', never, async () => {
    begun = true;
  });
  await Promise.resolve();
  expect(begun).toBe(false);
  second.end();
  await third;
  first.end();
  await Promise.all(held);
});

test('workspaces whose work takes long leave the others a place', async () => {
  vi.useFakeTimers();
  try {
    const inTurn = setting({ mostSlow: 1 });
    for (const name of ['a', 'b']) {
      const long = work();
      const held = inTurn(name, never, long.work);
      await vi.advanceTimersByTimeAsync(1001);
      long.end();
      await held;
    }
    const begun: string[] = [];
    const [first, second] = [work(), work()];
    const noted = (name: string, of = first) => {
      const held = inTurn(name, never, async () => {
        begun.push(name);
        return of.work();
      });
      return vi.advanceTimersByTimeAsync(0).then(() => ({ held }));
    };
    const { held: long } = await noted('a');
    const { held: waits } = await noted('b', second);
    expect(begun).toEqual(['a']);
    expect(await inTurn('c', never, async () => 'at once')).toBe('at once');
    first.end();
    await long;
    second.end();
    await waits;
    expect(begun).toEqual(['a', 'b']);
    // Both were quick this time.
    const again = [work(), work()];
    const both = [noted('a', again[0]), noted('b', again[1])];
    await Promise.all(both);
    expect(begun).toEqual(['a', 'b', 'a', 'b']);
    for (const { end } of again) end();
    for (const each of both) await (await each).held;
  } finally {
    vi.useRealTimers();
  }
});

test('who is gone waits no longer, and nobody for ever', async () => {
  const inTurn = setting({ waitMs: 5 });
  const [first, gone] = [work(), new AbortController()];
  const held = inTurn('a', never, first.work);
  const waits = inTurn('a', gone.signal, async () => {});
  gone.abort();
  await expect(waits).rejects.toMatchObject(busy);
  await expect(inTurn('a', never, async () => {})).rejects.toMatchObject(busy);
  await expect(inTurn('b', AbortSignal.abort(), async () => {})).rejects.toMatchObject(busy);
  first.end();
  await held;
  await expect(inTurn('a', never, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await inTurn('a', never, async () => 'next')).toBe('next');
});

test('of all workspaces together a thousand requests wait', async () => {
  const inTurn = setting();
  const gone = new AbortController();
  const none = async () => {};
  for (let name = 0; name < 2; name += 1) void inTurn(`busy ${name}`, never, () => new Promise(() => {}));
  const waiting = Array.from({ length: 1000 }, (_, name) => inTurn(`${name}`, gone.signal, none));
  await expect(inTurn('one more', never, none)).rejects.toMatchObject(busy);
  gone.abort();
  expect((await Promise.allSettled(waiting)).every(({ status }) => status === 'rejected')).toBe(true);
});
