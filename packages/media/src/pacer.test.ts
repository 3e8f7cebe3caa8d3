import { MessageChannel } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Pacer } from './pacer.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

function paced(pacer: Pacer, periodMs: number) {
  const played: number[] = [];
  const skipped: number[] = [];
  const end = pacer.add({ play: (now) => played.push(now), skip: (turns) => skipped.push(turns) }, periodMs);
  return { played, skipped, end };
}

test.each([10, 20, 30, 40, 60])('a call is played every %d ms', (periodMs) => {
  const { played, end } = paced(new Pacer(), periodMs);
  vi.advanceTimersByTime(1200 + periodMs);
  expect(played.length).toBeGreaterThanOrEqual(1200 / periodMs);
  for (const [at, now] of played.slice(1).entries()) expect(now - played[at]!).toBe(periodMs);
  end();
  expect(vi.getTimerCount()).toBe(0);
});

test('calls are spread over the ticks', () => {
  const pacer = new Pacer();
  const calls = Array.from({ length: 8 }, () => paced(pacer, 20));
  vi.advanceTimersByTime(40);
  const phases = calls.map(({ played }) => played[0]! % 20);
  for (const phase of [0, 5, 10, 15]) expect(phases.filter((each) => each === phase)).toHaveLength(2);
});

test('the latest turn is told of for ten seconds at least, and then no more', () => {
  let now = 0;
  const pacer = new Pacer(() => now);
  paced(pacer, 20);
  now = 40;
  pacer.run();
  expect(pacer.worstLateMs()).toBe(35);
  for (now = 45; now < 9000; now += 5) pacer.run();
  expect(pacer.worstLateMs()).toBe(35);
  for (; now < 30_000; now += 5) pacer.run();
  pacer.worstLateMs();
  for (; now < 45_000; now += 5) pacer.run();
  expect(pacer.worstLateMs()).toBeLessThan(5);
});

test('a thread is behind where a second long no turn began in time, and no longer once one did', () => {
  let now = 0;
  const pacer = new Pacer(() => now);
  const { end } = paced(pacer, 20);
  const turns = (ms: number, lateMs: number) => {
    for (const until = now + ms; now < until; ) {
      now += 5 + lateMs;
      pacer.run();
    }
  };
  turns(1500, 0);
  now += 700;
  pacer.run();
  turns(1500, 0);
  expect(pacer.isBehind()).toBe(false);
  turns(2500, 40);
  expect(pacer.isBehind()).toBe(true);
  turns(2500, 0);
  expect(pacer.isBehind()).toBe(false);
  turns(2500, 40);
  end();
  expect(pacer.isBehind()).toBe(false);
  paced(pacer, 20);
  expect(pacer.isBehind()).toBe(false);
});

test('a turn that begins more than 10 ms late is told of', () => {
  let now = 0;
  let told = 0;
  const onLate = () => {
    told += 1;
  };
  const pacer = new Pacer(() => now, onLate);
  const { end } = paced(pacer, 20);
  for (const [at, count] of [
    [15, 0],
    [31, 1],
    [35, 1],
    [90, 2],
  ] as const) {
    now = at;
    pacer.run();
    expect(told, `at ${at}`).toBe(count);
  }
  end();
});

test('lateness does not add up', () => {
  let now = 0;
  const pacer = new Pacer(() => now);
  const { played } = paced(pacer, 20);
  for (const at of [27, 48, 61, 80, 104]) {
    now = at;
    pacer.run();
  }
  expect(played.length).toBe(5);
});

test('a stall is made up for up to 100 ms; the rest is skipped, and the beat stays', () => {
  let now = 0;
  const pacer = new Pacer(() => now);
  const { played, skipped } = paced(pacer, 20);
  now = 1005;
  pacer.run();
  const [turns = 0] = skipped;
  expect(skipped).toHaveLength(1);
  expect(played.length).toBeLessThanOrEqual(6);
  expect(turns + played.length).toBe(51);
  now = 1024;
  pacer.run();
  expect(turns + played.length).toBe(51);
  now = 1025;
  pacer.run();
  expect(turns + played.length).toBe(52);
});

