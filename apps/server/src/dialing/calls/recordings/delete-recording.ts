import { sql } from 'kysely';
import type { Database } from '../../../foundation/database/database.ts';
import { from } from '../../../foundation/database/moves.ts';
import type { Row } from '../../../foundation/database/schema.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import { notFound, ServiceError } from '../../../foundation/values/service-error.ts';
import { type AuditEntry, audit } from '../../../platform/journal/record.ts';
import { recordingTransitions } from './recording.ts';

/**
 * Deletes the recording of a call: for clients at once, its file soon after. Throws `not_found` where there is none, and
 * `invalid_state` while it is being made.
 */
export async function deleteRecording(
  { database, clock }: { database: Database; clock: Clock },
  workspaceId: string,
  roomId: string,
  auditEntry: AuditEntry,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    const { rows } = await sql<Pick<Row<'call_recordings'>, 'status'>>`
      select status from call_recordings where workspace_id = ${workspaceId} and room_id = ${roomId} for update`.execute(
      tx.db,
    );
    const status = rows[0]?.status;
    if (status === undefined || status === 'failed' || status === 'deleted') throw notFound();
    if (status === 'recording') {
      throw new ServiceError(
        'invalid_state',
        'The call is still being recorded. Delete the recording once it is stored.',
      );
    }
    await sql`
      update call_recordings set status = 'deleted'
      where workspace_id = ${workspaceId} and room_id = ${roomId}
        and status in ${from(recordingTransitions, 'deleted')}`.execute(tx.db);
    await audit(tx, auditEntry, clock.now());
  });
}
