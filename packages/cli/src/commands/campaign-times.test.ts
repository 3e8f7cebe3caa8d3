import { expect, test } from 'vitest';
import { timesOf } from './campaign-times.ts';

const WRITE = 'Write days and a 24-hour clock';
const hours = (...windows: string[]) => timesOf({ hours: windows }).callingWindows;

test('hours are days and a 24-hour clock', () => {
  expect(hours('Mon-Fri 09:00-18:00')).toEqual([{ days: [1, 2, 3, 4, 5], start: 540, end: 1080 }]);
  expect(hours('fri-mon 9:00-18:00')).toEqual([{ days: [1, 5, 6, 7], start: 540, end: 1080 }]);
  expect(hours('daily 00:00-24:00')).toEqual([{ days: [1, 2, 3, 4, 5, 6, 7], start: 0, end: 1440 }]);
  expect(hours('sat,sun 22:00-01:00')).toEqual([{ days: [6, 7], start: 1320, end: 60 }]);
  expect(hours('none')).toBeNull();
});

test.each([
  ['09:00-18:00', "--hours 'mon-fri 09:00-18:00', or 'daily 09:00-18:00'"],
  ['mon 9:00-5:00', "'mon 09:00-05:00', or 'mon 09:00-17:00'"],
  ['mon 09:00-09:00', "The whole day: 'mon 00:00-24:00'"],
  ['mon-fri 9-18', WRITE],
  ['mon 9am-5pm', WRITE],
  ['mon 09:00-18:60', WRITE],
  ['mon 24:00-25:00', WRITE],
  ['mo 09:00-18:00', WRITE],
  ['mon-wed-fri 09:00-18:00', WRITE],
  ['mon', WRITE],
])('the hours %s are refused with what would be right', (text, right) => {
  expect(() => hours(text)).toThrow(expect.objectContaining({ exitCode: 2, next: expect.stringContaining(right) }));
});

test('waits have a unit, and holidays are dates', () => {
  expect(timesOf({ retry: '15m, 2h,1d', holidays: '2026-12-25, 2028-02-29' })).toEqual({
    retryPolicy: [15, 120, 1440],
    holidays: ['2026-12-25', '2028-02-29'],
  });
  expect(timesOf({ retry: 'none', holidays: 'none', abandonedRetry: 'none' })).toEqual({
    retryPolicy: [],
    holidays: [],
    abandonedRetry: 'none',
  });
  for (const [options, right] of [
    [{ retry: '15' }, '15m, or 15h'],
    [{ retry: 'no_answer:3:2h' }, '--retry 15m,2h'],
    [{ abandonedRetry: '90m' }, undefined],
    [{ holidays: 'DE' }, '2026-12-25'],
    [{ holidays: '25.12.2026' }, '2026-12-25'],
    [{ holidays: '2027-02-29' }, '2026-12-25'],
  ] as const)
    expect(() => timesOf(options)).toThrow(
      expect.objectContaining({ exitCode: 2, ...(right && { next: expect.stringContaining(right) }) }),
    );
});
