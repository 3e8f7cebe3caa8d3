import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { askForCall } from '../../../src/dialing/calls/ask-for-call.ts';
import type { CallAnswer, CallWish } from '../../../src/dialing/calls/call-wish.ts';
import { hangUpRequested } from '../../../src/dialing/calls/hang-up-requested.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import type { CallGateway } from '../../../src/lines/telephony/call-gateway.ts';
import { noOperatorLimits } from '../../../src/platform/workspace/operator-limits.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { usageOf } from '../../lines/number-pools/pool-usage.ts';
import { type SeedOptions, seedCampaign } from '../../seed/campaign.ts';
import { seedPool } from '../../seed/pool.ts';
import { seedRow, seedRows } from '../../seed/rows.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { until } from '../../until.ts';
import { startTestDialer, type TestDialer } from '../dialing.ts';

const NOW = new Date('2026-03-10T12:00:00Z');
const ANSWERS = '+14155550100';

const ofRun = () => ({ kind: 'run', id: newUuid() });

/** A workspace with a number, and a way to ask for a run's call there. */
async function runCalls(database: Database, seed: Omit<SeedOptions, 'contacts'> = {}, now: () => Date = () => NOW) {
  const { switchboard, stop }: TestDialer = await startTestDialer(database, { speed: 1 });
  const { workspaceId } = await seedCampaign(database, {
    ...seed,
    contacts: 0,
    phoneNumber: { phone_number: '+12125550199', ...seed.phoneNumber },
    campaign: { status: 'draft' },
  });
  const servers = await database.inEngine(({ db }) => db.selectFrom('servers').select('id').execute());
  const request = async (wish: Partial<CallWish> = {}, isSimulated = switchboard.isSimulated): Promise<CallAnswer> => {
    const whole = {
      workspaceId,
      owner: ofRun(),
      attempt: 1,
      to: ANSWERS,
      from: { number: '+12125550199' },
      agentId: 'agent',
      variables: { first_name: 'Ada' },
      ringTimeoutSeconds: 30,
      maxCallSeconds: 60,
      recording: false,
      asksAgain: true,
      hours: {},
      ...wish,
    };
    const terms = {
      serverId: servers[0]!.id,
      now: now(),
      isSimulated,
      operator: noOperatorLimits,
    };
    return database.inEngine((tx) => askForCall(tx, whole, terms));
  };
  const call = (roomId: string) =>
    database.inEngine(({ db }) =>
      db.selectFrom('calls').selectAll().where('id', '=', roomId).executeTakeFirstOrThrow(),
    );
  return { workspaceId, switchboard, stop, request, call };
}

test.concurrent('a call of a run is placed with its variables, and ended where its end is asked for', () =>
  withDatabase(async (database) => {
    const { workspaceId, switchboard, stop, request, call } = await runCalls(database, {}, () => new Date());
    const owner = ofRun();
    const answer = await request({ owner });
    if (answer.kind !== 'queued') throw new Error(`The call is ${answer.kind}.`);
    const { roomId } = answer.call;
    switchboard.place([answer.call]);
    await until(async () => (await call(roomId)).status === 'in_progress');
    expect(await call(roomId)).toMatchObject({
      owner_kind: 'run',
      owner_id: owner.id,
      variables: { first_name: 'Ada' },
    });
    expect(await request()).toMatchObject({ kind: 'blocked', reason: 'already_on_a_call' });
    await database.inWorkspace(workspaceId, (tx) => switchboard.requestEnd(tx, [roomId], new Date()));
    switchboard.nudgeHangUps();
    await until(async () => (await call(roomId)).ended_at !== null);
    expect(await call(roomId)).toMatchObject({ status: 'completed', ended_by: 'service' });
    await stop();
  }));

test.concurrent('a queued call whose end is asked for is never placed', () =>
  withDatabase(async (database) => {
    const { workspaceId, switchboard, stop, request, call } = await runCalls(database, {}, () => new Date());
    const answer = await request();
    if (answer.kind !== 'queued') throw new Error(`The call is ${answer.kind}.`);
    const { roomId } = answer.call;
    await database.inWorkspace(workspaceId, (tx) => switchboard.requestEnd(tx, [roomId], new Date()));
    switchboard.place([answer.call]);
    await stop();
    expect(await call(roomId)).toMatchObject({ status: 'cancelled', outcome: 'cancelled', dialed_at: null });
  }));

