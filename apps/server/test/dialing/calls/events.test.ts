import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { HeldCall } from '../../../src/dialing/calls/call.ts';
import { createCallRecorder } from '../../../src/dialing/calls/record-call-events.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import { systemClock } from '../../../src/foundation/values/clock.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { ServiceError } from '../../../src/foundation/values/service-error.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { type Given, seedRows } from '../../seed/rows.ts';

/** Calls of nobody that a recorder writes the events of, and what it takes to refuse an end. */
async function recorded(database: Database, count: number, row: Given<'calls'> = {}) {
  const { workspaceId } = await seedCampaign(database, { contacts: 0 });
  const now = new Date();
  const calls = Array.from(
    { length: count },
    (_, i): HeldCall => ({
      workspaceId,
      roomId: newUuid(),
      owner: { kind: 'intent', id: newUuid() },
      campaignId: null,
      toNumber: 14_150_000_000 + i,
      fromNumber: 12_120_000_000,
      provider: 'simulator',
      attempt: 1,
      startAt: now,
      placeBefore: now,
    }),
  );
  const placed = { workspace_id: workspaceId, queued_at: now, ...row };
  await seedRows(
    database,
    'calls',
    calls.map(({ roomId, toNumber }) => ({ ...placed, id: roomId, to_number: toNumber })),
  );
  const rooms = calls.map((call) => call.roomId);
  const held = new Map(calls.map((call) => [call.roomId, call]));
  const refused = new Set<string>();
  /** Of which their owners were told that they have ended. */
  const ended: string[] = [];
  const recorder = createCallRecorder({
    database,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    callOf: (roomId) => held.get(roomId),
    onWritten: () => {},
    onAgentsFailing: async () => {},
    recordEvents: async () => {},
    owners: {
      lock: async () => {},
      onCallsSetAside: async () => {},
      onCallsEnded: async (_tx, calls) => {
        if (calls.some((call) => refused.has(call.roomId))) throw new Error('refused');
        ended.push(...calls.map(({ roomId }) => roomId));
      },
    },
  });
  return { rooms, held, refused, recorder, ended, now };
}

test('a call whose end the database refuses every time keeps no other call from ending', () =>
  withDatabase(async (database) => {
    const { rooms, held, refused, recorder, now } = await recorded(database, 9);
    refused.add(rooms[0]!);
    recorder.record(rooms.map((roomId) => ({ roomId, at: now, type: 'ended', outcome: 'busy', endedBy: 'callee' })));
    const open = () =>
      database.inEngine(
        async ({ db }) => (await sql<{ id: string }>`select id from calls where ended_at is null`.execute(db)).rows,
      );
    await expect.poll(open, { interval: 100 }).toEqual([{ id: rooms[0] }]);
    held.delete(rooms[0]!);
    await recorder.idle();
  }));

test('a call that another server has ended meanwhile ends no second time', () =>
  withDatabase(async (database) => {
    const over = { status: 'completed', outcome: 'answered', ended_at: new Date(0) } as const;
    const { rooms, recorder, ended, now } = await recorded(database, 1, over);
    recorder.record([{ roomId: rooms[0]!, at: now, type: 'ended', outcome: 'busy', endedBy: 'callee' }]);
    await recorder.idle();
    expect(ended).toEqual([]);
    const [row] = await database.inEngine(({ db }) =>
      db.selectFrom('calls').select(['status', 'outcome', 'ended_at']).execute(),
    );
    expect(row).toEqual(over);
  }));

test('while the database is away sets stay whole and nobody waits for them; they are written when it is back', () =>
  withDatabase(async (database) => {
    const sets: string[] = [];
    let isAway = true;
    const inHotLoop: Database['inHotLoop'] = (fn) => {
      sets.push(isAway ? 'refused' : 'written');
      return isAway ? Promise.reject(new ServiceError('unavailable', 'Away.')) : database.inHotLoop(fn);
    };
    const { rooms, recorder, now } = await recorded({ ...database, inHotLoop }, 9);
    recorder.record(rooms.map((roomId) => ({ roomId, at: now, type: 'ended', outcome: 'busy', endedBy: 'callee' })));
    await recorder.idle();
    expect(sets).toEqual(['refused']);
    isAway = false;
    await expect.poll(() => sets).toEqual(['refused', 'written']);
    await recorder.idle();
    const open = await database.inEngine(({ db }) =>
      db.selectFrom('calls').select('id').where('ended_at', 'is', null).execute(),
    );
    expect(open).toEqual([]);
  }));

test('what the agent did is kept with the end, and what it said as it may be shown', () =>
  withDatabase(async (database) => {
    const { rooms, recorder, now } = await recorded(database, 1, { status: 'in_progress' });
    const agentEnd = { reason: 'crashed', closeCode: 1011, soundLeftOutMs: 40, framesMissed: 2 } as const;
    const ended = { at: now, type: 'ended', outcome: 'answered', endedBy: 'error' } as const;
    recorder.record([{ roomId: rooms[0]!, ...ended, agentEnd: { ...agentEnd, text: `a\0b${'c'.repeat(300)}` } }]);
    await recorder.idle();
    const [row] = await database.inEngine(({ db }) => db.selectFrom('calls').select('agent_end').execute());
    expect(row).toEqual({ agent_end: { ...agentEnd, text: `a b${'c'.repeat(252)}` } });
  }));

test.each([
  ['nothing', null, { status: 'failed', outcome: 'agent_error' }],
  ['a result', { disposition: 'done' }, { status: 'completed', outcome: 'answered' }],
] as const)('a call whose agent broke off unheard, and has told %s, ends so', (_, result, last) =>
  withDatabase(async (database) => {
    const up = { status: 'in_progress', answered_at: new Date(), result } as const;
    const { rooms, recorder, now } = await recorded(database, 1, up);
    const agentEnd = { reason: 'hung_up', soundLeftOutMs: 0, framesMissed: 0 } as const;
    const ended = { at: now, type: 'ended', outcome: 'agent_error', endedBy: 'agent', agentEnd } as const;
    recorder.record([{ roomId: rooms[0]!, ...ended }]);
    await recorder.idle();
    const row = await database.inEngine(({ db }) =>
      db.selectFrom('calls').select(['status', 'outcome']).executeTakeFirstOrThrow(),
    );
    expect(row).toEqual(last);
  }),
);

test.each([
  ['dialing', 'cancelled'],
  ['ringing', 'cancelled'],
  ['in_progress', 'completed'],
] as const)('a call that was %s and that its provider says was cancelled is %s', (status, last) =>
  withDatabase(async (database) => {
    const { rooms, recorder, now } = await recorded(database, 1, { status });
    recorder.record([{ roomId: rooms[0]!, at: now, type: 'ended', outcome: 'cancelled', endedBy: 'service' }]);
    await recorder.idle();
    const ended = await database.inEngine(({ db }) =>
      db.selectFrom('calls').select(['status', 'outcome']).executeTakeFirstOrThrow(),
    );
    expect(ended).toEqual({ status: last, outcome: 'cancelled' });
  }),
);
