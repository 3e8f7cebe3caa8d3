import type { LadderEntry, StoredDialog } from '@trunkline/sip';
import { sql } from 'kysely';
import type { Database, EngineTx, Tx } from '../../../foundation/database/database.ts';
import type { Row } from '../../../foundation/database/schema.ts';
import { coalesce } from '../../../foundation/values/coalesce.ts';
import { NotWitnessed } from '../../../platform/installation/raise-number.ts';
import type { RestoreGuard } from '../../../platform/installation/restore-guard.ts';
import type { AgentEnd } from '../../media/agent-end.ts';
import type { CallEvent, CallRequest, CallTimes } from '../call-gateway.ts';
import type { CallOutcome, EndedBy } from '../call-outcome.ts';

/** How a call ended, as it is told and kept. */
export type CallEnded = Extract<CallEvent, { type: 'ended' }>;

/** A call as it is remembered. */
export interface StoredCall extends CallTimes {
  roomId: string;
  workspaceId: string;
  serverId: string;
  /** The trunk that it was placed over. */
  trunkId?: string;
  /** Whether that server's lease holds. */
  isOwned: boolean;
  dialog?: StoredDialog;
  ended?: CallEnded;
  attempt: number;
  /** This attempt was never placed, and never will be. */
  isRefused: boolean;
}

/** What outlives the process: enough to end its calls, and to say how they ended. */
export interface CallStore {
  /**
   * Keeps a room before anything is sent. Nothing may be sent where it is `kept` already, but for an earlier attempt that was
   * refused, and nothing where the callee has asked not to be called since the call was claimed (`forbidden`), or no witness
   * knows of it (`unwitnessed`).
   */
  begin(call: {
    roomId: string;
    attempt: number;
    workspaceId: string;
    serverId: string;
    trunkId?: string;
    at: Date;
    dialog?: StoredDialog;
    /** Of the call's request; absent for one that has arrived. */
    doNotCallRevision?: number;
    /** What a witness is told of it before it is placed; absent for one that has arrived. */
    placing?: Pick<CallRequest, 'to' | 'owner'>;
  }): Promise<'begun' | 'kept' | 'forbidden' | 'unwitnessed'>;
  /** Keeps the latest state of a call. @returns false where it has ended: then it stays as it is */
  note(call: { roomId: string; dialog?: StoredDialog } & CallTimes): Promise<boolean>;
  /** Keeps that nothing of a call was sent, and nothing will be; one that another server has ended stays as it is. */
  withdraw(call: { roomId: string; at: Date }): Promise<void>;
  end(end: CallEnded): Promise<void>;
  /** Keeps that calls are held under another server ID. */
  move(tx: EngineTx, roomIds: readonly string[], serverId: string): Promise<void>;
  /** Keeps what the two sides of a call said. */
  keepMessages(roomId: string, messages: readonly LadderEntry[]): Promise<void>;
  /**
   * Keeps an attempt at a room as one that is never placed, so that a server that was frozen before it placed the call
   * doesn't. @returns false where it is kept already
   */
  refuse(call: { roomId: string; attempt: number; workspaceId: string; serverId: string; at: Date }): Promise<boolean>;
  find(roomId: string): Promise<StoredCall | undefined>;
  /** Resolves once nothing is being written. */
  idle(): Promise<void>;
}

/** An attempt that was refused gives way to a later one, never the other way round. */
const overRefused = sql`
  on conflict (room_id) do update set attempt = excluded.attempt, server_id = excluded.server_id,
    trunk_id = excluded.trunk_id,
    begun_at = excluded.begun_at, ended_at = excluded.ended_at, dialog = excluded.dialog
  where sip_calls.ended_at is not null and sip_calls.outcome is null and sip_calls.attempt < excluded.attempt`;

/**
 * SQL for whether a call `x` was to be ended by whoever added its callee to the numbers not called (`withdraw-calls.ts`); its row
 * is read only if something was added since its claim.
 */
const isForbidden = sql`(w.do_not_call_revision is distinct from x.revision and exists (select from calls c
  where c.workspace_id = x.workspace_id and c.id = x.room_id and c.end_requested_at is not null))`;

type BeginningCall = Parameters<CallStore['begin']>[0];
type Begun = Awaited<ReturnType<CallStore['begin']>>;

const WRITE_MS = 10;
const MOST = 200;

