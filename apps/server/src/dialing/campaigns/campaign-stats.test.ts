import { expect, test } from 'vitest';
import { callOutcomes } from '../../lines/telephony/call-outcome.ts';
import { type Counted, statsOf } from './campaign-stats.ts';

const now = new Date('2026-11-20T12:00:00Z');
const none = Object.fromEntries(callOutcomes.map((outcome) => [outcome, 0])) as Record<
  (typeof callOutcomes)[number],
  0
>;
const fresh: Counted = {
  ...none,
  status: 'running',
  total_contacts: 0,
  pending: 0,
  waiting: 0,
  in_flight: 0,
  done: 0,
  skipped: 0,
  conversions: 0,
  talk_ms: 0,
  started_at: new Date('2026-11-20T11:00:00Z'),
  end_date: null,
  target_call_count: null,
  contacts_added: true,
};
const paced = (pace: number) => ({ attempts: 0, pace });
const half: Counted = { ...fresh, pending: 100, waiting: 20, in_flight: 10, answered: 30, busy: 10, conversions: 6 };

test('rates are absent until there is something to divide by', () => {
  const stats = statsOf({ ...fresh, status: 'draft', started_at: null }, paced(0), now);
  expect(stats).toEqual({
    totalContacts: 0,
    pending: 0,
    waiting: 0,
    dialing: 0,
    done: 0,
    skipped: 0,
    attempts: 0,
    outcomes: {},
    talkSeconds: 0,
    conversions: 0,
    callsPerSecond: 0,
  });
});

test('the answer rate is of ended calls, the conversion rate of answered ones', () => {
  expect(statsOf(half, paced(1), now)).toMatchObject({
    outcomes: { answered: 30, busy: 10 },
    answerRate: 0.75,
    conversionRate: 0.2,
    startedAt: '2026-11-20T11:00:00.000Z',
  });
  expect(statsOf({ ...half, conversions: 31 }, paced(1), now).conversionRate).toBe(1);
});

test('the end is estimated from what is left and the pace', () => {
  expect(statsOf(half, paced(0.5), now).estimatedEndAt).toBe('2026-11-20T12:04:20.000Z');
  expect(statsOf({ ...half, target_call_count: 60 }, paced(1), now).estimatedEndAt).toBe('2026-11-20T12:00:40.000Z');
  expect(statsOf({ ...half, target_call_count: 1000 }, paced(0.5), now).estimatedEndAt).toBe(
    '2026-11-20T12:04:20.000Z',
  );
  expect(statsOf({ ...half, end_date: new Date('2026-11-20T12:01:00Z') }, paced(0.5), now).estimatedEndAt).toBe(
    '2026-11-20T12:01:00.000Z',
  );
});

test('no end is estimated where none can be', () => {
  expect(statsOf(half, paced(0), now)).not.toHaveProperty('estimatedEndAt');
  expect(statsOf({ ...half, contacts_added: false }, paced(1), now)).not.toHaveProperty('estimatedEndAt');
  for (const status of ['paused', 'stopped', 'completed'] as const) {
    expect(statsOf({ ...half, status }, paced(1), now)).not.toHaveProperty('estimatedEndAt');
  }
});