test.concurrent('a call that comes back was not made: it counts nowhere, and its person can be called', () =>
  withDatabase(async (database) => {
    const { workspaceId, switchboard, stop, request } = await runCalls(database);
    const answer = await request();
    if (answer.kind !== 'queued') throw new Error(`The call is ${answer.kind}.`);
    // Its time is long over.
    switchboard.place([answer.call]);
    await stop();
    const left = await database.inEngine(async ({ db }) => ({
      calls: await db.selectFrom('calls').select('id').execute(),
      usage: await db.selectFrom('workspace_usage').select(['workspace_id', 'calls']).execute(),
    }));
    expect(left).toEqual({ calls: [], usage: [{ workspace_id: workspaceId, calls: 0 }] });
  }));

const quiet = { quiet_hours_start: 12 * 60, quiet_hours_end: 14 * 60 };

test.concurrent.each<[string, Omit<SeedOptions, 'contacts'>, Partial<CallWish>, object]>([
  ['a number that is none', {}, { to: 'Ada' }, { kind: 'refused', outcome: 'invalid_number' }],
  ['an emergency number', {}, { to: '+1911' }, { kind: 'refused', outcome: 'invalid_number' }],
  ['another behind a calling code', {}, { to: '+49116117' }, { kind: 'refused', outcome: 'invalid_number' }],
  ['a workspace that dials nobody', { workspace: { dialing_paused_at: NOW } }, {}, { reason: 'dialing_paused' }],
  ['an unknown caller ID', {}, { from: { number: '+12125550198' } }, { reason: 'no_caller_id' }],
  ['a suspended number', { phoneNumber: { status: 'suspended' } }, {}, { reason: 'no_caller_id' }],
  ['a provider that is not here', { phoneNumber: { provider: 'telnyx' } }, {}, { reason: 'no_caller_id' }],
  ['a country apart', { workspace: { allowed_countries: ['DE'] } }, {}, { reason: 'country_not_allowed' }],
  ['the number apart', { phoneNumber: { allowed_outbound_countries: ['DE'] } }, {}, { reason: 'country_not_allowed' }],
  ['a number that no plan has', {}, { to: '+14150000000' }, { kind: 'refused', outcome: 'invalid_number' }],
  ['a premium-rate number', {}, { to: '+19002341234' }, { reason: 'country_not_allowed' }],
  ['a satellite', {}, { to: '+8816123456789' }, { reason: 'country_not_allowed' }],
  ['a personal number', {}, { to: '+447012345678' }, { reason: 'country_not_allowed' }],
  [
    'quiet hours, at its area code',
    { workspace: { quiet_hours_start: 21 * 60, quiet_hours_end: 8 * 60 } },
    {},
    { reason: 'quiet_hours', until: new Date('2026-03-10T15:00:00Z') },
  ],
  [
    "a holiday, by the callee's calendar",
    { workspace: { holidays: ['2026-03-10'] } },
    {},
    { reason: 'holiday', until: new Date('2026-03-11T07:00:00Z') },
  ],
  [
    "quiet hours, by the callee's clock",
    { workspace: quiet },
    { to: '+493012345678' },
    { reason: 'quiet_hours', until: new Date('2026-03-10T13:00:00Z') },
  ],
  [
    'windows that are closed at its area code',
    {},
    { hours: { callingWindows: [{ days: [2], start: 540, end: 1020 }] } },
    { reason: 'outside_window', until: new Date('2026-03-10T16:00:00Z') },
  ],
  [
    'windows that are closed by the clock of the node',
    {},
    {
      hours: { callingWindows: [{ days: [2], start: 0, end: 60 }], calleeTimeZone: 'campaign', timezone: 'Asia/Tokyo' },
    },
    { reason: 'outside_window', until: new Date('2026-03-16T15:00:00Z') },
  ],
  [
    'windows that never open in both time zones of its area code',
    {},
    { to: '+16055550123', hours: { callingWindows: [{ days: [2], start: 540, end: 600 }] } },
    { kind: 'blocked', reason: 'no_common_hour' },
  ],
  [
    'a time zone that an older version took, where the number tells none',
    {},
    {
      hours: { callingWindows: [{ days: [2], start: 0, end: 1440 }], calleeTimeZone: 'campaign', timezone: 'PST' },
    },
    { kind: 'blocked', reason: 'invalid_time_zone' },
  ],
  ['no live calls left', { workspace: { max_concurrent_calls: 0 } }, {}, { reason: 'limit_reached' }],
  [
    'no calls left today',
    { workspace: { max_calls_per_day: 0 } },
    {},
    { reason: 'limit_reached', until: new Date('2026-03-11T00:00:00Z') },
  ],
  [
    "no attempts left today, by the callee's clock",
    { workspace: { max_attempts_per_person_per_day: 0 } },
    {},
    { reason: 'limit_reached', until: new Date('2026-03-11T07:00:00Z') },
  ],
])('nobody is called: %s', (_, seed, wish, answer) =>
  withDatabase(async (database) => {
    const { stop, request } = await runCalls(database, seed);
    expect(await request(wish)).toMatchObject(answer);
    expect(await database.inEngine(({ db }) => db.selectFrom('calls').select('id').execute())).toEqual([]);
    await stop();
  }),
);

