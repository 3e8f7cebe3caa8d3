import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seedCampaign } from '../seed/campaign.ts';
import { seedRows } from '../seed/rows.ts';
import { seedWorkspace } from '../seed/workspace.ts';
import { until } from '../until.ts';
import { type FakeMachine, hasFaketime, startFakeMachine } from './fake-machine.ts';

const ZONES = ['America/Los_Angeles', 'Europe/Berlin', 'Asia/Kolkata'] as const;
const MINUTE_MS = 60_000;
/** How long before a midnight the machine's clock is set: the server goes by it a second or two later. */
const BEFORE_MS = 4000;

/** The local date, by another implementation than the server's. */
const dayIn = (timeZone: string, at: Date): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(at);

/** The first full minute of the next local date. */
function midnightAfter(timeZone: string, at: Date): Date {
  let next = Math.floor(at.getTime() / MINUTE_MS + 1) * MINUTE_MS;
  while (dayIn(timeZone, new Date(next)) === dayIn(timeZone, at)) next += MINUTE_MS;
  return new Date(next);
}

/** A person, and when it was called before. */
interface Callee {
  phone_number: number;
  timezone: string;
  calledAt: Date;
}

/**
 * Three people of each zone around a midnight in one of them. Those of that one were called in the first minutes of the
 * day that is about to end; of the others one in the last minute of the day before, and two today.
 */
function calleesAround(midnight: Date, timezone: string): Callee[] {
  return ZONES.flatMap((zone, at) => {
    const ago = new Date(midnight.getTime() - MINUTE_MS);
    let begun = ago.getTime();
    while (dayIn(zone, new Date(begun - MINUTE_MS)) === dayIn(zone, ago)) begun -= MINUTE_MS;
    const times =
      zone === timezone ? [begun, begun + 10 * MINUTE_MS, ago.getTime()] : [begun - 1, begun, ago.getTime()];
    return times.map((time, i) => ({
      phone_number: 12_015_550_100 + 10_000_000 * (3 * at + i + 1),
      timezone: zone,
      calledAt: new Date(time),
    }));
  });
}

describe.skipIf(!hasFaketime)('a server whose clock is set, which needs faketime', () => {
  let machine: FakeMachine;
  beforeAll(async () => {
    machine = await startFakeMachine(new Date('2027-03-10T12:00:00Z'));
  });
  afterAll(() => machine?.stop());

  test.each([
    ['Asia/Kolkata', '2027-03-10T18:30:00Z', 24],
    ['America/Los_Angeles', '2027-03-15T07:00:00Z', 23],
    ['Europe/Berlin', '2027-03-28T22:00:00Z', 23],
    ['Europe/Berlin', '2027-10-31T23:00:00Z', 25],
    ['America/Los_Angeles', '2027-11-08T08:00:00Z', 25],
  ])(
    'calls once a day of the person around midnight in %s, %s, after a day of %i hours',
    async (timezone, time, hours) => {
      const { database } = machine;
      const midnight = new Date(time);
      const callees = calleesAround(midnight, timezone);
      const [first] = callees.filter((callee) => callee.timezone === timezone);
      expect(midnight.getTime() - first!.calledAt.getTime()).toBe(hours * 60 * MINUTE_MS);

      await machine.set(new Date(midnight.getTime() - BEFORE_MS));
      const workspaceId = await seedWorkspace(database, {
        max_attempts_per_person_per_day: 1,
        quiet_hours_start: null,
        quiet_hours_end: null,
      });
      const before = callees.map(({ phone_number, calledAt }) => ({
        workspace_id: workspaceId,
        to_number: phone_number,
        status: 'completed',
        outcome: 'answered',
        queued_at: calledAt,
        dialed_at: calledAt,
        answered_at: calledAt,
        ended_at: calledAt,
      }));
      await seedRows(database, 'calls', before as never[]);
      const { campaignId } = await seedCampaign(database, {
        contacts: callees.length,
        workspaceId,
        number: (i) => callees[i]!.phone_number,
        timezone: (i) => callees[i]!.timezone,
        campaign: { schedule_start: 0, schedule_end: 1440, retry_policy: [] },
      });
      const contacts = () =>
        database.inEngine(({ db }) =>
          db
            .selectFrom('campaign_contacts')
            .select(['phone_number', 'state', 'next_attempt_at'])
            .where('campaign_id', '=', campaignId)
            .execute(),
        );
      // Whose day begins at this midnight, and who was not called in the day that goes on.
      const mayBeCalled = callees.filter(
        ({ timezone, calledAt }) => dayIn(timezone, calledAt) !== dayIn(timezone, midnight),
      );
      await until(async () => (await contacts()).filter(({ state }) => state === 'done').length >= mayBeCalled.length);
      // By the provider's own record.
      const placed = await database.inEngine(({ db }) =>
        db
          .selectFrom('calls')
          .innerJoin('simulator_calls as s', 's.room_id', 'calls.id')
          .select(['calls.to_number', 's.placed_at'])
          .where('workspace_id', '=', workspaceId)
          .execute(),
      );
      expect(placed).toHaveLength(mayBeCalled.length);
      const days = callees.flatMap(({ phone_number, timezone, calledAt }) => {
        const since = placed.filter(({ to_number }) => to_number === phone_number).map(({ placed_at }) => placed_at);
        return [calledAt, ...since].map((at) => `${phone_number} ${dayIn(timezone, at)}`);
      });
      expect(days.filter((day, at) => days.indexOf(day) !== at)).toEqual([]);
      const left = (await contacts()).filter(({ state }) => state !== 'done');
      const expected = callees.filter((callee) => !mayBeCalled.includes(callee));
      expect(
        left.map(({ phone_number, next_attempt_at }) => `${phone_number} ${next_attempt_at.toISOString()}`).sort(),
      ).toEqual(
        expected
          .map(({ phone_number, timezone }) => `${phone_number} ${midnightAfter(timezone, midnight).toISOString()}`)
          .sort(),
      );
    },
  );
});
