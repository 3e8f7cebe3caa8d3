import { type RawBuilder, sql } from 'kysely';
import type { Tx, WorkspaceTx } from '../database/database.ts';
import { type Page, type PageQuery, readPage } from '../database/page.ts';
import type { CallStatus } from '../database/schema.ts';
import type { CallOutcome } from '../telephony/gateway.ts';
import type { CallKey } from './call.ts';
import { keysOf } from './call-row.ts';
import type { CallRow } from './shape-call.ts';

/** Which calls of a workspace are wanted. */
export interface CallQuery extends Pick<PageQuery, 'page' | 'perPage' | 'order'> {
  campaignId?: string | undefined;
  batchId?: string | undefined;
  contactId?: string | undefined;
  workflowRunId?: string | undefined;
  status?: CallStatus | undefined;
  outcome?: CallOutcome | undefined;
  /** The number that calls or is called, as the database keeps it. */
  phoneNumber?: number | undefined;
  /** Included. */
  queuedAfter?: Date | undefined;
  /** Not included. */
  queuedBefore?: Date | undefined;
}

/** Calls with what their contacts give the agent. `calls` is SQL for their rows. */
const withContacts = (calls: RawBuilder<unknown>) => sql<CallRow>`
  select c.*, k."values" as contact_values, k.name as contact_name, l.columns, p.kind as campaign_kind
  from (${calls}) as c
  left join campaigns p on p.workspace_id = c.workspace_id and p.id = c.campaign_id
  left join campaign_contacts k
    on k.workspace_id = c.workspace_id and k.campaign_id = c.campaign_id and k.id = c.contact_id
  left join contact_lists l on l.workspace_id = k.workspace_id and l.id = k.list_id`;

export async function findCall(tx: WorkspaceTx, roomId: string): Promise<CallRow | undefined> {
  const call = sql`select * from calls where workspace_id = ${tx.workspaceId} and id = ${roomId}`;
  const { rows } = await withContacts(call).execute(tx.db);
  return rows[0];
}

/** Calls of any workspaces. */
export async function callsNamed(tx: Tx, calls: readonly CallKey[]): Promise<(CallRow & { workspace_id: string })[]> {
  const named = sql`
    select c.* from ${keysOf(calls)} join calls c on c.workspace_id = x.workspace_id and c.id = x.id`;
  const { rows } = await sql<CallRow & { workspace_id: string }>`${withContacts(named)}`.execute(tx.db);
  return rows;
}

/** A page of calls, in the order in which they were taken up. */
export const callPage = (tx: WorkspaceTx, query: CallQuery): Promise<Page<CallRow>> =>
  readPage(tx, query, {
    from: sql`calls`,
    where: [sql`workspace_id = ${tx.workspaceId}`, ...conditions(query)],
    search: [],
    order: ['id'],
    around: (calls) => sql`${withContacts(calls)} order by c.id ${sql.raw(query.order)}`,
  });

/** A deleted campaign's calls are still found by its ID. */
const isBatch = (id: string) => sql`exists (select from campaigns p
  where p.workspace_id = calls.workspace_id and p.id = ${id} and p.kind = 'batch')`;

function conditions(query: CallQuery): (RawBuilder<unknown> | false)[] {
  const { campaignId, batchId, contactId, workflowRunId, status, outcome, phoneNumber, queuedAfter, queuedBefore } =
    query;
  return [
    campaignId !== undefined && sql`campaign_id = ${campaignId} and not ${isBatch(campaignId)}`,
    batchId !== undefined && sql`campaign_id = ${batchId} and ${isBatch(batchId)}`,
    contactId !== undefined && sql`contact_id = ${contactId}`,
    workflowRunId !== undefined && sql`workflow_run_id = ${workflowRunId}`,
    status !== undefined && sql`status = ${sql.lit(status)}`,
    outcome !== undefined && sql`outcome = ${outcome}`,
    phoneNumber !== undefined && sql`${phoneNumber} in (from_number, to_number)`,
    queuedAfter !== undefined && sql`queued_at >= ${queuedAfter}`,
    queuedBefore !== undefined && sql`queued_at < ${queuedBefore}`,
  ];
}
