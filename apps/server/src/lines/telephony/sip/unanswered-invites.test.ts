import { expect, test } from 'vitest';
import { createUnansweredInvites } from './unanswered-invites.ts';

test('a trunk is closed while one of its INVITEs has no answer for two seconds, and no other trunk is', () => {
  let now = 0;
  const invites = createUnansweredInvites(() => now);
  const closedAt = (at: number) => {
    now = at;
    return ['a', 'b'].filter(invites.isClosed);
  };
  invites.sent('a', 'first');
  now = 1500;
  invites.sent('a', 'second');
  invites.sent('b', 'third');
  expect([closedAt(1999), closedAt(2000)]).toEqual([[], ['a']]);
  invites.over('b', 'third');
  invites.over('a', 'first');
  expect([closedAt(3499), closedAt(3500)]).toEqual([[], ['a']]);
  invites.over('a', 'second');
  invites.over('a', 'second');
  expect(closedAt(90_000)).toEqual([]);
  invites.sent('a', 'lost');
  expect([closedAt(129_999), closedAt(130_000)]).toEqual([['a'], []]);
});