test.each([10, 20, 30, 40, 60])('after each stall a call of %d ms has missed as many turns as it had', (periodMs) => {
  let now = 0;
  const pacer = new Pacer(() => now);
  const { played, skipped } = paced(pacer, periodMs);
  const turnsUntil = (end: number) => Math.floor((end - 5) / periodMs) + 1;
  for (const stallMs of [110, 135, 145, 165, 205, 1000, 1015, 3_600_005]) {
    now += stallMs;
    pacer.run();
    const missed = skipped.reduce((sum, turns) => sum + turns, 0);
    expect(played.length + missed, `${stallMs}`).toBe(turnsUntil(now));
  }
});

test.each([20, 30, 40, 60])('after a stall a call of %d ms is played at the beat of before', (periodMs) => {
  for (const stallMs of [150, 205, 1015, 1040]) {
    let now = 0;
    const pacer = new Pacer(() => now);
    const { played } = paced(pacer, periodMs);
    const runUntil = (end: number) => {
      for (; now < end; now += 5) pacer.run();
    };
    runUntil(600);
    const phase = played[0]! % periodMs;
    now += stallMs;
    pacer.run();
    const stalled = played.length;
    now += 5;
    runUntil(3000);
    const after = played.slice(stalled);
    expect(after.length).toBeGreaterThan(20);
    expect([...new Set(after.map((at) => at % periodMs))], `${stallMs}`).toEqual([phase]);
  }
});

test('a call whose end is called twice takes no other with it', () => {
  const pacer = new Pacer();
  const [one, other] = [paced(pacer, 20), paced(pacer, 20)];
  one.end();
  one.end();
  vi.advanceTimersByTime(100);
  expect(other.played.length).toBeGreaterThanOrEqual(4);
  other.end();
  expect(vi.getTimerCount()).toBe(0);
});

test('a pacer that begins again doesn’t remember how late it was', () => {
  let now = 0;
  const pacer = new Pacer(() => now);
  const turns = (count: number, ms: number) => {
    for (let turn = 0; turn < count; turn += 1) {
      now += ms;
      pacer.run();
    }
  };
  const { end } = paced(pacer, 20);
  turns(20, 45);
  end();
  paced(pacer, 20);
  turns(1, 5);
  turns(30, 45);
  // A turn of this second began in time; had it begun before the rest, its first second would be over without one.
  expect(pacer.isBehind()).toBe(false);
});

test('a call may end another one, and itself, in its turn', () => {
  const pacer = new Pacer();
  const ends: (() => void)[] = [];
  const end = () => {
    for (const each of ends) each();
  };
  for (let call = 0; call < 5; call += 1) ends.push(pacer.add({ play: end, skip: () => {} }, 20));
  vi.advanceTimersByTime(100);
  expect(vi.getTimerCount()).toBe(0);
});

test('a turn ends where playing takes longer than what is played', () => {
  let now = 0;
  const pacer = new Pacer(() => now);
  let plays = 0;
  const slow = () => {
    now += 7;
    plays += 1;
    if (plays > 1000) throw new Error('The turn does not end.');
  };
  const ends = Array.from({ length: 4 }, () => pacer.add({ play: slow, skip() {} }, 20));
  now = 40;
  pacer.run();
  expect(plays).toBeLessThan(10);
  for (const end of ends) end();
});

test('what arrives is read while there is more to play than there is time', async () => {
  vi.useRealTimers();
  const pacer = new Pacer();
  let plays = 0;
  const slow = () => {
    plays += 1;
    const until = performance.now() + 7;
    while (performance.now() < until && plays < 300);
  };
  const ends = Array.from({ length: 4 }, () => pacer.add({ play: slow, skip() {} }, 20));
  const { port1, port2 } = new MessageChannel();
  while (plays === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  port1.postMessage('');
  await new Promise((resolve) => port2.once('message', resolve));
  expect(plays).toBeLessThan(300);
  for (const end of ends) end();
  port1.close();
});
