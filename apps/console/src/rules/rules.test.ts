import { describe, expect, test } from 'vitest';
import { endOfKey, grantable } from './access.ts';
import { named } from './call.ts';
import { foundBy, searched } from './found.ts';
import { clock, daysSay, marksAt, merged, minutesOf, windowFields, windowSays, windowsOf, withinDay } from './hours.ts';
import { changeOf, writtenOf } from './limits.ts';
import { consentSays, type Person, type PersonCampaign, summaryOf, verdictOf } from './person.ts';
import { boundOf, pictureOf } from './picture.ts';
import { placesOfText } from './places.ts';
import { canRedial, redialSays } from './redial.ts';
import { textsOf } from './search.ts';
import { missingIn, spokenIn } from './variables.ts';
import { filled, turnAt, waveOf } from './waves.ts';
import { allows, type Campaign, duration, numbersIn, percent, type Stats, type Workspace } from './words.ts';

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
  const pathsOf = (text: string) => placesOfText(text).map(({ path }) => path);
  expect(pathsOf(` cmp_${id}`)).toEqual([`/campaigns/cmp_${id}`]);
  expect(pathsOf(`room_${id}`)).toEqual([`/calls/room_${id}`]);
  expect(pathsOf('+1 (415) 555-0100')).toEqual(['/people/+14155550100', '/calls']);
  expect(placesOfText('+1 (415) 555-0100')[1]?.search).toEqual({ phoneNumber: '+14155550100' });
  expect(pathsOf('0049 1512 3456789')[0]).toBe('/people/+4915123456789');
  expect(pathsOf('415-555-0100')).toEqual(['/people/4155550100']);
  expect(pathsOf('Ada 2')).toEqual([]);
  expect(textsOf('state', 'q')({ state: 'done', q: 12, page: 'x' })).toEqual({ state: 'done', q: '12' });
  expect(textsOf('state')({ state: '' })).toEqual({});
});

test('what a search found leads to the screen that has it, if there is one, and nothing stands there twice', () => {
  const all = () => true;
  const hit = (type: string, more: object = {}) => ({ type, id: `${type}_1`, matched: 'name' as const, ...more });
  const ada = { ...hit('person', { matched: 'number' }), id: '+14155550100', name: 'Ada', phoneNumber: '+14155550100' };
  const [person, calls, ...others] = foundBy('+1 415 555 0100', [ada, hit('call', { matched: 'number' })], all);
  expect(person).toMatchObject({ path: '/people/+14155550100', says: 'Person +1 415 555 0100', more: 'Ada' });
  expect([calls?.path, others]).toEqual(['/calls', []]);
  expect(foundBy('Ad', [ada], () => false)).toMatchObject([
    { path: '/people/+14155550100', says: 'Ada, +14155550100' },
  ]);
  const east = { name: 'East', status: 'in_use' };
  const found = foundBy('east', [hit('agent', east), hit('trunk', east), hit('batch', east), hit('newer', east)], all);
  expect(found).toEqual([
    { key: 'agent_1', path: '/agents/agent_1', says: 'East', more: 'agent, in use' },
    { key: 'trunk_1', path: '/lists/trunks', search: { q: 'East' }, says: 'East', more: 'trunk, in use' },
    { key: 'batch_1', says: 'East', more: 'batch, in use' },
    { key: 'newer_1', says: 'East', more: 'newer, in use' },
  ]);
  expect(foundBy('calls', [], all)).toMatchObject([{ path: '/calls' }]);
  expect(searched((permission) => permission.startsWith('c'))).toBe(
    'people, calls, campaigns, batches, and contact lists',
  );
});

const at = '2026-11-23T17:00:00.000Z';
const placed = (more: Partial<PersonCampaign>, contact: Partial<PersonCampaign['contact']> = {}): PersonCampaign => ({
  ...{ status: 'running', callableNow: false },
  contact: { id: '', phoneNumber: '', variables: {}, state: 'pending', attempts: 0, roomIds: [], ...contact },
  ...more,
});
const person = (more: Partial<Person>): Person => ({ phoneNumber: '', timezones: [], lists: [], ...more });

test('whether a campaign may call somebody, why not and when, is told in words', () => {
  const says = (more: Partial<PersonCampaign>, contact = {}) => verdictOf(placed(more, contact)).says;
  expect(says({ callableNow: true })).toBe('It may call now.');
  expect(says({}, { state: 'dialing' })).toBe('It is calling now.');
  expect(verdictOf(placed({ reason: 'outside_window', nextAttemptAt: at }))).toEqual({
    ...{ says: 'Not now: outside the campaign’s hours.', todo: 'Wait, or change the hours.', at, isNow: false },
  });
  expect(says({ reason: 'do_not_call' })).toBe('No: on a do-not-call list.');
  expect(says({ reason: 'skipped_by_user' }, { state: 'skipped' })).toBe('No: somebody had it skipped.');
  expect(says({}, { state: 'done', lastOutcome: 'answered' })).toBe('No: it is done with this person. Answered.');
  expect(says({ status: 'draft' })).toBe('Not now: it is draft.');
});

