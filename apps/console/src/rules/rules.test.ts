import { describe, expect, test } from 'vitest';
import { named } from './call.ts';
import { clock, daysSay, marksAt, merged, minutesOf, windowFields, windowSays, windowsOf, withinDay } from './hours.ts';
import { boundOf, pictureOf } from './picture.ts';
import { placeOfText } from './places.ts';
import { textsOf } from './search.ts';
import { allows, type Campaign, duration, percent, type Stats, type Workspace } from './words.ts';

const stats = {
  ...{ totalContacts: 10, pending: 10, waiting: 0, dialing: 0, done: 0, skipped: 0, attempts: 0, conversions: 0 },
  ...{ outcomes: {}, callsPerSecond: 0 },
} as Stats;
const campaign = { status: 'running', maxConcurrency: 4, retryPolicy: [] } as unknown as Campaign;
const seen = { campaign, stats, workspace: undefined, held: undefined };
const waitingFor = (reason: string) =>
  ({ ...stats, reasons: { notYet: { [reason]: 10 }, never: {}, countedAt: '' } }) as Stats;
const paused = (reason: string) => ({ ...campaign, status: 'paused', meta: { pause: { reason } } }) as Campaign;

describe('each state has its picture', () => {
  test.each([
    ['draft', { campaign: { ...campaign, status: 'draft' } as Campaign }],
    ['scheduled', { campaign: { ...campaign, status: 'scheduled' } as Campaign }],
    ['dialing', { stats: { ...stats, dialing: 2 } }],
    ['hours', { stats: waitingFor('outside_window') }],
    ['hours', { stats: waitingFor('quiet_hours') }],
    ['waiting', { stats: waitingFor('no_caller_id') }],
    ['agent', { stats: waitingFor('agent_failing') }],
    ['stopped-all', { workspace: { dialingPausedAt: '2026-11-20T09:00:00.000Z' } as Workspace }],
    ['held', { held: 'dialing is held: …', workspace: { dialingPausedAt: '2026-11-20T09:00:00.000Z' } as Workspace }],
    ['brake', { campaign: paused('calls_failing') }],
    ['agent', { campaign: paused('agent_failing') }],
    ['budget', { campaign: paused('budget_reached') }],
    ['paused', { campaign: { ...campaign, status: 'paused' } as Campaign }],
    ['completed', { campaign: { ...campaign, status: 'completed' } as Campaign }],
    ['stopped', { campaign: { ...campaign, status: 'stopped' } as Campaign }],
    ['cancelled', { campaign: { ...campaign, status: 'cancelled' } as Campaign }],
    ['failed', { campaign: { ...campaign, status: 'failed', meta: { failure: { reason: 'billing' } } } as Campaign }],
  ])('%s', (name, more) => {
    expect(pictureOf({ ...seen, ...more }).name).toBe(name);
  });
});

test('what bounds a campaign is its lines, its pace, or what most contacts wait for', () => {
  expect(boundOf(campaign, { ...stats, dialing: 4 })).toBe('its 4 lines at once');
  expect(boundOf({ ...campaign, callsPerSecond: 2 }, { ...stats, callsPerSecond: 1.9 })).toBe('its pace of 2 a second');
  expect(boundOf(campaign, waitingFor('trunk_busy'))).toBe('the trunk has no free line');
  expect(boundOf(campaign, stats)).toBeUndefined();
  expect(boundOf({ ...campaign, status: 'paused' } as Campaign, { ...stats, dialing: 4 })).toBeUndefined();
});

test('hours are read and written in each form that a campaign has', () => {
  expect([clock(0), clock(570), clock(1440)]).toEqual(['00:00', '09:30', '24:00']);
  expect([minutesOf('09:30'), minutesOf('24:00'), minutesOf('24:01'), minutesOf('9.30')]).toEqual([
    570,
    1440,
    undefined,
    undefined,
  ]);
  expect(windowsOf({}).map(windowSays)).toEqual(['every day 00:00–24:00']);
  const weekdays = { scheduleStart: 540, scheduleEnd: 1080, scheduleDays: [1, 2, 3, 4, 5] };
  expect(windowsOf(weekdays).map(windowSays)).toEqual(['Mon–Fri 09:00–18:00']);
  expect(windowFields(windowsOf(weekdays))).toEqual(weekdays);
  expect(windowFields(windowsOf({}))).toEqual({ scheduleStart: null, scheduleEnd: null, scheduleDays: null });
  const night = { days: [1, 3], start: 1320, end: 120 };
  expect(windowFields([night])).toEqual({ callingWindows: [night] });
  expect(withinDay(night)).toEqual([
    { start: 0, end: 120 },
    { start: 1320, end: 1440 },
  ]);
  const days = [540, 1080, 540, 720, 660, 1140].flatMap((start, at, all) =>
    at % 2 ? [] : [{ start, end: all[at + 1]! }],
  );
  expect(merged([...days, { start: 0, end: 60 }])).toEqual([
    { start: 0, end: 60 },
    { start: 540, end: 1140 },
  ]);
  expect(daysSay([3, 1])).toBe('Mon, Wed');
});

test('clocks of several places are marked on one day, those that agree as one', () => {
  const at = new Date('2026-11-20T12:00:00Z');
  expect(marksAt(['America/New_York', 'America/Toronto', 'Europe/London', 'Nowhere/At_All'], at)).toEqual([
    { minute: 420, places: ['New York', 'Toronto'] },
    { minute: 720, places: ['London'] },
  ]);
});

test('a number, an ID and a query lead where they should', () => {
  const id = '0'.repeat(32);
  expect(placeOfText(` cmp_${id}`)?.path).toBe(`/campaigns/cmp_${id}`);
  expect(placeOfText(`room_${id}`)?.path).toBe(`/calls/room_${id}`);
  expect(placeOfText('+1 (415) 555-0100')?.search).toEqual({ phoneNumber: '+14155550100' });
  expect(placeOfText('4155550100')).toBeUndefined();
  expect(textsOf('state', 'q')({ state: 'done', q: 12, page: 'x' })).toEqual({ state: 'done', q: '12' });
  expect(textsOf('state')({ state: '' })).toEqual({});
});

test('rows without an ID have a name each, which stays as more come', () => {
  const rows = ['1', '2', '2'].map((at) => ({ at }));
  expect(named(rows).map(({ name }) => name)).toEqual(['1 1', '2 1', '2 2']);
});

test('figures are told as people write them', () => {
  expect([percent(1, 3), percent(9999, 10_000), percent(1, 10_000), percent(0, 0)]).toEqual([
    '33.3 %',
    '99.9 %',
    '0.1 %',
    '–',
  ]);
  expect([duration(5), duration(65), duration(3725)]).toEqual(['0:05', '1:05', '1:02:05']);
  expect([
    allows(['*'], 'calls:read'),
    allows(['calls:read'], 'calls:read'),
    allows(['calls:read'], 'calls:write'),
  ]).toEqual([true, true, false]);
});