const byDefault = { quiet_hours_start: 21 * 60, quiet_hours_end: 8 * 60, quiet_hours_are_default: true };
const isSimulated = (provider: string) => provider === 'simulator';
const sip = { trunk: {} };
const untilEight = { reason: 'quiet_hours', until: new Date('2026-03-10T15:00:00Z') };

test.concurrent.each<[string, Omit<SeedOptions, 'contacts'>, object]>([
  ['hold a number that rings', { phoneNumber: sip, workspace: byDefault }, untilEight],
  ['hold no simulated one', { workspace: byDefault }, { kind: 'queued' }],
  [
    'hold nobody who is trusted',
    { phoneNumber: sip, workspace: { ...byDefault, trusted_numbers: [14155550100] } },
    { kind: 'queued' },
  ],
  ['hold who is not', { phoneNumber: sip, workspace: { ...byDefault, trusted_numbers: [14155550101] } }, untilEight],
  [
    'hold everybody once somebody has set them',
    { workspace: { ...byDefault, quiet_hours_are_default: false, trusted_numbers: [14155550100] } },
    untilEight,
  ],
  [
    'leave other hours as they are',
    { workspace: { ...byDefault, holidays: ['2026-03-10'], trusted_numbers: [14155550100] } },
    { reason: 'holiday' },
  ],
])('hours that nobody has set %s', (_, seed, answer) =>
  withDatabase(async (database) => {
    const { stop, request } = await runCalls(database, seed);
    expect(await request({}, isSimulated)).toMatchObject(answer);
    await stop();
  }),
);

test.concurrent('of a pool hours that nobody has set leave the simulated numbers', () =>
  withDatabase(async (database) => {
    const { workspaceId, stop, request, call } = await runCalls(database, { workspace: byDefault });
    const members = [sip, sip, { provider: 'simulator' } as const];
    const { poolId, memberIds } = await seedPool(database, workspaceId, members, { max_concurrent_per_number: 1 });
    const answer = await request({ from: { poolId } }, isSimulated);
    if (answer.kind !== 'queued') throw new Error(`The call is ${answer.kind}.`);
    expect((await call(answer.call.roomId)).phone_number_id).toBe(memberIds[2]);
    // The one that may is busy: it is looked at again before the morning.
    const next = await request({ from: { poolId }, to: '+14155550101' }, isSimulated);
    expect(next).toEqual({ kind: 'blocked', reason: 'no_caller_id' });
    await database.inEngine(({ db }) =>
      sql`update phone_numbers set provider = 'sip', trunk_id = (select id from trunks limit 1)
      where id = ${memberIds[2]!}`.execute(db),
    );
    expect(await request({ from: { poolId }, to: '+14155550101' }, isSimulated)).toMatchObject(untilEight);
    await stop();
  }));

test.concurrent('nobody is called who opted out', () =>
  withDatabase(async (database) => {
    const { workspaceId, stop, request } = await runCalls(database);
    await seedRow(database, 'do_not_call', { workspace_id: workspaceId, phone_number: 14155550100 });
    expect(await request()).toEqual({ kind: 'refused', outcome: 'do_not_call' });
    await stop();
  }));