test('what may call somebody at all is told in one sentence', () => {
  const says = (more: Partial<Person>) => summaryOf(person(more)).says;
  expect(says({ isDoNotCall: true, campaigns: [placed({ callableNow: true })] })).toMatch(/do-not-call list/);
  expect(says({ campaigns: [] })).toBe('No campaign has this number.');
  expect(says({})).toMatch(/can’t be shown to you/);
  expect(says({ campaigns: [placed({ callableNow: true }), placed({})] })).toBe('1 campaign may call now.');
  expect(says({ campaigns: [placed({}, { state: 'dialing' })] })).toBe('It is being called.');
  const later = placed({ reason: 'holiday', nextAttemptAt: '2026-11-24T17:00:00.000Z' });
  expect(summaryOf(person({ campaigns: [later, placed({ reason: 'holiday', nextAttemptAt: at })] })).at).toBe(at);
  expect(says({ campaigns: [placed({ reason: 'no_consent' })] })).toBe('No campaign is going to call.');
  const entry = { phoneNumber: '', variables: {}, createdAt: at };
  expect(consentSays({ ...entry, consent: { given: true, source: 'Web form', purpose: 'Reminders' } })).toBe(
    'has agreed (Web form, for Reminders)',
  );
  expect([consentSays({ ...entry, consent: { given: false } }), consentSays(entry)]).toEqual([
    'has not agreed',
    undefined,
  ]);
});

test('who was not reached is called again by an active campaign, and by a draft of one that has ended', () => {
  expect(['draft', 'scheduled', 'running', 'paused', 'completed', 'stopped', 'cancelled'].filter(canRedial)).toEqual([
    ...['running', 'paused', 'completed', 'stopped'],
  ]);
  expect(redialSays('running', 2)).toMatchObject({ does: 'Call 2 people again', isDraft: false });
  expect(redialSays('paused', 2).says).toMatch(/once the campaign is resumed/);
  expect(redialSays('completed', 1)).toMatchObject({ does: 'Make a draft of 1 person', isDraft: true });
});

test('a key is given no more than its maker has, and ends when it should', () => {
  expect(grantable(['calls:read', 'api_keys:write', 'campaigns:run', 'campaigns:read'])).toEqual([
    { of: 'campaigns', permissions: ['campaigns:read', 'campaigns:run'] },
    { of: 'calls', permissions: ['calls:read'] },
    { of: 'api_keys', permissions: ['api_keys:write'] },
  ]);
  expect(grantable(['*']).flatMap(({ permissions }) => permissions)).toContain('members:write');
  expect(Math.max(...grantable(['*']).map(({ permissions }) => permissions.length))).toBe(4);
  const now = new Date('2026-11-01T00:00:00Z');
  expect([endOfKey(0, now), endOfKey(30, now)]).toEqual([undefined, '2026-12-01T00:00:00.000Z']);
});

test('the variables of an agent’s texts are found, and those that a list lacks', () => {
  const spoken = spokenIn('Hi {{ first_name | default: "there" }}, on {{day}}.', '{{day}} {{name}}');
  expect(spoken).toEqual({ names: ['first_name', 'day', 'name'], needed: ['day', 'name'], loose: undefined });
  expect([missingIn(spoken, ['day']), missingIn(spoken, ['first_name'])]).toEqual([[], ['day']]);
  expect([spokenIn('Hi {{first name}}').loose, spokenIn('Hi {{').loose]).toEqual(['{{first name}}', '{{']);
});

test('of limits and hours only what was changed is sent', () => {
  const before = writtenOf({
    limits: { maxConcurrentCalls: 4, allowedCountries: ['US'], premiumRateAllowed: false },
    quietHours: { start: 1260, end: 480 },
  } as unknown as Workspace);
  expect(before).toMatchObject({ maxConcurrentCalls: '4', quietStart: '21:00', quietEnd: '08:00' });
  expect(changeOf(before, before)).toEqual({});
  expect(changeOf(before, { ...before, maxConcurrentCalls: '', allowedCountries: 'us, de' })).toEqual({
    limits: { maxConcurrentCalls: null, allowedCountries: ['US', 'DE'] },
  });
  expect(changeOf(before, { ...before, quietEnd: '09:00', holidays: '2026-12-25' })).toEqual({
    quietHours: { start: 1260, end: 540 },
    holidays: ['2026-12-25'],
  });
  expect(changeOf(before, { ...before, quietStart: '', quietEnd: '' })).toEqual({ quietHours: null });
  expect(() => changeOf(before, { ...before, quietEnd: '' })).toThrow(/begin and end at a time/);
});

test('numbers are taken out of what was copied', () => {
  expect(numbersIn('+1 415 555 0142\r\n(415) 555-0143; +4930123\n\n')).toEqual([
    ...['+1 415 555 0142', '(415) 555-0143', '+4930123'],
  ]);
});

test('the sound is drawn around the middle of its channel, and the turn that is being said is found', () => {
  expect(waveOf([0, 1, 2], 25, 20)).toBe('M0 25.00L1 5.00L2 5.00L2 45.00L1 45.00L0 25.00Z');
  expect(waveOf([], 25, 20)).toBe('');
  expect(filled({ callee: [0, 0.5], agent: [0.25] })).toEqual({ callee: [0, 1], agent: [0.5] });
  const turns = [{ at: '2026-11-20T09:00:01Z' }, { at: '2026-11-20T09:00:03Z' }];
  const answeredAt = Date.parse('2026-11-20T09:00:00Z');
  expect([0, 1, 2.9, 3].map((second) => turnAt(turns, answeredAt, second))).toEqual([-1, 0, 0, 1]);
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
