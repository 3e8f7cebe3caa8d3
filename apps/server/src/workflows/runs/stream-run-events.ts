import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../database/database.ts';
import type { Notifications } from '../../database/notifications.ts';
import type { StreamFrame } from '../../http/handler.ts';
import { eventsAfter } from '../../journal/events.ts';
import { ticks } from '../../journal/ticks.ts';
import { isFinal, type RunRow } from './run.ts';
import { runEvent } from './run-event.ts';
import { readRun } from './run-store.ts';

type RunEvent = components['schemas']['WorkflowRunEvent'];

/** Whose stream, and from where on. */
export interface StreamRequest {
  workspaceId: string;
  workflowId: string;
  runId: string;
  /** What the client has seen last. */
  lastEventId: string | undefined;
  signal: AbortSignal;
}

interface StreamDeps {
  database: Database;
  notifications: Pick<Notifications, 'subscribe'>;
}

/**
 * The events of a run, after the one that the client has seen last, else from its current state on, until it has ended.
 * Nothing where the client has seen the end. Throws `not_found`.
 */
export async function streamRunEvents(
  deps: StreamDeps,
  request: StreamRequest,
): Promise<AsyncIterable<StreamFrame> | undefined> {
  const { workspaceId, workflowId, runId, lastEventId } = request;
  const seen = lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
  const { run, isKnown } = await deps.database.inWorkspace(workspaceId, async (tx) => {
    const run = await readRun(tx, workflowId, runId);
    return { run, isKnown: seen !== undefined && seen <= run.revision && (await keepsSince(tx, runId, seen)) };
  });
  if (isKnown && seen === run.revision && isFinal(run.status)) return undefined;
  return frames(deps, request, isKnown ? seen : run);
}

/** Whether all events after a revision are still there: they go oldest first. */
async function keepsSince(tx: WorkspaceTx, runId: string, revision: number): Promise<boolean> {
  const { rows } = await sql`
    select from events where workspace_id = ${tx.workspaceId} and resource_id = ${runId} and revision <= ${revision}
    limit 1`.execute(tx.db);
  return rows.length > 0;
}

/** @param begin the revision that the client has, or the run to begin with */
async function* frames(
  { database, notifications }: StreamDeps,
  { workspaceId, workflowId, runId, signal }: StreamRequest,
  begin: number | undefined | RunRow,
): AsyncGenerator<StreamFrame> {
  let revision = typeof begin === 'number' ? begin : 0;
  if (typeof begin === 'object') {
    revision = begin.revision;
    const { type, data } = runEvent(begin);
    yield frame(revision, type, data);
    if (isFinal(begin.status)) return;
  }
  for await (const _ of ticks(notifications, runId, signal)) {
    const { run, events } = await database.inWorkspace(workspaceId, async (tx) => ({
      run: await readRun(tx, workflowId, runId),
      events: await eventsAfter(tx, runId, revision),
    }));
    for (const event of events) {
      revision = event.revision;
      yield frame(revision, event.type, event.data);
    }
    // The row may be older than the events, which are read after it: then the next look ends the stream.
    if (isFinal(run.status) && revision >= run.revision) return;
  }
}

function frame(revision: number, type: string, data: object): StreamFrame {
  const eventId = String(revision);
  const event = { eventId, eventType: type as RunEvent['eventType'], data: data as RunEvent['data'] };
  return { id: eventId, event: type, data: event satisfies RunEvent };
}
