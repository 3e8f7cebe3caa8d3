import { sql } from 'kysely';
import type { Database } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { toId } from '../../foundation/values/ids.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import type { RecordCallEvents } from '../calls/call-events.ts';
import type { CallEnded } from '../calls/end-call.ts';
import type { Switchboard } from '../calls/switchboard.ts';
import { giveUpIntents, withdrawn } from './give-up.ts';

/** Ends calls for clients: those that wait are taken back, the others end as the switchboard has them end. */
export function callEnder(
  { database, clock, recordEvents }: { database: Database; clock: Clock; recordEvents: RecordCallEvents },
  endPlaced: Switchboard['endCall'],
): Switchboard['endCall'] {
  const withdraw = (workspaceId: string, roomId: string, auditEntry: AuditEntry): Promise<CallEnded | undefined> =>
    database.inWorkspace(workspaceId, async (tx) => {
      const now = clock.now();
      const place = sql`
        select ctid from call_intents
        where workspace_id = ${workspaceId} and id = ${roomId} and next_attempt_at is not null for update`;
      const [ended] = await giveUpIntents(tx, place, withdrawn, now, recordEvents);
      if (!ended) return undefined;
      await audit(tx, auditEntry, now);
      return { roomId: toId('room', roomId), status: 'cancelled', endedAt: now.toISOString() };
    });
  return async (workspaceId, roomId, auditEntry) => {
    for (let tries = 1; ; tries += 1) {
      const ended = await withdraw(workspaceId, roomId, auditEntry);
      if (ended) return ended;
      try {
        return await endPlaced(workspaceId, roomId, auditEntry);
      } catch (error) {
        if (!(error instanceof ServiceError && isGone.has(error.code)) || tries === MOST_TRIES) throw error;
      }
    }
  };
}

/** A call may be given back between the two looks, and wait again; and be claimed again before the next. */
const MOST_TRIES = 3;
const isGone: ReadonlySet<string> = new Set(['not_found', 'call_not_active']);
