import { expect, test } from 'vitest';
import { ALWAYS, EVERY_DAY } from '../calls/calling-hours.ts';
import { type CampaignSituation, type ContactSituation, contactExplainer } from './explain-contact.ts';

const now = new Date('2026-11-20T12:00:00Z');
const running: CampaignSituation = {
  status: 'running',
  targetCallCount: null,
  answered: 0,
  startsAt: null,
  endDate: null,
  dialingPaused: false,
  isUnwritten: false,
  noCaller: undefined,
  trunkBusy: false,
  agentFailing: false,
  limited: undefined,
  hours: { windows: ALWAYS, quiet: [], holidays: new Set() },
  freeHours: { windows: ALWAYS, quiet: [], holidays: new Set() },
};
const fresh: ContactSituation = {
  state: 'pending',
  isTrusted: false,
  timezones: ['UTC'],
  nextAttemptAt: now,
  reason: null,
};
const retry: ContactSituation = {
  state: 'waiting',
  isTrusted: false,
  timezones: ['UTC'],
  nextAttemptAt: new Date('2026-11-20T13:00:00Z'),
  reason: 'retry_later',
};
const explain = (campaign: Partial<CampaignSituation>, contact: Partial<ContactSituation> = {}) =>
  contactExplainer({ ...running, ...campaign }, now)({ ...fresh, ...contact });

test('a contact that is about to be called has no reason not to be', () => {
  expect(explain({})).toEqual({ nextAttemptAt: now });
  expect(explain({}, { state: 'dialing' })).toEqual({});
});

test('a contact that is done or skipped keeps the reason it got, whatever becomes of the campaign', () => {
  for (const status of ['running', 'paused', 'stopped', 'completed'] as const) {
    expect(explain({ status }, { state: 'done', reason: 'retries_exhausted' })).toEqual({
      reason: 'retries_exhausted',
    });
    expect(explain({ status }, { state: 'done' })).toEqual({});
    expect(explain({ status }, { state: 'skipped', reason: 'do_not_call' })).toEqual({ reason: 'do_not_call' });
  }
});

test('a contact that is left has the reason of its campaign', () => {
  for (const contact of [fresh, retry]) {
    expect(explain({ status: 'stopped' }, contact)).toEqual({ reason: 'campaign_stopped' });
    expect(explain({ status: 'failed' }, contact)).toEqual({ reason: 'campaign_ended' });
    expect(explain({ status: 'cancelled' }, contact)).toEqual({ reason: 'campaign_ended' });
    expect(explain({ status: 'completed' }, contact)).toEqual({ reason: 'campaign_ended' });
    expect(explain({ status: 'completed', targetCallCount: 5, answered: 4 }, contact).reason).toBe('campaign_ended');
    expect(explain({ status: 'completed', targetCallCount: 5, answered: 5 }, contact).reason).toBe('target_reached');
    expect(explain({ status: 'paused' }, contact).reason).toBe('campaign_paused');
    expect(explain({ dialingPaused: true }, contact).reason).toBe('dialing_paused');
    expect(explain({ isUnwritten: true }, contact).reason).toBe('witness_unreachable');
  }
  expect(explain({ status: 'paused', dialingPaused: true }).reason).toBe('campaign_paused');
});

test('a retry that is not due is called at its time at the earliest', () => {
  expect(explain({}, retry)).toEqual({ reason: 'retry_later', nextAttemptAt: retry.nextAttemptAt });
  expect(explain({}, { ...retry, reason: 'already_on_a_call' }).reason).toBe('already_on_a_call');
});

test('outside the window the reason is the window, and the next attempt is when it opens', () => {
  const hours = { ...running.hours, windows: [{ days: EVERY_DAY, start: 540, end: 660 }] };
  const opens = new Date('2026-11-21T09:00:00Z');
  expect(explain({ hours })).toEqual({ reason: 'outside_window', nextAttemptAt: opens });
  expect(explain({ hours }, { timezones: ['Atlantic/Azores'] })).toEqual({
    nextAttemptAt: new Date('2026-11-21T10:00:00Z'),
    reason: 'outside_window',
  });
  expect(explain({ hours }, { timezones: ['America/Sao_Paulo'] })).toEqual({ nextAttemptAt: now });
  expect(explain({ hours }, { ...retry, nextAttemptAt: now })).toEqual({
    reason: 'outside_window',
    nextAttemptAt: opens,
  });
  expect(explain({ hours }, retry)).toEqual({ reason: 'retry_later', nextAttemptAt: opens });
});

test('in the quiet hours of the workspace the reason is these, on a holiday that', () => {
  const hours = { ...running.hours, quiet: [{ days: EVERY_DAY, start: 700, end: 780 }] };
  expect(explain({ hours })).toEqual({ reason: 'quiet_hours', nextAttemptAt: new Date('2026-11-20T13:00:00Z') });
  const holidays = new Set(['2026-11-20']);
  expect(explain({ hours: { ...hours, holidays } })).toEqual({
    reason: 'holiday',
    nextAttemptAt: new Date('2026-11-21T00:00:00Z'),
  });
});

test('where a limit is reached the reason is that, and the next attempt is when it ends', () => {
  const until = new Date('2026-11-21T00:00:00Z');
  const limited = { until, reason: 'limit_reached' as const };
  const forNow = { ...limited, until: now };
  const byOperator = { until, reason: 'operator_limit' as const };
  expect(explain({ limited })).toEqual({ reason: 'limit_reached', nextAttemptAt: until });
  expect(explain({ limited: byOperator })).toEqual({ reason: 'operator_limit', nextAttemptAt: until });
  expect(explain({ limited: forNow })).toEqual({ reason: 'limit_reached', nextAttemptAt: now });
  expect(explain({ limited }, retry)).toEqual({ reason: 'retry_later', nextAttemptAt: until });
  expect(explain({ limited: forNow }, retry)).toEqual({ reason: 'retry_later', nextAttemptAt: retry.nextAttemptAt });
  const hours = { ...running.hours, windows: [{ days: EVERY_DAY, start: 540, end: 660 }] };
  const opens = new Date('2026-11-21T09:00:00Z');
  expect(explain({ hours, limited })).toEqual({ reason: 'outside_window', nextAttemptAt: opens });
  expect(explain({ dialingPaused: true, limited }).reason).toBe('dialing_paused');
});

test('there is no next attempt from the end date on', () => {
  const startsAt = new Date('2026-11-24T13:00:00Z');
  expect(explain({ status: 'scheduled', startsAt }, { ...retry, reason: null })).toMatchObject({
    nextAttemptAt: startsAt,
  });
  expect(explain({ endDate: new Date('2026-11-20T13:00:00Z') }, retry)).toEqual({ reason: 'retry_later' });
  expect(explain({ endDate: new Date('2026-11-20T13:00:01Z') }, retry).nextAttemptAt).toEqual(retry.nextAttemptAt);
});
