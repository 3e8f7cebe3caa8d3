import { type RawBuilder, sql } from 'kysely';
import type { Tx, WorkspaceTx } from '../../foundation/database/database.ts';
import { isOneOf, type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { CallStatus } from '../../foundation/database/schema.ts';
import type { CallOutcome } from '../../lines/telephony/call-outcome.ts';
import { type CallKey, callTransitions, toE164 } from './call.ts';
import { keysOf } from './call-row.ts';
import { hasPairs, type MetadataPair } from './metadata-pairs.ts';
import type { CallRow } from './shape-call.ts';

/** Which calls of a workspace are wanted. */
export interface CallQuery extends Omit<PageQuery, 'searchText'> {
  campaignId?: string | undefined;
  batchId?: string | undefined;
  contactId?: string | undefined;
  workflowRunId?: string | undefined;
  /** One of these. */
  statuses?: readonly CallStatus[] | undefined;
  outcomes?: readonly CallOutcome[] | undefined;
  direction?: 'outbound' | 'inbound' | undefined;
  agentId?: string | undefined;
  externalId?: string | undefined;
  /** All of these. */
  tags?: readonly string[] | undefined;
  /** What `metadata` has: all of these. */
  metadata?: readonly MetadataPair[] | undefined;
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

/** Calls that wait outside of `calls`, in SQL: they are told of like the others. */
export interface WaitingCalls {
  /** Those of the workspace, with the columns of `listedColumns` and then whether it waits. */
  listed: RawBuilder<unknown>;
  /** Those of a workspace's UUID and an ID, as rows of `calls` and then `WaitingColumns`. */
  named(workspaceId: RawBuilder<unknown>, id: RawBuilder<unknown>): RawBuilder<unknown>;
}

/** What calls are filtered by. */
export const listedColumns = sql`workspace_id, id, owner_kind, owner_id, campaign_id, status, outcome, direction,
  agent_id, from_number, to_number, queued_at, external_id, tags, metadata`;

/** What only calls that wait have. */
const notWaiting = sql`null::timestamptz as next_attempt_at, null::timestamptz as expires_at, null::uuid as number_pool_id`;

/** Reads calls as clients see them. */
export interface CallStore {
  find(tx: WorkspaceTx, roomId: string): Promise<CallRow | undefined>;
  /** Calls of any workspaces. */
  named(tx: Tx, calls: readonly CallKey[]): Promise<CallRow[]>;
  /** A page of calls, in the order in which they were taken up. */
  page(tx: WorkspaceTx, query: CallQuery): Promise<Page<CallRow>>;
}

/** A store of calls with what their owners add. */
export function callStore({ columns, joins, isBatch }: CallDetails, waiting: WaitingCalls): CallStore {
  const detailed = (calls: RawBuilder<unknown>) => sql<CallRow>`
    select c.*, ${columns}, r.status as recording_status, r.size_bytes as recording_bytes, r.duration_ms as recording_ms,
      r.stored_at as recording_stored_at
    from (${calls}) as c ${joins}
    left join call_recordings r on r.workspace_id = c.workspace_id and r.room_id = c.id`;
  const anyCall = (workspaceId: RawBuilder<unknown>, id: RawBuilder<unknown>) => sql`
    select k.*, ${notWaiting} from calls k where k.workspace_id = ${workspaceId} and k.id = ${id}
    union all ${waiting.named(workspaceId, id)}`;
  return {
    find: async (tx, roomId) => {
      const { rows } = await detailed(anyCall(sql`${tx.workspaceId}`, sql`${roomId}`)).execute(tx.db);
      return rows[0];
    },
    named: async (tx, calls) => {
      const named = sql`select c.*, ${notWaiting} from ${keysOf(calls)} join calls c on c.workspace_id = x.workspace_id and c.id = x.id`;
      const { rows } = await detailed(named).execute(tx.db);
      return rows;
    },
    page: async (tx, query) => {
      const number = query.phoneNumber === undefined ? undefined : await isWith(tx, query.phoneNumber);
      return readPage<CallRow>(tx, query, {
        columns: sql`workspace_id, id`,
        from: sql`(${listedCalls(tx, query)} union all ${waiting.listed}) as calls`,
        where: [sql`workspace_id = ${tx.workspaceId} and is_listed`, number ?? false, ...conditions(query, isBatch)],
        search: [],
        order: ['id'],
        around: (page) => {
          const calls = sql`
            select c.* from (${page}) as x cross join lateral (${anyCall(sql`x.workspace_id`, sql`x.id`)} limit 1) as c`;
          return sql`${detailed(calls)} order by c.id ${sql.raw(query.order)}`;
        },
      });
    },
  };
}

/** Rows of `calls` for a page; those that are live are found by the index of them. */
function listedCalls({ workspaceId }: WorkspaceTx, { statuses }: CallQuery): RawBuilder<unknown> {
  const all = sql`select ${listedColumns}, true as is_listed from calls`;
  const areLive = statuses?.every((status) => callTransitions[status].length > 0);
  return areLive ? sql`${all} where workspace_id = ${workspaceId} and ended_at is null` : all;
}

/**
 * Whether a call is with a number. Only numbers of the workspace's call, and these may have called millions; calls of all
 * others, people's, are found by an index on who is called, or on who has called.
 */
async function isWith(tx: WorkspaceTx, phoneNumber: number): Promise<RawBuilder<unknown>> {
  const own = await tx.db
    .selectFrom('phone_numbers')
    .select('id')
    .where('workspace_id', '=', tx.workspaceId)
    .where('phone_number', '=', toE164(phoneNumber))
    .limit(1)
    .executeTakeFirst();
  return own
    ? sql`${phoneNumber} in (from_number, to_number)`
    : sql`(to_number = ${phoneNumber} or (direction = 'inbound' and from_number = ${phoneNumber}))`;
}

function conditions(query: CallQuery, isBatch: CallDetails['isBatch']): (RawBuilder<unknown> | false)[] {
  const { campaignId, batchId, contactId, workflowRunId, statuses, outcomes } = query;
  const { direction, agentId, externalId, tags, metadata, queuedAfter, queuedBefore } = query;
  return [
    campaignId !== undefined && sql`campaign_id = ${campaignId} and not ${isBatch(campaignId)}`,
    batchId !== undefined && sql`campaign_id = ${batchId} and ${isBatch(batchId)}`,
    contactId !== undefined && isOf('contact', contactId),
    workflowRunId !== undefined && isOf('run', workflowRunId),
    statuses !== undefined && isOneOf('status', statuses),
    outcomes !== undefined && isOneOf('outcome', outcomes),
    direction !== undefined && sql`direction = ${direction}`,
    agentId !== undefined && sql`agent_id = ${agentId}`,
    externalId !== undefined && sql`external_id = ${externalId}`,
    tags !== undefined && sql`tags is not null and tags @> ${tags}::text[]`,
    metadata !== undefined && sql`metadata <> '{}' and ${hasPairs(sql`metadata`, metadata)}`,
    queuedAfter !== undefined && sql`queued_at >= ${queuedAfter}`,
    queuedBefore !== undefined && sql`queued_at < ${queuedBefore}`,
  ];
}

/** SQL for calls of one owner, of a kind that clients ask for by name. */
const isOf = (kind: 'contact' | 'run', id: string) => sql`owner_id = ${id} and owner_kind = ${sql.lit(kind)}`;
