import { sql } from 'kysely';
import { NIL } from 'uuid';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { beginFeed } from '../../../src/platform/journal/event-feed.ts';
import { eventsToHandOver } from '../../../src/platform/journal/hand-over.ts';
import { deleteOldEvents } from '../../../src/platform/journal/retention.ts';
import { claimEndpoints, dueDeliveries } from '../../../src/platform/webhooks/claim-endpoints.ts';
import { disableWebhook } from '../../../src/platform/webhooks/disable-webhook.ts';
import { handOverEvents } from '../../../src/platform/webhooks/hand-over-events.ts';
import { endWaiting, markDeliveries } from '../../../src/platform/webhooks/mark-deliveries.ts';
import { rowsReadBy } from '../../dialing/claim-cost.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { meanwhile } from '../../race.ts';
import { seedWebhook } from '../../seed/webhook.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { deliveries, now, tell } from './told.ts';

const waiting = async (database: Database) =>
  (await database.inEngine((tx) => tx.db.selectFrom('events_to_hand_over').select('revision').execute())).length;

test('an event is kept for the endpoints that want it when it happens, and is not erased before it is handed over', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const resourceId = newUuid();
    await tell(database, workspaceId, resourceId, 1);
    expect(await waiting(database)).toBe(0);
    const webhookId = await seedWebhook(database, workspaceId, ['upload.pending']);
    await seedWebhook(database, workspaceId, ['upload.expired']);
    await seedWebhook(database, await seedWorkspace(database), ['upload.pending']);
    await tell(database, workspaceId, resourceId, 2);
    await tell(database, workspaceId, resourceId, 3, 'upload.progress');
    expect(await waiting(database)).toBe(1);
    const later = new Date(now.getTime() + 8 * 24 * 3600 * 1000);
    expect(await deleteOldEvents(database, later)).toBe(2);
    await handOverEvents(database, later);
    expect(await deliveries(database)).toMatchObject([
      { workspace_id: workspaceId, webhook_id: webhookId, order_key: resourceId, order_number: 2, status: 'pending' },
    ]);
    expect(JSON.parse((await deliveries(database))[0]!.payload)).toEqual({
      type: 'upload.pending',
      timestamp: '2026-11-20T09:30:00.000Z',
      data: { name: 'Zoë "Z"' },
    });
    expect(await deleteOldEvents(database, later)).toBe(1);
  }));

test('of old events the oldest are erased first, however they came to stand in the table', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const values = Array.from({ length: 5002 }, (_, at) => ({
      workspace_id: workspaceId,
      resource_id: workspaceId,
      revision: 5002 - at,
      id: newUuid(),
      type: 'upload.pending',
      data: '{}',
      created_at: now,
    }));
    for (let at = 0; at < values.length; at += 1000)
      await database.inEngine((tx) =>
        tx.db
          .insertInto('events')
          .values(values.slice(at, at + 1000))
          .execute(),
      );
    let transactions = 0;
    const once = (fn: Parameters<typeof database.inEngine>[0]) => {
      transactions += 1;
      return transactions === 1 ? database.inEngine(fn) : Promise.reject(new Error('The server died.'));
    };
    const later = new Date(now.getTime() + 8 * 24 * 3600 * 1000);
    await expect(deleteOldEvents({ ...database, inEngine: once as Database['inEngine'] }, later)).rejects.toThrow(
      'died',
    );
    const left = await database.inEngine((tx) => tx.db.selectFrom('events').select('revision').execute());
    expect(left.map(({ revision }) => revision).sort()).toEqual([5001, 5002]);
  }));

test('several servers hand every event over once, and in order', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const endpoints = [
      await seedWebhook(database, workspaceId, ['upload.pending']),
      await seedWebhook(database, workspaceId, ['upload.pending']),
    ];
    const resources = Array.from({ length: 300 }, newUuid);
    for (const revision of [1, 2, 3])
      await Promise.all(resources.map((each) => tell(database, workspaceId, each, revision)));
    const servers = Array.from({ length: 4 }, async () => {
      while ((await waiting(database)) > 0) await handOverEvents(database, now);
    });
    await Promise.all(servers);
    const made = await deliveries(database);
    expect(made).toHaveLength(2 * 3 * 300);
    for (const webhookId of endpoints) {
      const own = made.filter((each) => each.webhook_id === webhookId);
      for (const resource of resources) {
        const revisions = own.filter((each) => each.order_key === resource).map((each) => each.order_number);
        expect(revisions).toEqual([1, 2, 3]);
      }
    }
  }));

test('however many events wait of one workspace, those of others have their turn', () =>
  withDatabase(async (database) => {
    const workspaces = [await seedWorkspace(database), await seedWorkspace(database)].toSorted();
    for (const each of workspaces) await seedWebhook(database, each, ['upload.pending']);
    const [first, second] = workspaces as [string, string];
    for (const resource of Array.from({ length: 3 }, newUuid)) await tell(database, first, resource, 1);
    const late = newUuid();
    for (const revision of [1, 2]) await tell(database, second, late, revision);
    const seen = (after: string, limit: number) =>
      database.inEngine(async (tx) =>
        (await eventsToHandOver(tx, after, limit)).map((each) => [each.workspace_id, each.revision]),
      );
    expect(await seen(NIL, 2)).toEqual([
      [first, 1],
      [first, 1],
    ]);
    expect(await seen(first, 3)).toEqual([
      [second, 1],
      [second, 2],
      [first, 1],
    ]);
    expect((await seen(second, 10)).map(([workspace]) => workspace)).toEqual([first, first, first, second, second]);
    expect(await handOverEvents(database, now)).toEqual({ hasMore: false, after: second });
  }));

