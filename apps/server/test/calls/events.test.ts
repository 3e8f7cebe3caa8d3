import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { HeldCall } from '../../src/calls/call.ts';
import { createCallRecorder } from '../../src/calls/record-call-events.ts';
import { systemClock } from '../../src/clock.ts';
import { newUuid } from '../../src/ids.ts';
import { withDatabase } from '../database/own-database.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { seedRows } from '../seed/rows.ts';

test('a call whose end the database refuses every time keeps no other call from ending', () =>
  withDatabase(async (database) => {
    const { workspaceId } = await seedCampaign(database, { contacts: 0 });
    const now = new Date();
    const calls = Array.from(
      { length: 9 },
      (_, i): HeldCall => ({
        workspaceId,
        roomId: newUuid(),
        campaignId: null,
        contactId: null,
        workflowRunId: null,
        toNumber: 14_150_000_000 + i,
        fromNumber: 12_120_000_000,
        provider: 'simulator',
        attempt: 1,
        startAt: now,
        placeBefore: now,
      }),
    );
    const placed = { workspace_id: workspaceId, queued_at: now };
    await seedRows(
      database,
      'calls',
      calls.map(({ roomId, toNumber }) => ({ ...placed, id: roomId, to_number: toNumber })),
    );
    const refused = calls[0]!.roomId;
    const held = new Map(calls.map((call) => [call.roomId, call]));
    const recorder = createCallRecorder({
      database,
      clock: systemClock,
      log: pino({ level: 'silent' }),
      callOf: (roomId) => held.get(roomId),
      onWritten: () => {},
      recordEvents: async () => {},
      owners: {
        lock: async () => {},
        onCallsEnded: async (_tx, ended) => {
          if (ended.some((call) => call.roomId === refused)) throw new Error('refused');
        },
      },
    });
    recorder.record(
      calls.map(({ roomId }) => ({ roomId, at: now, type: 'ended', outcome: 'busy', endedBy: 'callee' })),
    );
    const open = () =>
      database.inEngine(
        async ({ db }) => (await sql<{ id: string }>`select id from calls where ended_at is null`.execute(db)).rows,
      );
    await expect.poll(open, { interval: 100 }).toEqual([{ id: refused }]);
    held.delete(refused);
    await recorder.idle();
  }));
