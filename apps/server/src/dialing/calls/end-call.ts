import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import type { CallGateway } from '../../lines/telephony/call-gateway.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import { type HeldCall, referenceOf } from './call.ts';
import type { CallOwners } from './call-owner.ts';
import { type LiveRow, liveColumns, toHeld, toOwned } from './call-row.ts';
import { requestEndOfCalls } from './request-end.ts';

export type CallEnded = components['schemas']['CallEnded'];

/** How long the answer waits for the end, and how often it looks. */
const WAIT_MS = 2000;
const LOOK_MS = 100;

/** What ending a call works with. */
export interface EndCallDeps {
  database: Database;
  clock: Clock;
  owners: Pick<CallOwners, 'lock' | 'onCallsEnded'>;
  gatewayFor: (provider: string) => CallGateway;
  /** The call of a room that this process holds. */
  callOf: (roomId: string) => HeldCall | undefined;
  /** Has the events of calls written by this process, or no longer. */
  hold: (calls: HeldCall[]) => void;
  release: (calls: HeldCall[]) => void;
  /** Has calls looked up until the provider can say what became of them. */
  watch: (calls: HeldCall[]) => void;
}

/**
 * Ends a call: takes back one that waits to be dialled, hangs up one that is up. Answers when it has ended, or after two
 * seconds. Throws `not_found`, `call_not_active` for one that has ended, and `unavailable` when the provider can't be asked.
 */
export async function endCall(
  deps: EndCallDeps,
  workspaceId: string,
  roomId: string,
  auditEntry: AuditEntry,
): Promise<CallEnded> {
  const now = deps.clock.now();
  const row = await deps.database.inWorkspace(workspaceId, async (tx) => {
    await deps.owners.lock(tx, [toOwned(await readCall(tx, roomId))]);
    if ((await requestEndOfCalls(tx, deps.owners, [roomId], now)) === 0) {
      throw new ServiceError('call_not_active', 'The call has ended already.');
    }
    await audit(tx, auditEntry, now);
    return readCall(tx, roomId);
  });
  if (row.ended_at) return ended(row);
  const call = toHeld(row);
  // Before the provider is asked, so that the end is written here.
  const isForeign = !deps.callOf(roomId);
  if (isForeign) deps.hold([call]);
  let isOpen = false;
  try {
    const last = await hangUp(deps, call);
    isOpen = last.ended_at === null;
    return ended(last);
  } finally {
    if (isOpen) deps.watch([call]);
    else if (isForeign) deps.release([call]);
  }
}

/** Asks the provider, and waits for the end. A provider that doesn't have the call yet is asked again. */
async function hangUp({ database, gatewayFor }: EndCallDeps, call: HeldCall): Promise<Row> {
  const gateway = gatewayFor(call.provider);
  const until = performance.now() + WAIT_MS;
  let isAsked = false;
  for (;;) {
    if (!isAsked) {
      const answer = await gateway.endCall(referenceOf(call)).catch((cause) => {
        throw new ServiceError('unavailable', 'The provider can not be reached right now. Try again.', { cause });
      });
      isAsked = answer !== 'absent';
    }
    const row = await database.inWorkspace(call.workspaceId, (tx) => readCall(tx, call.roomId));
    if (row.ended_at || performance.now() >= until) return row;
    await sleep(LOOK_MS);
  }
}

type Row = LiveRow & { ended_at: Date | null };

async function readCall(tx: WorkspaceTx, roomId: string): Promise<Row> {
  const { rows } = await sql<Row>`
    select ${liveColumns}, c.ended_at
    from calls c left join phone_numbers n on n.workspace_id = c.workspace_id and n.id = c.phone_number_id
    where c.workspace_id = ${tx.workspaceId} and c.id = ${roomId}`.execute(tx.db);
  if (!rows[0]) throw notFound();
  return rows[0];
}

const ended = ({ id, status, ended_at }: Row): CallEnded => ({
  roomId: toId('room', id),
  status,
  ...(ended_at && { endedAt: ended_at.toISOString() }),
});
