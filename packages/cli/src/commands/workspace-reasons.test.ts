import { expect, test } from 'vitest';
import { workspaceReasons } from './workspace-reasons.ts';

type Workspace = Parameters<typeof workspaceReasons>[0];
type Person = Parameters<typeof workspaceReasons>[1];

const NIGHT = new Date('2026-11-27T05:30:00Z');

const workspace = (more: Partial<Workspace>): Workspace => ({
  id: 'ws_1',
  name: 'Clinic',
  limits: {},
  quietHoursAreDefault: false,
  usage: { callsToday: 0, numbersBoughtToday: 0, liveCalls: 0 },
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  ...more,
});
const person = (...dialed: string[]): Person => ({
  phoneNumber: '+14155550142',
  timezones: ['America/Los_Angeles'],
  lists: [],
  calls: dialed.map((dialedAt) => ({ direction: 'outbound', dialedAt }) as never),
});

test('hours that are quiet where the person is are said, by their clock', () => {
  const quiet = workspace({ quietHours: { start: 1260, end: 480 }, quietHoursAreDefault: true });
  expect(workspaceReasons(quiet, person(), NIGHT)).toEqual([
    "It is 21:30 in America/Los_Angeles: the workspace's quiet hours. Simulated calls and trusted numbers are free of them.",
  ]);
  expect(workspaceReasons(quiet, person(), new Date('2026-11-27T17:00:00Z'))).toEqual([]);
  const thursday = workspace({ quietWindows: [{ days: [4], start: 1200, end: 60 }], holidays: ['2026-11-26'] });
  expect(workspaceReasons(thursday, person(), NIGHT)).toEqual([
    "It is 21:30 in America/Los_Angeles: a quiet part of the workspace's week.",
    'It is 2026-11-26 in America/Los_Angeles: a holiday of the workspace.',
  ]);
  // Friday, half past midnight, is the rest of Thursday's.
  expect(workspaceReasons(thursday, person(), new Date('2026-11-27T08:30:00Z'))).toHaveLength(1);
  expect(workspaceReasons(thursday, person(), new Date('2026-11-27T09:30:00Z'))).toEqual([]);
});

test('caps that are reached are said with how much the workspace allows', () => {
  const limits = { maxAttemptsPerPersonPerDay: 2, maxAttemptsPerPerson: [{ attempts: 3, hours: 48 }] };
  const calls = ['2026-11-26T20:00:00Z', '2026-11-27T04:00:00Z', '2026-11-25T20:00:00Z'];
  expect(workspaceReasons(workspace({ limits }), person(...calls), NIGHT)).toEqual([
    'Called 2 times today: the workspace allows 2 a day.',
    'Called 3 times in 48 hours: the workspace allows 3.',
  ]);
  expect(workspaceReasons(workspace({ limits }), person(calls[0]!), NIGHT)).toEqual([]);
  const full = { limits: { maxCallsPerDay: 10, maxConcurrentCalls: 2 } };
  const usage = { callsToday: 10, numbersBoughtToday: 0, liveCalls: 2 };
  expect(workspaceReasons(workspace({ ...full, usage }), person(), NIGHT)).toHaveLength(2);
});
