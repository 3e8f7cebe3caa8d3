import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import { answerOnce } from '../../foundation/database/kept-answers.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import type { DtmfRow } from './dtmf.ts';
import type { CallStore } from './store.ts';

/** Requests of one call that may wait. */
const MOST_WAITING = 8;

interface DtmfDeps {
  database: Database;
  clock: Clock;
  secrets: Secrets;
  calls: Pick<CallStore, 'find'>;
}

/** Digits that are asked for in a call. */
export interface DtmfOrder {
  workspaceId: string;
  /** UUID. */
  roomId: string;
  digits: string;
  idempotencyKey: string | undefined;
  auditEntry: AuditEntry;
}

/**
 * Has digits sent in a call by the server that holds it. Throws `not_found`, `call_not_active`, `invalid_state` before the
 * answer, `limit_reached` and `idempotency_key_reused`; nothing is sent then.
 */
export async function requestDtmf(
  { database, clock, secrets, calls }: DtmfDeps,
  { workspaceId, roomId, digits, idempotencyKey: key, auditEntry }: DtmfOrder,
) {
  const now = clock.now();
  const id = newUuid();
  // They may be a PIN, which a bare digest of them would tell.
  const request = { roomId, digits };
  const named =
    key === undefined ? undefined : { operation: 'sendCallDtmf', key, request, resourceId: id, now, secrets };
  const make = async (tx: WorkspaceTx) => {
    await existing(calls.find(tx, roomId));
    await checkCall(tx, roomId);
    await sql`
      insert into call_dtmf (workspace_id, id, room_id, status, requested_at, digits)
      values (${workspaceId}, ${id}, ${roomId}, 'waiting', ${now}, ${digits})`.execute(tx.db);
    await audit(tx, auditEntry, now);
    return existing(readDtmf(tx, roomId, id));
  };
  return database.inWorkspace(workspaceId, (tx) =>
    answerOnce(
      tx,
      named,
      () => make(tx),
      () => null,
      (_kept, resourceId) => existing(readDtmf(tx, roomId, resourceId)),
    ),
  );
}

/** Whoever asks for more of the same call waits meanwhile, so that what is counted holds. */
async function checkCall(tx: WorkspaceTx, roomId: string): Promise<void> {
  const { rows } = await sql<{ status: string; ended_at: Date | null }>`
    select status, ended_at from calls where workspace_id = ${tx.workspaceId} and id = ${roomId}
    for no key update`.execute(tx.db);
  const call = rows[0];
  if (call?.ended_at) throw new ServiceError('call_not_active', 'The call has ended already.');
  if (call?.status !== 'in_progress')
    throw new ServiceError('invalid_state', 'The call is not answered yet. Send digits once it is.');
  const waiting = await sql`
    select from call_dtmf where workspace_id = ${tx.workspaceId} and room_id = ${roomId} and ended_at is null`.execute(
    tx.db,
  );
  if (waiting.rows.length >= MOST_WAITING)
    throw new ServiceError(
      'limit_reached',
      'Eight requests for digits of this call wait. Send more once they are sent.',
    );
}

export async function readDtmf(tx: WorkspaceTx, roomId: string, id: string): Promise<DtmfRow | undefined> {
  const { rows } = await sql<DtmfRow>`
    select workspace_id, id, room_id, status, reason, requested_at, ended_at from call_dtmf
    where workspace_id = ${tx.workspaceId} and id = ${id} and room_id = ${roomId}`.execute(tx.db);
  return rows[0];
}
