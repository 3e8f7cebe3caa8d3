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

/** What owners add to their calls where clients see them, in SQL. */
export interface CallDetails {
  /** The columns of a `CallRow` that no call has. */
  columns: RawBuilder<unknown>;
  /** Joins to the calls `c`, each with at most one row. */
  joins: RawBuilder<unknown>;
  /** Whether a campaign is a batch, in the workspace of the row of `calls`. */
  isBatch(campaignId: string): RawBuilder<unknown>;
}

/** Reads calls as clients see them. */
export interface CallStore {
  find(tx: WorkspaceTx, roomId: string): Promise<CallRow | undefined>;
  /** Calls of any workspaces. */
  named(tx: Tx, calls: readonly CallKey[]): Promise<CallRow[]>;
  /** A page of calls, in the order in which they were taken up. */
  page(tx: WorkspaceTx, query: CallQuery): Promise<Page<CallRow>>;
}

/** A store of calls with what their owners add. */
export function callStore({ columns, joins, isBatch }: CallDetails): CallStore {
  const detailed = (calls: RawBuilder<unknown>) => sql<CallRow>`
    select c.*, ${columns}, r.status as recording_status, r.size_bytes as recording_bytes, r.duration_ms as recording_ms,
      r.stored_at as recording_stored_at
    from (${calls}) as c ${joins}
    left join call_recordings r on r.workspace_id = c.workspace_id and r.room_id = c.id`;
  return {
    find: async (tx, roomId) => {
      const call = sql`select * from calls where workspace_id = ${tx.workspaceId} and id = ${roomId}`;
      const { rows } = await detailed(call).execute(tx.db);
      return rows[0];
    },
    named: async (tx, calls) => {
      const named = sql`select c.* from ${keysOf(calls)} join calls c on c.workspace_id = x.workspace_id and c.id = x.id`;
      const { rows } = await detailed(named).execute(tx.db);
      return rows;
    },
    page: (tx, query) =>
      readPage<CallRow>(tx, query, {
        from: sql`calls`,
        where: [sql`workspace_id = ${tx.workspaceId}`, ...conditions(query, isBatch)],
        search: [],
        order: ['id'],
        around: (calls) => sql`${detailed(calls)} order by c.id ${sql.raw(query.order)}`,
      }),
  };
}

function conditions(query: CallQuery, isBatch: CallDetails['isBatch']): (RawBuilder<unknown> | false)[] {
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