test('to give places reads no more however many events have theirs', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    await database.inWorkspace(workspaceId, async (tx) => {
      await tx.db.updateTable('workspaces').set({ event_feed: true }).where('id', '=', workspaceId).execute();
      await beginFeed(tx);
    });
    const handOver = async () => {
      for (let event = 0; event < 10; event += 1) await tell(database, workspaceId, newUuid(), 1);
      return rowsReadBy(database, (counted) => handOverEvents(counted, now));
    };
    const few = await handOver();
    await database.inEngine(({ db }) =>
      sql`
        insert into events (workspace_id, resource_id, revision, id, type, data, created_at)
        select ${workspaceId}, gen_random_uuid(), 1, gen_random_uuid(), 'upload.pending', '{}', ${now}
        from generate_series(1, 5000)`.execute(db),
    );
    expect(await handOver()).toBeLessThanOrEqual(2 * few);
  }));

test('an endpoint that was disabled meanwhile gets nothing, and the event does not wait for it', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const webhookId = await seedWebhook(database, workspaceId, ['upload.pending']);
    await tell(database, workspaceId, newUuid(), 1);
    await database.inEngine((tx) => disableWebhook(tx, { workspaceId, webhookId }, { reason: 'requested' }, now));
    await handOverEvents(database, now);
    expect(await deliveries(database)).toEqual([]);
    expect(await waiting(database)).toBe(0);
  }));

test('what fails as a whole is handed over again as a whole', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    await seedWebhook(database, workspaceId, ['upload.pending']);
    await tell(database, workspaceId, newUuid(), 1);
    await database.inEngine(async (tx) => {
      expect(await eventsToHandOver(tx, NIL, 10)).toHaveLength(1);
      // Another server that looks meanwhile finds nothing to do.
      expect((await handOverEvents(database, now)).hasMore).toBe(false);
      expect(await deliveries(database)).toEqual([]);
    });
    await handOverEvents(database, now);
    await handOverEvents(database, now);
    expect(await deliveries(database)).toHaveLength(1);
  }));

test('a server reads no more at once than fits into its memory, and always something', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const webhookId = await seedWebhook(database, workspaceId, ['upload.pending']);
    for (let i = 0; i < 5; i += 1) await tell(database, workspaceId, newUuid(), 1);
    await handOverEvents(database, now);
    const endpoint = { workspaceId, webhookId };
    const serverId = newUuid();
    const read = (limit: number, limitBytes: number) =>
      database.inEngine(async (tx) => {
        await claimEndpoints(tx, { serverId, held: [], sharing: [], now, free: 10, rested: false });
        return (await dueDeliveries(tx, endpoint, { serverId, busy: [], now, limit, limitBytes }))!.due.map(
          (each) => each.id,
        );
      });
    const all = await read(10, 1_000_000);
    expect(all).toEqual((await deliveries(database)).map((each) => each.id));
    expect(await read(2, 1_000_000)).toEqual(all.slice(0, 2));
    const bytes = Buffer.byteLength((await deliveries(database))[0]!.payload);
    expect(await read(10, 2 * bytes)).toEqual(all.slice(0, 2));
    expect(await read(10, 1)).toEqual(all.slice(0, 1));
  }));

test('what happens after an endpoint was enabled again is not ended with what waited when it was disabled', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const webhookId = await seedWebhook(database, workspaceId, ['upload.pending']);
    const endpoint = { workspaceId, webhookId };
    await tell(database, workspaceId, newUuid(), 1);
    await handOverEvents(database, now);
    await database.inEngine((tx) => disableWebhook(tx, endpoint, { reason: 'requested' }, now));
    await database.inEngine((tx) => tx.db.updateTable('webhooks').set({ status: 'enabled' }).execute());
    await tell(database, workspaceId, newUuid(), 1);
    // By the clock of a server that is behind.
    await handOverEvents(database, new Date(now.getTime() - 100));
    await database.inEngine((tx) => endWaiting(tx, endpoint, { before: now, limit: 10 }));
    expect((await deliveries(database)).map(({ status }) => status)).toEqual(['failed', 'pending']);
  }));

test('an event that is handed over while an earlier one of its resource is put off waits for that', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const webhookId = await seedWebhook(database, workspaceId, ['upload.pending']);
    const resourceId = newUuid();
    await tell(database, workspaceId, resourceId, 1);
    await handOverEvents(database, now);
    const [first] = await deliveries(database);
    await tell(database, workspaceId, resourceId, 2);
    const later = new Date(now.getTime() + 3_600_000);
    const tried = { verdict: 'failed', statusCode: 500, durationMs: 1, restMs: 0 } as const;
    const mark = { delivery: first!, tried, at: now, nextAttemptAt: later };
    await meanwhile(
      database,
      (tx) => markDeliveries(tx, { workspaceId, webhookId }, [mark]),
      () => handOverEvents(database, now),
    );
    expect((await deliveries(database)).map((each) => each.next_attempt_at)).toEqual([later, later]);
  }));
