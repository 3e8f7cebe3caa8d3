import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import type { OwnedCall } from '../calls/call.ts';
import type { CallOwner } from '../calls/call-owner.ts';
import { TRANSFER, transferTransitions } from './transfer.ts';

/** Transfers, as the owners of the calls to whom somebody is handed on: such a call is placed once or never. */
export const transferCallOwner: CallOwner = {
  kind: TRANSFER,
  mayBePlaced: () => sql`exists (select from call_transfers t
    join calls f on f.workspace_id = t.workspace_id and f.id = t.room_id
    where t.workspace_id = c.workspace_id and t.id = c.owner_id and f.ended_at is null and f.end_requested_at is null)`,
  lock: async ({ db }, calls) => {
    await sql`
      select from call_transfers t join unnest(${workspacesOf(calls)}::uuid[], ${idsOf(calls)}::uuid[])
        as x (workspace_id, id) on t.workspace_id = x.workspace_id and t.id = x.id
      order by t.workspace_id, t.id for update of t`.execute(db);
  },
  // Whom it was joined with before is handed on, however that ends.
  onCallsEnded: (tx, calls, now) =>
    fail(
      tx,
      calls.map((call) => ({ ...call, reason: call.outcome })),
      now,
    ),
  onCallsReturned: (tx, calls, now) =>
    fail(
      tx,
      calls.map((call) => ({ ...call, reason: 'not_placed' })),
      now,
    ),
};

const workspacesOf = (calls: readonly OwnedCall[]) => calls.map(({ workspaceId }) => workspaceId);
const idsOf = (calls: readonly OwnedCall[]) => calls.map(({ owner }) => owner.id);

async function fail({ db }: Tx, calls: readonly (OwnedCall & { reason: string })[], now: Date): Promise<void> {
  await sql`
    update call_transfers t set status = 'failed', reason = x.reason, settled_at = ${now}
    from unnest(${workspacesOf(calls)}::uuid[], ${idsOf(calls)}::uuid[], ${calls.map(({ reason }) => reason)}::text[])
      as x (workspace_id, id, reason)
    where t.workspace_id = x.workspace_id and t.id = x.id and t.status in ${from(transferTransitions, 'failed')}`.execute(
    db,
  );
}