/** @returns what became of the rooms that were not kept before */
async function keepCalls(tx: Tx, calls: readonly BeginningCall[]): Promise<Map<string, Begun>> {
  const { rows } = await sql<{ room_id: string; is_forbidden: boolean }>`
        with given as materialized (
          select x.*, ${isForbidden} as is_forbidden
          from unnest(${calls.map((call) => call.roomId)}::uuid[], ${calls.map((call) => call.attempt)}::smallint[],
            ${calls.map((call) => call.workspaceId)}::uuid[], ${calls.map((call) => call.serverId)}::uuid[],
            ${calls.map((call) => call.trunkId ?? null)}::uuid[], ${calls.map((call) => call.at)}::timestamptz[],
            ${calls.map((call) => json(call.dialog))}::json[], ${calls.map((call) => call.doNotCallRevision ?? null)}::bigint[])
            as x (room_id, attempt, workspace_id, server_id, trunk_id, begun_at, dialog, revision)
          left join workspaces w on w.id = x.workspace_id
        ), begun as (
          insert into sip_calls (room_id, attempt, workspace_id, server_id, trunk_id, begun_at, dialog)
          select room_id, attempt, workspace_id, server_id, trunk_id, begun_at, dialog from given where not is_forbidden
          ${overRefused} returning room_id
        )
        select room_id, false as is_forbidden from begun
        union all select room_id, true from given where is_forbidden`.execute(tx.db);
  return new Map<string, Begun>(rows.map((row) => [row.room_id, row.is_forbidden ? 'forbidden' : 'begun']));
}

const withdraw = (tx: Tx, roomId: string, at: Date) =>
  sql`
    update sip_calls set dialog = null, ended_at = ${at} where room_id = ${roomId} and ended_at is null`.execute(tx.db);

/** Keeps rooms in sets, each before anything of it is sent; of those that are placed a witness is told. */
function beginner(database: Database, guard: Pick<RestoreGuard, 'keepCalls'>) {
  const arrive = coalesce(
    async (calls: BeginningCall[]): Promise<Begun[]> => {
      const found = await database.inHotLoop((tx) => keepCalls(tx, calls));
      return calls.map((call) => found.get(call.roomId) ?? 'kept');
    },
    { atMost: MOST },
  );
  const place = coalesce(
    async (calls: BeginningCall[]): Promise<Begun[]> => {
      const answers = (found: Map<string, Begun>) => calls.map((call) => found.get(call.roomId) ?? 'kept');
      try {
        const { result, isWitnessed } = await guard.keepCalls(
          (tx) => keepCalls(tx, calls),
          (found) =>
            calls.flatMap(({ placing, roomId, attempt, workspaceId }) =>
              placing && found.get(roomId) === 'begun' ? { roomId, attempt, workspaceId, ...placing } : [],
            ),
        );
        if (isWitnessed) return answers(result);
        const begun = calls.filter((call) => call.placing && result.get(call.roomId) === 'begun');
        await database.inHotLoop((tx) => Promise.all(begun.map((call) => withdraw(tx, call.roomId, call.at))));
        for (const { roomId } of begun) result.set(roomId, 'unwitnessed');
        return answers(result);
      } catch (error) {
        if (error instanceof NotWitnessed) return calls.map(() => 'unwitnessed');
        throw error;
      }
    },
    // The witness is told of one while the next is committed.
    { atMost: MOST, sets: 2 },
  );
  return {
    // Whoever calls us waits for no witness, and is not refused for one.
    begin: (call: BeginningCall): Promise<Begun> => (call.placing ? place(call) : arrive(call)),
    idle: () => Promise.all([arrive.idle(), place.idle()]),
  };
}

