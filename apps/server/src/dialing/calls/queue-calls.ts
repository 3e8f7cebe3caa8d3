import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { countUses } from '../../lines/number-pools/count-uses.ts';
import type { Voicemail } from '../../lines/telephony/voicemail.ts';
import { countCalls } from '../../platform/workspace/limits.ts';
import type { CallBackTerms } from './callee-hours.ts';
import { type CallToPlace, callRequest } from './place-calls.ts';

/** A number to call from. */
export interface Caller {
  /** UUID of the phone number. */
  id: string;
  /** E.164 without the plus. */
  fromNumber: number;
  provider: string;
  /** Whether no telephone rings for what it calls. */
  simulated: boolean;
  /** Whether its calls count on its usage. */
  pooled: boolean;
  /** UUID of the trunk that its calls go over; null where there is none. Who queues them holds it. */
  trunkId: string | null;
}

/** A call that is wanted. */
export interface WantedCall {
  /** UUID of its room, where it has one already. */
  roomId?: string;
  /** UUID of its owner. */
  ownerId: string;
  /** The callee, E.164 without the plus. */
  toNumber: number;
  caller: Caller;
  attempt: number;
  startAt: Date;
  placeBefore: Date;
  variables: Record<string, string>;
  metadata?: Record<string, string>;
  externalId?: string | null;
  /** Of a call that an agent has asked for. */
  callBackTerms?: CallBackTerms;
}

/** What calls that are wanted together have in common. */
export interface WantedTogether {
  workspaceId: string;
  /** Of what kind their owners are. */
  ownerKind: string;
  /** The campaign that they are made for, if any. */
  campaignId: string | null;
  /** Whether their owners keep the variables, so that they are not kept with the calls. */
  areVariablesKept?: true;
  serverId: string;
  /** Null if no agent speaks on them. */
  agentId: string | null;
  /** UUID of the agent, where it has a limit of calls at once; who queues them holds it then. */
  limitedAgentId: string | null;
  /** By which the callees were found not to be on the workspace's do-not-call list. */
  doNotCallRevision: number;
  ringTimeoutSeconds: number;
  maxCallSeconds: number;
  recording: boolean;
  voicemail?: Voicemail | undefined;
  tags?: string[] | null;
  now: Date;
}

/**
 * Commits outbound calls as `queued`, held by a server, and answers with those that are to be placed after the
 * transaction; the callees of the others are on a live call already, of whichever owner (one live call a
 * person). They go in by number, so that two campaigns that call the same people at once don't deadlock. Who queues them
 * counts them then (`countQueued`). Variables are kept with the call, unless its owner has them.
 * A batch of 50 touches 504 to 700 buffers, by the height of the indexes.
 */
export async function queueCalls(tx: Tx, shared: WantedTogether, wanted: WantedCall[]): Promise<CallToPlace[]> {
  const { workspaceId, ownerKind, campaignId, areVariablesKept } = shared;
  const calls = wanted.map((call) => ({ ...call, roomId: call.roomId ?? newUuid() }));
  const { rows } = await sql<{ id: string }>`
    insert into calls (workspace_id, id, status, direction, simulated, from_number, to_number, agent_id, limited_agent_id,
      phone_number_id, trunk_id, pooled, owner_kind, owner_id, campaign_id, attempt, server_id, start_at, place_before,
      ring_timeout_seconds, max_call_seconds, metadata, variables, external_id, call_back_terms, tags, queued_at)
    select ${workspaceId}, x.id, 'queued', 'outbound', x.simulated, x.from_number, x.to_number,
      ${shared.agentId}, ${shared.limitedAgentId}::uuid, x.phone_number_id, x.trunk_id, x.pooled, ${ownerKind}, x.owner_id, ${campaignId}, x.attempt,
      ${shared.serverId}, x.start_at, x.place_before, ${shared.ringTimeoutSeconds}, ${shared.maxCallSeconds}, x.metadata,
      x.variables, x.external_id, x.call_back_terms, ${shared.tags ?? null}::text[], ${shared.now}
    from unnest(${calls.map((call) => call.roomId)}::uuid[], ${calls.map((call) => call.ownerId)}::uuid[],
      ${calls.map((call) => call.toNumber)}::bigint[], ${calls.map((call) => call.caller.fromNumber)}::bigint[],
      ${calls.map((call) => call.caller.id)}::uuid[], ${calls.map((call) => call.caller.trunkId)}::uuid[], ${calls.map((call) => call.caller.simulated)}::boolean[],
      ${calls.map((call) => call.caller.pooled)}::boolean[], ${calls.map((call) => call.attempt)}::smallint[],
      ${calls.map((call) => call.startAt)}::timestamptz[], ${calls.map((call) => call.placeBefore)}::timestamptz[],
      ${calls.map((call) => JSON.stringify(call.metadata ?? {}))}::jsonb[],
      ${calls.map((call) => (areVariablesKept ? null : JSON.stringify(call.variables)))}::jsonb[],
      ${calls.map((call) => call.externalId ?? null)}::text[],
      ${calls.map((call) => (call.callBackTerms ? JSON.stringify(call.callBackTerms) : null))}::jsonb[])
      as x (id, owner_id, to_number, from_number, phone_number_id, trunk_id, simulated, pooled, attempt, start_at, place_before,
        metadata, variables, external_id, call_back_terms)
    order by x.to_number
    on conflict (workspace_id, to_number, (case when direction = 'inbound' then id end)) where ended_at is null
    do nothing
    returning id`.execute(tx.db);
  const queued = new Set(rows.map((row) => row.id));
  return calls
    .filter((call) => queued.has(call.roomId))
    .map(({ caller, variables, metadata, ownerId, callBackTerms: _terms, ...call }): CallToPlace => {
      const { fromNumber, provider, trunkId } = caller;
      const owner = { kind: ownerKind, id: ownerId };
      const held = { ...call, fromNumber, provider, trunkId, workspaceId, owner, campaignId };
      const { ringTimeoutSeconds, maxCallSeconds, recording, voicemail, doNotCallRevision } = shared;
      const agent = shared.agentId === null ? {} : { agentId: shared.agentId };
      const told = {
        ...agent,
        ringTimeoutSeconds,
        maxCallSeconds,
        recording,
        doNotCallRevision,
        variables,
        ...(metadata && { metadata }),
        ...(voicemail && { voicemail }),
      };
      return { ...held, request: callRequest(held, told) };
    });
}

/**
 * Counts calls that were queued, on the pooled numbers that they are placed from and on the workspace's day; in this order,
 * after the calls.
 * @param callers those of the calls, in the order in which they were chosen
 */
export async function countQueued(tx: Tx, workspaceId: string, callers: Caller[], now: Date): Promise<void> {
  const pooled = callers.filter((caller) => caller.pooled).map((caller) => caller.id);
  await together(tx, [
    () => countUses(tx, workspaceId, pooled, now),
    () => countCalls(tx, workspaceId, callers.length, now),
  ]);
}
