import type { WorkspaceTx } from '../../foundation/database/database.ts';

/** What a stream sends again: an event as it was recorded. */
export interface RecordedEvent {
  revision: number;
  type: string;
  data: object;
}

/** Whether all events after a revision are still there: they go oldest first. */
export async function keepsSince(tx: WorkspaceTx, resourceId: string, revision: number): Promise<boolean> {
  const found = await tx.db
    .selectFrom('events')
    .select('revision')
    .where('workspace_id', '=', tx.workspaceId)
    .where('resource_id', '=', resourceId)
    .where('revision', '<=', revision)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Events that are read at a time. */
export const MOST_EVENTS = 500;

/** The events of a resource after a revision, in their order, at most so many. */
export async function eventsAfter(tx: WorkspaceTx, resourceId: string, revision: number): Promise<RecordedEvent[]> {
  return tx.db
    .selectFrom('events')
    .select(['revision', 'type', 'data'])
    .where('workspace_id', '=', tx.workspaceId)
    .where('resource_id', '=', resourceId)
    .where('revision', '>', revision)
    .orderBy('revision')
    .limit(MOST_EVENTS)
    .execute();
}
