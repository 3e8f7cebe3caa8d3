import { expect, test } from 'vitest';
import type { CallOutcome } from '../telephony/call-outcome.ts';
import { afterCalls, type TrunkHealth } from './cooling.ts';

const now = new Date('2026-03-10T12:00:00Z');
const sound: TrunkHealth = { faults: 0, coolingUntil: null };
const minutesLater = (minutes: number) => new Date(now.getTime() + minutes * 60_000);
const failed = (times: number): CallOutcome[] => Array(times).fill('trunk_error');

test('three faults in a row cool a number for a minute, two do not', () => {
  expect(afterCalls(sound, failed(2), now)).toEqual({ faults: 2, coolingUntil: null });
  expect(afterCalls({ faults: 2, coolingUntil: null }, failed(1), now)).toEqual({
    faults: 3,
    coolingUntil: minutesLater(1),
  });
});

test('many faults at once are one reason to cool', () => {
  expect(afterCalls(sound, failed(50), now)).toEqual({ faults: 3, coolingUntil: minutesLater(1) });
});

test('what fails again after it has cooled cools longer each time, an hour at most', () => {
  let health = afterCalls(sound, failed(3), now);
  const minutes: number[] = [];
  for (let time = 0; time < 5; time += 1) {
    const back = health.coolingUntil!;
    health = afterCalls(health, failed(1), back);
    minutes.push((health.coolingUntil!.getTime() - back.getTime()) / 60_000);
  }
  expect(minutes).toEqual([5, 15, 60, 60, 60]);
});

test.each<CallOutcome>(['answered', 'busy', 'no_answer', 'declined', 'invalid_number', 'voicemail', 'agent_error'])(
  'a call that ends as %s shows that the trunk works',
  (outcome) => {
    expect(afterCalls({ faults: 7, coolingUntil: minutesLater(60) }, [outcome], now)).toEqual(sound);
    expect(afterCalls(sound, [...failed(2), outcome, ...failed(2)], now)).toEqual({ faults: 2, coolingUntil: null });
  },
);

test.each<CallOutcome>(['cancelled', 'unknown', 'do_not_call'])('%s says nothing of the trunk', (outcome) => {
  const cooling = { faults: 3, coolingUntil: minutesLater(1) };
  expect(afterCalls(cooling, [outcome], now)).toEqual(cooling);
});