test.concurrent('from a pool a number is chosen and counted, for the next attempt another, and none where none is free', () =>
  withDatabase(async (database) => {
    const { workspaceId, switchboard, stop, request } = await runCalls(database);
    const caps = { max_calls_per_number_per_day: 1 };
    const { poolId, memberIds } = await seedPool(database, workspaceId, [{}, { country: 'DE' }], caps);
    const from = { poolId };
    const owner = ofRun();
    const attempts = async () => (await usageOf(database, memberIds)).map((row) => row.attempts);
    const first = await request({ from, owner });
    if (first.kind !== 'queued') throw new Error(`The call is ${first.kind}.`);
    expect([first.call.fromNumber, await attempts()]).toEqual([12125550200, [1, 0]]);
    expect(await request({ from })).toMatchObject({ kind: 'blocked', reason: 'already_on_a_call' });
    expect(await attempts()).toEqual([1, 0]);
    const second = await request({ from, owner, attempt: 2, to: '+14155550101' });
    expect(second).toMatchObject({ kind: 'queued', call: { fromNumber: 12125550201 } });
    expect(await request({ from, to: '+14155550102' })).toEqual({ kind: 'blocked', reason: 'no_caller_id' });
    // Its time is long over: it goes back.
    switchboard.place([first.call]);
    await stop();
    expect(await attempts()).toEqual([0, 1]);
  }));

test.concurrent('calls that the provider is slow to end, or has not ended, keep no other from being hung up', () =>
  withDatabase(async (database) => {
    // No dialer: one that stalls would lose these calls to itself under another name.
    const { id: serverId } = await seedRow(database, 'servers');
    const workspaceId = await seedWorkspace(database);
    const { id: numberId } = await seedRow(database, 'phone_numbers', { workspace_id: workspaceId });
    const call = { workspace_id: workspaceId, phone_number_id: numberId, server_id: serverId, end_requested_at: NOW };
    const calls = Array.from({ length: 103 }, (_, i) => ({ ...call, to_number: 14155553000 + i }));
    await seedRows(database, 'calls', calls);
    const asked = new Set<string>();
    let answer = () => {};
    const slow = new Promise<'ending'>((resolve) => {
      answer = () => resolve('ending');
    });
    const gateway: Pick<CallGateway, 'endCall'> = {
      endCall: ({ roomId }) => {
        asked.add(roomId);
        return asked.size === 1 ? slow : Promise.resolve('ending');
      },
    };
    const lease = {
      serverId: () => serverId,
      isHeld: () => true,
      leftMs: () => 1000,
      steadySince: () => 0,
      release: async () => {},
    };
    const gatewayFor = () => gateway as CallGateway;
    const loop = hangUpRequested({ database, lease, log: pino({ level: 'silent' }), gatewayFor });
    await until(() => asked.size === 103);
    answer();
    await loop.close();
  }));

test.concurrent('a call from a number of a pool locks what counts in the order of claims', () =>
  withDatabase(async (database) => {
    const { workspaceId, stop, request } = await runCalls(database);
    await seedPool(database, workspaceId, [{ phone_number: '+12125550198' }]);
    await request({ from: { number: '+12125550198' } });
    const claim = await database.pool.connect();
    await claim.query("begin; select set_config('trunkline.engine', 'on', true); select from number_usage for update");
    const requested = request({ from: { number: '+12125550198' }, to: '+14155550101' });
    await until(async () => {
      const { rows } = await database.pool.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    });
    await claim.query('select from workspace_usage for update nowait');
    await claim.query('commit');
    claim.release();
    expect((await requested).kind).toBe('queued');
    await stop();
  }));

test.concurrent('a call of a run keeps the hours of its node, for the call that its agent may ask for', () =>
  withDatabase(async (database) => {
    const { request, call, stop } = await runCalls(database);
    const hours = { timezone: 'Europe/Berlin', callingWindows: [{ days: [1, 2, 3, 4, 5, 6, 7], start: 0, end: 1440 }] };
    const answer = await request({ hours });
    if (answer.kind !== 'queued') throw new Error(`The call is ${answer.kind}.`);
    expect((await call(answer.call.roomId)).call_back_terms).toEqual({ times: 0, ...hours });
    await stop();
  }));
