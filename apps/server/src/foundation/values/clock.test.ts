import { expect, test } from 'vitest';
import { createMachineClock } from './clock.ts';

const HOURS = 2 * 3_600_000;
const near = (clock: { now(): Date }, time = Date.now()) =>
  expect(Math.abs(clock.now().getTime() - time)).toBeLessThan(1000);

test('a clock that jumps is wrong at once, and time is counted on from where it was right', () => {
  let jump = 0;
  const clock = createMachineClock(() => Date.now() + jump);
  clock.compare(performance.now(), new Date());
  expect(clock.isRight()).toBe(true);
  for (jump of [HOURS, -HOURS]) {
    expect(clock.isRight()).toBe(false);
    expect(clock.aheadMs()).toBeCloseTo(jump, -3);
    near(clock);
    clock.compare(performance.now(), new Date());
    expect(clock.isRight()).toBe(false);
    near(clock);
  }
  jump = 0;
  expect(clock.isRight()).toBe(true);
  jump = 4000;
  expect(clock.isRight()).toBe(true);
  near(clock, Date.now() + jump);
});

test('a clock is not believed before it was compared, to which a slow answer says nothing', () => {
  const clock = createMachineClock(() => Date.now() + HOURS);
  clock.compare(performance.now() - 1001, new Date());
  expect(clock.isRight()).toBe(false);
  expect(clock.aheadMs()).toBeUndefined();
  expect(clock.fault()).toContain('could not be compared');
  clock.compare(performance.now(), new Date());
  expect(clock.isRight()).toBe(false);
  expect(clock.fault()).toContain('is 7200 s ahead');
  near(clock);
});

test('where the clock of the database jumps, time goes on as it was', () => {
  const clock = createMachineClock();
  clock.compare(performance.now(), new Date());
  clock.compare(performance.now(), new Date(Date.now() - HOURS));
  expect(clock.isRight()).toBe(false);
  near(clock);
  clock.compare(performance.now(), new Date());
  expect(clock.isRight()).toBe(true);
});
