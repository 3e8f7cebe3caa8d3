import { test } from 'vitest';
import { allWhileAlone, anyFree, limiter, Shares } from '../../src/foundation/values/limiter.ts';
import { expectNoGrowth } from './cost-of-one.ts';

const never = () => new Promise<void>(() => {});

test('a slot costs the same beside many keys that found nothing free', () =>
  expectNoGrowth((others) => {
    const shares = new Shares(100, allWhileAlone);
    while (shares.take('busy'));
    const keys = Array.from({ length: others }, (_, at) => `key ${at}`);
    for (const key of keys) shares.take(key);
    let asked = 0;
    return (items) => {
      for (let item = 0; item < items; item += 1) {
        shares.take(keys[asked++ % others]!);
        shares.giveBack('busy');
        shares.take('busy');
      }
    };
  }));

/** Each item ends some work, and waits behind all others. */
const inTurn = (keyOf: (asked: number) => string) => (others: number) => {
  const limit = limiter(100, anyFree);
  const ends: (() => void)[] = [];
  let asked = 0;
  const ask = () => {
    asked += 1;
    void limit(keyOf(asked), () => new Promise<void>((resolve) => ends.push(resolve)));
  };
  for (let each = 0; each < others + 100; each += 1) ask();
  return async (items: number) => {
    for (let item = 0; item < items; item += 1) {
      ask();
      ends[item % 100]!();
    }
    ends.splice(0, items);
    limit.waiting();
    await new Promise(setImmediate);
  };
};

test('work of a key costs the same however much of it waits', () => expectNoGrowth(inTurn(() => 'key')));

test('work costs the same however many keys wait', () => expectNoGrowth(inTurn((asked) => `key ${asked}`)));

test('what is dropped costs the same however much waits', () =>
  expectNoGrowth((others) => {
    const limit = limiter(1, anyFree);
    void limit('busy', never);
    for (let at = 0; at < others; at += 1) void limit(`key ${at % 100}`, never, {});
    return (items) => {
      for (let item = 0; item < items; item += 1) {
        const waiter = {};
        void limit(`key ${item % 100}`, never, waiter);
        limit.drop(waiter);
      }
    };
  }));
