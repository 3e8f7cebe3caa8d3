import { pino } from 'pino';
import { expect, test } from 'vitest';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { until } from '../../until.ts';
import { queuedCalls } from './queued-calls.ts';
import { startTestSwitchboard } from './test-switchboard.ts';

test('right before it is placed a call is given up that its owner does not let go, or that nobody owns', () =>
  withDatabase(async (database) => {
    const { workspaceId, campaignId } = await seedCampaign(database, { contacts: 0 });
    const campaign = async (fields: object) =>
      (await seedCampaign(database, { contacts: 0, workspaceId, campaign: fields })).campaignId;
    const asked: string[] = [];
    const { switchboard, serverId } = startTestSwitchboard(database, {
      placeCall: async ({ roomId }) => {
        asked.push(roomId);
        return { status: 'accepted' };
      },
    });
    const startAt = new Date();
    const queued = queuedCalls(database, { workspaceId, serverId, startAt });
    const soon = new Date(startAt.getTime() + 60_000);
    const placed = [
      await queued(14155551001, { campaignId }),
      await queued(14155551002, { campaignId: await campaign({ end_date: soon }) }),
      await queued(14155551003, { workflowRunId: newUuid() }),
    ];
    const kept = [
      await queued(14155551004, { campaignId: await campaign({ status: 'paused' }) }),
      await queued(14155551005, { campaignId: await campaign({ end_date: startAt }) }),
      await queued(14155551006, {}),
    ];
    switchboard.place([...kept, ...placed]);
    await until(async () => asked.length === placed.length && switchboard.free(workspaceId) === 10 - placed.length);
    await switchboard.stop();
    const left = await database.inEngine(({ db }) => db.selectFrom('calls').select(['id', 'status']).execute());
    const rooms = placed.map(({ roomId }) => roomId);
    expect(asked.sort()).toEqual(rooms.sort());
    expect(left.map(({ id }) => id).sort()).toEqual(rooms);
    expect(new Set(left.map(({ status }) => status))).toEqual(new Set(['dialing']));
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
