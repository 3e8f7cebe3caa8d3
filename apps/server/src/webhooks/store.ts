import { type Insertable, type SqlBool, sql, type Updateable } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import { containing, type PageQuery, pageRows } from '../database/page.ts';
import type { Schema } from '../database/schema.ts';
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

/** The same, locked for a change. */
export const lockWebhook = (tx: WorkspaceTx, id: string): Promise<WebhookRow | undefined> =>
  selectWebhook(tx, id).forNoKeyUpdate().executeTakeFirst();

/** Changes an endpoint that the transaction has locked, but for its status. */
export function changeWebhook(
  tx: WorkspaceTx,
  id: string,
  change: Omit<Updateable<Schema['webhooks']>, 'status'>,
): Promise<WebhookRow> {
  return tx.db
    .updateTable('webhooks')
    .set(change)
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** One page of endpoints, by time, and how many there are on all pages. */
export async function webhookPage(
  tx: WorkspaceTx,
  page: PageQuery,
): Promise<{ rows: WebhookRow[]; totalCount: number }> {
  const pattern = page.searchText === undefined ? undefined : containing(page.searchText);
  const found = tx.db
    .selectFrom('webhooks')
    .where('workspace_id', '=', tx.workspaceId)
    .where('deleted_at', 'is', null)
    .$if(pattern !== undefined, (query) =>
      query.where(sql<SqlBool>`(url ilike ${pattern} or description ilike ${pattern})`),
    );
  const { limit, offset } = pageRows(page);
  const rows = await found
    .selectAll()
    .orderBy('created_at', page.order)
    .orderBy('id', page.order)
    .limit(limit)
    .offset(offset)
    .execute();
  const { count } = await found.select((each) => each.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return { rows, totalCount: Number(count) };
}

/** Which deliveries of an endpoint are wanted. */
export interface DeliveryQuery extends PageQuery {
  webhookId: string;
  status: DeliveryRow['status'] | undefined;
  eventType: string | undefined;
}

/** One page of deliveries, in the order in which they were made, and how many there are on all pages. */
export async function deliveryPage(
  tx: WorkspaceTx,
  query: DeliveryQuery,
): Promise<{ rows: DeliveryRow[]; totalCount: number }> {
  const { webhookId, status, eventType, searchText } = query;
  const pattern = searchText === undefined ? undefined : containing(searchText);
  const found = tx.db
    .selectFrom('webhook_deliveries')
    .where('workspace_id', '=', tx.workspaceId)
    .where('webhook_id', '=', webhookId)
    .$if(status !== undefined, (all) => all.where(sql<SqlBool>`status = ${sql.lit(status)}`))
    .$if(eventType !== undefined, (all) => all.where('event_type', '=', eventType!))
    .$if(pattern !== undefined, (all) =>
      all.where(
        sql<SqlBool>`('evt_' || replace(event_id::text, '-', '') ilike ${pattern} or event_type ilike ${pattern})`,
      ),
    );
  const { limit, offset } = pageRows(query);
  const rows = await found.selectAll().orderBy('id', query.order).limit(limit).offset(offset).execute();
  const { count } = await found.select((each) => each.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return { rows, totalCount: Number(count) };
}

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
