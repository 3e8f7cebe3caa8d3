import { expect, test } from 'vitest';
import { type Database, forWorkspace } from '../src/database/database.ts';
import { newUuid } from '../src/ids.ts';
import { record } from '../src/journal/record.ts';
import { deleteOldEvents } from '../src/journal/retention.ts';
import { claimEndpoints, dueDeliveries } from '../src/webhooks/claim-endpoints.ts';
import { disableWebhook } from '../src/webhooks/disable-webhook.ts';
import { handOverEvents } from '../src/webhooks/hand-over-events.ts';
import { withDatabase } from './own-database.ts';
import { createEndpointRow } from './webhook-rows.ts';

const now = new Date('2026-11-20T09:30:00.000Z');

async function makeWorkspace(database: Database): Promise<string> {
  const id = newUuid();
  const row = { id, name: 'Test', created_at: now, updated_at: now };
  await database.inEngine((tx) => tx.db.insertInto('workspaces').values(row).execute());
  return id;
}

const makeEndpoint = (database: Database, workspaceId: string, types: string[]): Promise<string> =>
  createEndpointRow(database, workspaceId, { id: newUuid(), types, now });

const tell = (database: Database, workspaceId: string, resourceId: string, revision: number, type = 'upload.pending') =>
  database.inEngine((tx) =>
    record(forWorkspace(tx, workspaceId), { resourceId, revision, type, data: { name: 'Zoë "Z"' }, now }),
  );

const deliveries = (database: Database) =>
  database.inEngine((tx) => tx.db.selectFrom('webhook_deliveries').selectAll().orderBy('id').execute());
const waiting = async (database: Database) =>
  (
    await database.inEngine((tx) =>
      tx.db.selectFrom('events').select('id').where('hand_over_to', 'is not', null).execute(),
    )
  ).length;

test('an event is kept for the endpoints that want it when it happens, and is not erased before it is handed over', () =>
  withDatabase(async (database) => {
    const workspaceId = await makeWorkspace(database);
    const resourceId = newUuid();
    await tell(database, workspaceId, resourceId, 1);
    expect(await waiting(database)).toBe(0);
    const webhookId = await makeEndpoint(database, workspaceId, ['upload.pending']);
    await makeEndpoint(database, workspaceId, ['upload.expired']);
    await makeEndpoint(database, await makeWorkspace(database), ['upload.pending']);
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

test('several servers hand every event over once, and in order', () =>
  withDatabase(async (database) => {
    const workspaceId = await makeWorkspace(database);
    const endpoints = [
      await makeEndpoint(database, workspaceId, ['upload.pending']),
      await makeEndpoint(database, workspaceId, ['upload.pending']),
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

test('an endpoint that was disabled meanwhile gets nothing, and the event does not wait for it', () =>
  withDatabase(async (database) => {
    const workspaceId = await makeWorkspace(database);
    const webhookId = await makeEndpoint(database, workspaceId, ['upload.pending']);
    await tell(database, workspaceId, newUuid(), 1);
    await database.inEngine((tx) => disableWebhook(tx, { workspaceId, webhookId }, 'requested', now));
    await handOverEvents(database, now);
    expect(await deliveries(database)).toEqual([]);
    expect(await waiting(database)).toBe(0);
  }));

test('what fails as a whole is handed over again as a whole', () =>
  withDatabase(async (database) => {
    const workspaceId = await makeWorkspace(database);
    await makeEndpoint(database, workspaceId, ['upload.pending']);
    await tell(database, workspaceId, newUuid(), 1);
    await database.inEngine(async (tx) => {
      const { eventsToHandOver } = await import('../src/journal/hand-over.ts');
      expect(await eventsToHandOver(tx, 10)).toHaveLength(1);
      // Another server that looks meanwhile finds nothing to do.
      expect(await handOverEvents(database, now)).toBe(false);
      expect(await deliveries(database)).toEqual([]);
    });
    await handOverEvents(database, now);
    await handOverEvents(database, now);
    expect(await deliveries(database)).toHaveLength(1);
  }));

test('a server reads no more at once than fits into its memory, and always something', () =>
  withDatabase(async (database) => {
    const workspaceId = await makeWorkspace(database);
    const webhookId = await makeEndpoint(database, workspaceId, ['upload.pending']);
    for (let i = 0; i < 5; i += 1) await tell(database, workspaceId, newUuid(), 1);
    await handOverEvents(database, now);
    const endpoint = { workspaceId, webhookId };
    const serverId = newUuid();
    const read = (limit: number, limitBytes: number) =>
      database.inEngine(async (tx) => {
        await claimEndpoints(tx, { serverId, held: [], now, limit: 10 });
        return (await dueDeliveries(tx, endpoint, { serverId, now, limit, limitBytes }))!.due.map((each) => each.id);
      });
    const all = await read(10, 1_000_000);
    expect(all).toEqual((await deliveries(database)).map((each) => each.id));
    expect(await read(2, 1_000_000)).toEqual(all.slice(0, 2));
    const bytes = Buffer.byteLength((await deliveries(database))[0]!.payload);
    expect(await read(10, 2 * bytes)).toEqual(all.slice(0, 2));
    expect(await read(10, 1)).toEqual(all.slice(0, 1));
  }));
