import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../../src/foundation/database/database.ts';
import { claimEndpoints, releaseEndpoint } from '../../../src/platform/webhooks/claim-endpoints.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { seedRow } from '../../seed/rows.ts';
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
