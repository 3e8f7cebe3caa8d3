import { sql } from 'kysely';
import type { Database } from '../../foundation/database/database.ts';
import type { ModelUsage } from '../../lines/media/realtime/speech-model.ts';

/** Keeps all that the model of a call has used, in the place of what was known at the call's end. */
export async function keepUsage(
  database: Database,
  { workspaceId, roomId }: { workspaceId: string; roomId: string },
  usage: ModelUsage,
): Promise<void> {
  await database.inWorkspace(workspaceId, (tx) =>
    sql`
      update calls set usage = ${JSON.stringify(usage)}::jsonb
      where workspace_id = ${workspaceId} and id = ${roomId}`.execute(tx.db),
  );
}
