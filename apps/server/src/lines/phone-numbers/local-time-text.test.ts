import { expect, test } from 'vitest';
import { localTimeText } from './local-time-text.ts';

const now = new Date('2026-11-27T22:05:00Z');

test('the time is told where the person is', () => {
  expect(localTimeText(now, '+12125550117')).toMatch(
    /^It is 17:05 on Friday,? 27 November 2026 \(America\/New_York\), where the person is\.$/,
  );
  expect(localTimeText(now, '+4915112345678')).toMatch(/^It is 23:05 on Friday,? 27 November 2026 \(Europe\/Berlin\)/);
});

test('one who may be in many places, or of whom nothing is known, is told of by UTC', () => {
  for (const number of [undefined, '+18005550100'])
    expect(localTimeText(now, number)).toMatch(
      /^It is 22:05 on Friday,? 27 November 2026 \(UTC\); in which time zone the person is, is not known\.$/,
    );
});
