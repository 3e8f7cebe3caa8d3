import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { claimEndpoints, dueDeliveries, releaseEndpoint } from '../../../src/platform/webhooks/claim-endpoints.ts';
import { markDeliveries } from '../../../src/platform/webhooks/mark-deliveries.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { type Given, seedRow } from '../../seed/rows.ts';
import { seedWebhook } from '../../seed/webhook.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { now } from './told.ts';

const openLease = async (database: Database): Promise<string> => (await seedRow(database, 'servers')).id;

const insertPending = (database: Database, workspaceId: string, webhookId: string) =>
  seedRow(database, 'webhook_deliveries', { workspace_id: workspaceId, webhook_id: webhookId, next_attempt_at: now });

test('endpoints that had to rest are claimed apart from the others', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const serverId = await openLease(database);
    const [well, rested, resting] = [
      await seedWebhook(database, workspaceId, ['call.ended']),
      await seedWebhook(database, workspaceId, ['call.ended']),
      await seedWebhook(database, workspaceId, ['call.ended']),
    ];
    for (const id of [well, rested, resting]) await insertPending(database, workspaceId, id);
    await database.inEngine(({ db }) =>
      sql`update webhooks set resting_until = ${now}::timestamptz + case when id = ${resting} then interval '1 s'
        else interval '0' end where id <> ${well}`.execute(db),
    );
    const claim = (isRested: boolean) =>
      database.inEngine((tx) =>
        claimEndpoints(tx, { serverId, held: [], sharing: [], now, free: 10, rested: isRested }),
      );
    expect(await claim(false)).toEqual([{ workspaceId, webhookId: well }]);
    expect(await claim(true)).toEqual([{ workspaceId, webhookId: rested }]);
  }));

test('a rest that another URL has asked for is none', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const webhookId = await seedWebhook(database, workspaceId, ['call.ended']);
    const serverId = await openLease(database);
    await insertPending(database, workspaceId, webhookId);
    const rest = async (url: string) => {
      const endpoint = { workspaceId, webhookId };
      await database.inEngine((tx) =>
        claimEndpoints(tx, { serverId, held: [], sharing: [], now, free: 10, rested: false }),
      );
      await database.inEngine((tx) => releaseEndpoint(tx, endpoint, { serverId, restingUntil: now, url }));
      const row = await database.inEngine((tx) => tx.db.selectFrom('webhooks').selectAll().executeTakeFirstOrThrow());
      return { server: row.server_id, until: row.resting_until };
    };
    expect(await rest('https://old.example.com/')).toEqual({ server: null, until: null });
    expect(await rest('https://crm.example.com/')).toEqual({ server: null, until: now });
  }));

/** An endpoint that a server holds, and what is due there. */
async function heldEndpoint(database: Database) {
  const workspaceId = await seedWorkspace(database);
  const serverId = await openLease(database);
  const webhookId = await seedWebhook(database, workspaceId, ['call.ended'], { server_id: serverId });
  const endpoint = { workspaceId, webhookId };
  const add = (given: Given<'webhook_deliveries'>) =>
    seedRow(database, 'webhook_deliveries', { workspace_id: workspaceId, webhook_id: webhookId, ...given });
  const due = async () => {
    const found = await database.inEngine((tx) =>
      dueDeliveries(tx, endpoint, { serverId, busy: [], now, limit: 10, limitBytes: 1000 }),
    );
    return found!.due;
  };
  return { endpoint, add, due };
}

test('an event that is due waits for an earlier one of its resource that is not', () =>
  withDatabase(async (database) => {
    const { add, due } = await heldEndpoint(database);
    const order_key = newUuid();
    await add({ order_key, order_number: 1, next_attempt_at: new Date(now.getTime() + 1000) });
    await add({ order_key, order_number: 2, next_attempt_at: now });
    const other = await add({ next_attempt_at: now });
    expect((await due()).map(({ id }) => id)).toEqual([other.id]);
  }));

test('what two servers have tried at once counts as one try', () =>
  withDatabase(async (database) => {
    const { endpoint, add, due } = await heldEndpoint(database);
    await add({ next_attempt_at: now });
    const [delivery] = await due();
    const tried = { verdict: 'failed', error: 'It is away.', durationMs: 1, restMs: 0 } as const;
    const result = { delivery: delivery!, tried, at: now, nextAttemptAt: now };
    for (let server = 0; server < 2; server += 1)
      await database.inEngine((tx) => markDeliveries(tx, endpoint, [result]));
    expect(await due()).toMatchObject([{ attempts: 1 }]);
  }));
