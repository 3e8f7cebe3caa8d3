import { type Insertable, sql, type Updateable } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { isOneOf, type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { Schema } from '../../foundation/database/schema.ts';
import type { DeliveryRow } from './delivery.ts';
import type { WebhookRow } from './webhook.ts';

export function insertWebhook(
  tx: WorkspaceTx,
  row: Omit<Insertable<Schema['webhooks']>, 'workspace_id'>,
): Promise<WebhookRow> {
  const values = { ...row, workspace_id: tx.workspaceId };
  return tx.db.insertInto('webhooks').values(values).returningAll().executeTakeFirstOrThrow();
}

/** How many endpoints there are. None is made before the transaction ends. */
export async function countWebhooks(tx: WorkspaceTx): Promise<number> {
  await sql`select from workspaces where id = ${tx.workspaceId} for no key update`.execute(tx.db);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from webhooks where workspace_id = ${tx.workspaceId} and deleted_at is null`.execute(
    tx.db,
  );
  return rows[0]!.count;
}

const selectWebhook = (tx: WorkspaceTx, id: string) =>
  tx.db
    .selectFrom('webhooks')
    .selectAll()
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null);

/** An endpoint that isn't deleted. */
export const findWebhook = (tx: WorkspaceTx, id: string): Promise<WebhookRow | undefined> =>
  selectWebhook(tx, id).executeTakeFirst();

/** The same, held while a delivery is made for it: an erasure waits for that, and then finds the delivery. */
export const holdWebhook = (tx: WorkspaceTx, id: string): Promise<WebhookRow | undefined> =>
  selectWebhook(tx, id).forShare().executeTakeFirst();

/** The same, locked for a change. */
export const lockWebhook = (tx: WorkspaceTx, id: string): Promise<WebhookRow | undefined> =>
  selectWebhook(tx, id).forNoKeyUpdate().executeTakeFirst();

/** Changes for a client an endpoint that the transaction has locked, but for its status. */
export function changeWebhook(
  tx: WorkspaceTx,
  id: string,
  change: Omit<Updateable<Schema['webhooks']>, 'status'>,
): Promise<WebhookRow> {
  return tx.db
    .updateTable('webhooks')
    .set({ ...change, edition: sql`edition + 1` })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** One page of endpoints, by time, and how many there are on all pages. */
export const webhookPage = (tx: WorkspaceTx, page: PageQuery): Promise<Page<WebhookRow>> =>
  readPage(tx, page, {
    from: sql`webhooks`,
    where: [sql`workspace_id = ${tx.workspaceId}`, sql`deleted_at is null`],
    search: ['url', 'description'],
    order: ['created_at', 'id'],
  });

/** Which deliveries of an endpoint are wanted. */
export interface DeliveryQuery extends PageQuery {
  webhookId: string;
  /** Those in one of these. */
  statuses: readonly DeliveryRow['status'][] | undefined;
  eventType: string | undefined;
}

/** One page of deliveries, in the order in which they were made, and how many there are on all pages. */
export const deliveryPage = (
  tx: WorkspaceTx,
  { webhookId, statuses, eventType, ...page }: DeliveryQuery,
): Promise<Page<DeliveryRow>> =>
  readPage(tx, page, {
    from: sql`webhook_deliveries`,
    where: [
      sql`workspace_id = ${tx.workspaceId}`,
      sql`webhook_id = ${webhookId}`,
      statuses !== undefined && isOneOf('status', statuses),
      eventType !== undefined && sql`event_type = ${eventType}`,
    ],
    search: ["'evt_' || replace(event_id::text, '-', '')", 'event_type'],
    order: ['id'],
  });

export function findDelivery(tx: WorkspaceTx, webhookId: string, id: string): Promise<DeliveryRow | undefined> {
  return tx.db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('workspace_id', '=', tx.workspaceId)
    .where('webhook_id', '=', webhookId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function insertDelivery(
  tx: WorkspaceTx,
  row: Omit<Insertable<Schema['webhook_deliveries']>, 'workspace_id'>,
): Promise<DeliveryRow> {
  const values = { ...row, workspace_id: tx.workspaceId };
  return tx.db.insertInto('webhook_deliveries').values(values).returningAll().executeTakeFirstOrThrow();
}
