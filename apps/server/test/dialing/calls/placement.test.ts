import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { addOptOuts, raiseDoNotCall } from '../../../src/platform/do-not-call/store.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { waitingForLock } from '../../race.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedTrunk } from '../../seed/trunk.ts';
import { seedWebhook } from '../../seed/webhook.ts';
import { setKillSwitch } from '../../seed/workspace.ts';
import { until } from '../../until.ts';
import { queuedCalls } from './queued-calls.ts';
import { startTestSwitchboard } from './test-switchboard.ts';

test('what forbids a call between its claim and its placement keeps it from the provider, each by itself', () =>
  withDatabase(async (database) => {
    const { workspaceId, campaignId } = await seedCampaign(database, { contacts: 0 });
    const stopped = await seedCampaign(database, { contacts: 0 });
    const startAt = new Date();
    const campaign = async (fields: object) => {
      const seeded = await seedCampaign(database, { contacts: 0, workspaceId, campaign: fields });
      return { campaignId: seeded.campaignId };
    };
    const trunk_id = await seedTrunk(database, workspaceId, { status: 'paused', reason: 'requested' });
    const asked: string[] = [];
    const { switchboard, serverId } = startTestSwitchboard(database, {
      placeCall: async ({ roomId }) => {
        asked.push(roomId);
        return { status: 'accepted' };
      },
    });
    const queued = queuedCalls(database, { workspaceId, serverId, startAt });
    const intent = async (toNumber: number, expiresInMs: number) => {
      const call = await queued(toNumber, { owner: { kind: 'intent', id: newUuid() } });
      const expires_at = new Date(startAt.getTime() + expiresInMs);
      await seedRow(database, 'call_intents', {
        ...{ workspace_id: workspaceId, id: call.roomId, to_number: toNumber, phone_number_id: newUuid(), expires_at },
      });
      return call;
    };
    const soon = new Date(startAt.getTime() + 60_000);
    const calls = {
      'nothing forbids it': await queued(14155551001, { campaignId }),
      'another server has taken it over': await queued(14155551002, { campaignId }, { server_id: newUuid() }),
      'its latest start is over': await queued(14155551003, { campaignId }, { place_before: startAt }),
      'its end was asked for': await queued(14155551004, { campaignId }, { end_requested_at: startAt }),
      'its campaign is paused': await queued(14155551005, await campaign({ status: 'paused' })),
      'its callee has opted out': await queued(14155551006, { campaignId }),
      'its trunk is paused': await queued(14155551007, { campaignId }, { trunk_id }),
      'its workspace dials nobody': await queuedCalls(database, { ...stopped, serverId, startAt })(
        14155551008,
        stopped,
      ),
      'it was to be placed until an hour ago': await intent(14155551009, -3_600_000),
      'it may be placed for an hour yet': await intent(14155551010, 3_600_000),
      'its campaign has ended': await queued(14155551011, await campaign({ end_date: startAt })),
      'its campaign ends soon': await queued(14155551012, await campaign({ end_date: soon })),
      'nobody owns it': await queued(14155551013, { owner: { kind: 'nobody', id: newUuid() } }),
      'it is of a run': await queued(14155551014, { owner: { kind: 'run', id: newUuid() } }),
    };
    await setKillSwitch(database, stopped.workspaceId, startAt);
    await database.inWorkspace(workspaceId, async (tx) => {
      await raiseDoNotCall(tx);
      await addOptOuts(tx, [14155551006], undefined, startAt);
    });
    switchboard.place(Object.values(calls));
    // One place stays free for the other workspace.
    await until(() => switchboard.free(workspaceId) === 9 - asked.length);
    await switchboard.stop();
    const named = (roomIds: string[]) =>
      Object.entries(calls).flatMap(([what, { roomId }]) => (roomIds.includes(roomId) ? [what] : []));
    const placed = [
      'nothing forbids it',
      'it may be placed for an hour yet',
      'its campaign ends soon',
      'it is of a run',
    ];
    expect(named(asked)).toEqual(placed);
    const left = await database.inEngine(({ db }) =>
      db.selectFrom('calls').select('id').where('status', '=', 'queued').execute(),
    );
    // It is the other one's to place.
    expect(named(left.map(({ id }) => id))).toEqual(['another server has taken it over']);
  }));

