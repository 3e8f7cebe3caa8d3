import { expect, test } from 'vitest';
import { waitingCalls } from '../../../src/dialing/call-intents/waiting-calls.ts';
import { callEventRecorder } from '../../../src/dialing/calls/call-events.ts';
import { recordOver } from '../../../src/dialing/calls/record-over.ts';
import { callStore } from '../../../src/dialing/calls/store.ts';
import { countConversions } from '../../../src/dialing/campaigns/count-conversions.ts';
import { campaignCallDetails } from '../../../src/dialing/campaigns/own-calls.ts';
import { retryMachine } from '../../../src/dialing/campaigns/retry-machine.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import { ServiceError } from '../../../src/foundation/values/service-error.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedWebhook } from '../../seed/webhook.ts';
import { testClock } from '../../test-clock.ts';

const calls = callStore(campaignCallDetails, waitingCalls);
const parts = {
  ...{ clock: testClock(), calls, countConversions, retryMachine, recordEvents: callEventRecorder(calls.named) },
  withdrawCallsTo: async () => undefined as never,
  guard: { tell: async () => {}, doubts: () => 0, digest: () => '' },
};
const transcript = [{ at: '2026-11-20T12:00:00.000Z', role: 'agent' as const, text: 'Hello.' }];

const seedCall = async (database: Database, ended: boolean) => {
  const { id: workspace_id } = await seedRow(database, 'workspaces', {});
  await seedWebhook(database, workspace_id, ['call.*']);
  const at = ended ? new Date() : null;
  const status = ended ? 'completed' : 'in_progress';
  const { id } = await seedRow(database, 'calls', {
    ...{ workspace_id, status, ended_at: at, answered_at: new Date(), to_number: 14_155_550_142 },
  });
  return { workspaceId: workspace_id, roomId: id, agentId: 'anna' };
};
const eventsOf = (database: Database, resourceId: string) =>
  database.inEngine(({ db }) =>
    db.selectFrom('events').select(['type', 'data']).where('resource_id', '=', resourceId).execute(),
  );

test('what an agent tells after a call is kept and told of once, also if the database was away meanwhile', () =>
  withDatabase(async (database) => {
    const call = await seedCall(database, true);
    let away = 1;
    const flaky: Database = {
      ...database,
      inWorkspace: async (...args: Parameters<Database['inWorkspace']>) => {
        away -= 1;
        if (away >= 0) throw new ServiceError('unavailable', 'The database is away.');
        return database.inWorkspace(...args);
      },
    } as Database;
    const usage = { inputTokens: 5, outputTokens: 7 };
    await recordOver({ ...parts, database: flaky }, call, { transcript }, { isAll: false, usage });
    expect(await eventsOf(database, call.roomId)).toEqual([]);
    for (let time = 0; time < 2; time += 1)
      await recordOver({ ...parts, database }, call, { transcript, summary: 'Fine.' }, { isAll: true, usage });
    expect(await eventsOf(database, call.roomId)).toMatchObject([
      { type: 'call.transcribed', data: { status: 'completed', usage, result: { transcript, summary: 'Fine.' } } },
    ]);
  }));

test('usage alone makes no result, and tells of nothing', () =>
  withDatabase(async (database) => {
    const call = await seedCall(database, true);
    const usage = { inputTokens: 5, outputTokens: 7, cachedInputTokens: 2 };
    await recordOver({ ...parts, database }, call, {}, { isAll: true, usage });
    const row = await database.inWorkspace(call.workspaceId, (tx) => calls.find(tx, call.roomId));
    expect(row).toMatchObject({ usage, result: null });
    expect(await eventsOf(database, call.roomId)).toEqual([]);
  }));
