import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import { makeOnce } from '../../foundation/database/idempotency-keys.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { existing, refuse, ServiceError } from '../../foundation/values/service-error.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import { readNumber } from '../calls/may-dial.ts';
import type { CallStore } from '../calls/store.ts';
import type { TransferRow } from './transfer.ts';

/** What transfers work with. */
export interface TransferDeps {
  database: Database;
  clock: Clock;
  calls: Pick<CallStore, 'find'>;
  /** Has those that wait taken at once. */
  nudge: () => void;
}

/** A call that is to be handed on. */
export interface TransferOrder {
  workspaceId: string;
  /** UUID. */
  roomId: string;
  /** E.164. */
  to: string;
  timeoutSeconds: number;
  idempotencyKey: string | undefined;
  auditEntry: AuditEntry;
}

/**
 * Has a call handed on by the server that holds it. Throws `not_found`, `invalid_request`, `call_not_active`, `invalid_state`
 * and `idempotency_key_reused`; nobody is called then.
 */
export async function requestTransfer({ database, clock, calls, nudge }: TransferDeps, order: TransferOrder) {
  const { workspaceId, roomId, to, timeoutSeconds, idempotencyKey: key } = order;
  const now = clock.now();
  const id = newUuid();
  const request = { roomId, to, timeoutSeconds };
  const toNumber = readNumber(to)?.toNumber;
  const named = key === undefined ? undefined : { operation: 'transferCall', key, request, resourceId: id, now };
  const make = async (tx: WorkspaceTx) => {
    await existing(calls.find(tx, roomId));
    if (toNumber === undefined)
      refuse([
        { path: '/body/to', message: 'must be a number that a numbering plan has, and no emergency or short one' },
      ]);
    await checkCall(tx, roomId);
    await sql`
      insert into call_transfers (workspace_id, id, room_id, status, to_number, timeout_seconds, requested_at)
      values (${workspaceId}, ${id}, ${roomId}, 'waiting', ${toNumber}, ${timeoutSeconds}, ${now})`.execute(tx.db);
    await audit(tx, order.auditEntry, now);
    return existing(readTransfer(tx, roomId, id));
  };
  const made = await database.inWorkspace(workspaceId, (tx) =>
    makeOnce(
      tx,
      named,
      () => make(tx),
      (resourceId) => existing(readTransfer(tx, roomId, resourceId)),
    ),
  );
  nudge();
  return made;
}

/** Whoever asks for another one of the same call waits meanwhile. */
async function checkCall(tx: WorkspaceTx, roomId: string): Promise<void> {
  const { rows } = await sql<{ status: string; hasEnded: boolean; isEnding: boolean; simulated: boolean }>`
    select status, ended_at is not null as "hasEnded", end_requested_at is not null as "isEnding", simulated
    from calls where workspace_id = ${tx.workspaceId} and id = ${roomId} for no key update`.execute(tx.db);
  const call = rows[0];
  if (call?.hasEnded) throw new ServiceError('call_not_active', 'The call has ended already.');
  if (call?.isEnding) throw new ServiceError('call_not_active', 'The call is being ended.');
  if (call?.status !== 'in_progress')
    throw new ServiceError('invalid_state', 'The call is not answered yet. Hand it on once it is.');
  if (await isHandedOn(tx, roomId))
    throw new ServiceError('invalid_state', 'The call is being handed on already, or was.');
  if (call.simulated) throw new ServiceError('invalid_state', 'A simulated call has nobody who could be handed on.');
}

/** Asked once the call's row is held: a statement that waits for it would not see what was written meanwhile. */
async function isHandedOn(tx: WorkspaceTx, roomId: string): Promise<boolean> {
  const { rows } = await sql`
    select from call_transfers
    where workspace_id = ${tx.workspaceId} and status <> 'failed' and ${roomId} in (room_id, leg_room_id)`.execute(
    tx.db,
  );
  return rows.length > 0;
}

export async function readTransfer(tx: WorkspaceTx, roomId: string, id: string): Promise<TransferRow | undefined> {
  const { rows } = await sql<TransferRow>`
    select * from call_transfers
    where workspace_id = ${tx.workspaceId} and id = ${id} and room_id = ${roomId}`.execute(tx.db);
  return rows[0];
}