test('what was moved is not handed over once the lease is lost', () =>
  withDatabase(async (database) => {
    const { workspaceId, campaignId } = await seedCampaign(database, { contacts: 0 });
    const asked: string[] = [];
    const placeCall = async ({ roomId }: { roomId: string }) => {
      asked.push(roomId);
      return { status: 'accepted' } as const;
    };
    const serverId = newUuid();
    const lease = {
      ...{ serverId: () => serverId, isHeld: () => false, leftMs: () => 0 },
      ...{ steadySince: () => Number.NEGATIVE_INFINITY, release: async () => undefined },
    };
    const { switchboard } = startTestSwitchboard(database, { placeCall }, undefined, { lease });
    const queued = queuedCalls(database, { workspaceId, serverId, startAt: new Date() });
    switchboard.place([await queued(14155551001, { campaignId })]);
    await until(() => switchboard.free(workspaceId) === 10 - asked.length);
    await switchboard.stop();
    expect(asked).toEqual([]);
    const [call] = await database.inEngine(({ db }) => db.selectFrom('calls').select('status').execute());
    expect(call).toEqual({ status: 'cancelled' });
  }));

test('a call has not begun before webhooks are told that it has', () =>
  withDatabase(async (database) => {
    const { workspaceId, campaignId } = await seedCampaign(database, { contacts: 0 });
    await seedWebhook(database, workspaceId, ['call.started']);
    const { switchboard, serverId } = startTestSwitchboard(database, {
      placeCall: async () => ({ status: 'accepted' }),
    });
    const queued = queuedCalls(database, { workspaceId, serverId, startAt: new Date() });
    const call = await queued(14155551001, { campaignId });
    await database.inEngine(async (tx) => {
      await sql`lock table events in share mode`.execute(tx.db);
      switchboard.place([call]);
      await waitingForLock(database);
      const [row] = await tx.db.selectFrom('calls').select('status').execute();
      expect(row).toEqual({ status: 'queued' });
    });
    await until(async () => {
      const events = await database.inEngine(({ db }) => db.selectFrom('events').select('type').execute());
      expect(events).toEqual([{ type: 'call.started' }]);
    });
    await switchboard.stop();
  }));

test('why a call could not be placed is logged, and one that comes after the placer has stopped goes back at once', () =>
  withDatabase(async (database) => {
    const { workspaceId, campaignId } = await seedCampaign(database, { contacts: 0 });
    const detail = 'No RTP port is free.';
    const lines: object[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) });
    const rejects = async () => ({ status: 'rejected', outcome: 'trunk_error', detail }) as const;
    const { switchboard, serverId } = startTestSwitchboard(database, { placeCall: rejects }, log);
    const queued = queuedCalls(database, { workspaceId, serverId, startAt: new Date() });
    const calls = async () =>
      database.inEngine(({ db }) => db.selectFrom('calls').select(['id', 'status']).orderBy('to_number').execute());
    const rejected = await queued(14155551001, { campaignId });
    switchboard.place([rejected]);
    await until(async () => switchboard.free(workspaceId) === 10);
    expect(lines).toContainEqual(expect.objectContaining({ roomId: rejected.roomId, outcome: 'trunk_error', detail }));

    await switchboard.stopPlacing();
    switchboard.place([await queued(14155551002, { campaignId })]);
    await until(async () => (await calls()).length === 1);
    expect(await calls()).toEqual([{ id: rejected.roomId, status: 'failed' }]);
    expect(switchboard.free(workspaceId)).toBe(10);
    await switchboard.stop();
  }));