/** The store in PostgreSQL, which writes in sets. */
export function postgresCallStore(database: Database, guard: Pick<RestoreGuard, 'keepCalls'>): CallStore {
  const { begin, idle } = beginner(database, guard);
  const changeAll = coalesce(
    (changes: ((tx: Tx) => Promise<{ rows: unknown[] }>)[]) =>
      database.inHotLoop((tx) => Promise.all(changes.map((each) => each(tx)))),
    { ms: WRITE_MS, atMost: MOST, oneByOne: true },
  );
  const change = async (each: Parameters<typeof changeAll>[0]): Promise<void> => void (await changeAll(each));
  return {
    begin,
    async note({ roomId, dialog, ringingAt, answeredAt }) {
      const { rows } = await changeAll((tx) =>
        sql`
          update sip_calls set dialog = coalesce(${json(dialog)}::json, dialog),
            ringing_at = coalesce(ringing_at, ${ringingAt ?? null}),
            answered_at = coalesce(answered_at, ${answeredAt ?? null})
          where room_id = ${roomId} and ended_at is null returning room_id`.execute(tx.db),
      );
      return rows.length > 0;
    },
    withdraw: ({ roomId, at }) => change((tx) => withdraw(tx, roomId, at)),
    end: (end) =>
      change((tx) =>
        sql`
          update sip_calls set dialog = null, ended_at = ${end.at}, outcome = ${end.outcome}, ended_by = ${end.endedBy},
            sip_status = ${end.sipStatus ?? null}, sip_reason = ${end.sipReason ?? null},
            cause = ${end.q850Cause ?? null}, codec = ${end.codec ?? null},
            encrypted_with = ${end.encryptedWith ?? null}, packets_undeciphered = ${end.packetsUndeciphered ?? null},
            packets_received = ${end.packetsReceived ?? null}, packets_lost = ${end.packetsLost ?? null},
            agent_end = ${end.agentEnd ? JSON.stringify(end.agentEnd) : null}::jsonb
          where room_id = ${end.roomId} and ended_at is null`.execute(tx.db),
      ),
    async move({ db }, roomIds, serverId) {
      await sql`
        update sip_calls set server_id = ${serverId}
        where room_id = any(${roomIds}::uuid[]) and ended_at is null`.execute(db);
    },
    keepMessages: (roomId, messages) =>
      change((tx) =>
        sql`update sip_calls set messages = ${JSON.stringify(messages)}::json where room_id = ${roomId}`.execute(tx.db),
      ),
    async refuse({ roomId, attempt, workspaceId, serverId, at }) {
      const { rows } = await database.inEngine((tx) =>
        sql`
          insert into sip_calls (room_id, attempt, workspace_id, server_id, begun_at, ended_at)
          values (${roomId}, ${attempt}, ${workspaceId}, ${serverId}, ${at}, ${at})
          ${overRefused} returning room_id`.execute(tx.db),
      );
      return rows.length > 0;
    },
    async find(roomId) {
      const { rows } = await database.inEngine((tx) =>
        sql<Row<'sip_calls'> & { is_owned: boolean }>`
          select c.*, exists (select from servers s where s.id = c.server_id and s.lease_until > clock_timestamp())
            as is_owned
          from sip_calls c where c.room_id = ${roomId}`.execute(tx.db),
      );
      return rows[0] && storedCall(rows[0]);
    },
    idle: async () => void (await Promise.all([idle(), changeAll.idle()])),
  };
}

const json = (dialog: StoredDialog | undefined) => (dialog === undefined ? null : JSON.stringify(dialog));

const storedCall = (row: Row<'sip_calls'> & { is_owned: boolean }): StoredCall => ({
  roomId: row.room_id,
  workspaceId: row.workspace_id,
  serverId: row.server_id,
  attempt: row.attempt,
  isOwned: row.is_owned,
  ...(row.trunk_id !== null && { trunkId: row.trunk_id }),
  isRefused: row.ended_at !== null && row.outcome === null,
  ...(row.dialog !== null && { dialog: row.dialog as StoredDialog }),
  ...(row.ringing_at && { ringingAt: row.ringing_at }),
  ...(row.answered_at && { answeredAt: row.answered_at }),
  ...(row.ended_at &&
    row.outcome && {
      ended: {
        roomId: row.room_id,
        type: 'ended',
        at: row.ended_at,
        outcome: row.outcome as CallOutcome,
        endedBy: row.ended_by as EndedBy,
        ...(row.sip_status !== null && { sipStatus: row.sip_status }),
        ...(row.sip_reason !== null && { sipReason: row.sip_reason }),
        ...(row.cause !== null && { q850Cause: row.cause }),
        ...(row.codec !== null && { codec: row.codec }),
        ...(row.encrypted_with !== null && { encryptedWith: row.encrypted_with }),
        ...(row.packets_undeciphered !== null && { packetsUndeciphered: row.packets_undeciphered }),
        ...(row.packets_received !== null && { packetsReceived: row.packets_received }),
        ...(row.packets_lost !== null && { packetsLost: row.packets_lost }),
        ...(row.agent_end && { agentEnd: row.agent_end as AgentEnd }),
      },
    }),
});
