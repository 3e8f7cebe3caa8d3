import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, WorkspaceTx } from '../database/database.ts';
import type { Notifications } from '../database/notifications.ts';
import type { StreamFrame } from '../http/handler.ts';
import { existing } from '../service-error.ts';
import { eventsAfter, keepsSince, type RecordedEvent } from './events.ts';
import { ticks } from './ticks.ts';

/** A resource whose stream is read, and what its stream does in its own way. */
export interface Followed<Row extends { revision: number }> {
  /** UUID. */
  id: string;
  /** The resource as it is now; nothing where it is gone. */
  read(tx: WorkspaceTx): Promise<Row | undefined>;
  /** The type of the event that leads to its present state, and the data of that event. */
  type(row: Row): string;
  data(row: Row, tx: WorkspaceTx): object | Promise<object>;
  /** Whether nothing can happen to it any more: who knows that has nothing to wait for. */
  isFinal(row: Row): boolean;
  /** Whether nothing happens to it by itself: who is told that is told no more. By default where it is final. */
  isAtRest?(row: Row): boolean;
  /** What is sent of an event where that is more than what was recorded. */
  asSent?(event: StreamEvent): Promise<StreamEvent>;
  /** Where it changes without events too: it is told as it is then, by this type, so far apart at least. */
  snapshots?: { apartMs: number; type: string };
  /** The data of an event that was recorded, told beside the data of the present state; by default what was recorded. */
  past?(recorded: object, now: object): object;
}

/** What a frame holds. */
export interface StreamEvent {
  eventId: string;
  eventType: string;
  data: object;
}

/** Who reads a stream, and from where on. */
export interface StreamReader {
  workspaceId: string;
  /** What the client has seen last. */
  lastEventId: string | undefined;
  signal: AbortSignal;
}

export interface FollowDeps {
  database: Database;
  notifications: Pick<Notifications, 'subscribe'>;
}

/**
 * Streams what happens to a resource, until nothing more will: the events after the one that the client has seen last, where
 * they are still kept, else its present state; then what follows.
 * @returns nothing where the client has seen the end
 * @throws `not_found`
 */
export async function follow<Row extends { revision: number }>(
  deps: FollowDeps,
  followed: Followed<Row>,
  reader: StreamReader,
): Promise<AsyncIterable<StreamFrame> | undefined> {
  const { lastEventId } = reader;
  const seen = lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
  return deps.database.inWorkspace(reader.workspaceId, async (tx) => {
    const row = await existing(followed.read(tx));
    if (seen === undefined || seen > row.revision) return frames(deps, followed, reader, undefined);
    if (seen === row.revision && followed.isFinal(row)) return undefined;
    const isKept = seen === row.revision || (await keepsSince(tx, followed.id, seen));
    return frames(deps, followed, reader, isKept ? seen : undefined);
  });
}

async function* frames<Row extends { revision: number }>(
  { database, notifications }: FollowDeps,
  followed: Followed<Row>,
  { workspaceId, signal }: StreamReader,
  seen: number | undefined,
): AsyncGenerator<StreamFrame> {
  const { id, snapshots, isAtRest = followed.isFinal } = followed;
  let after = seen;

  const stateNow = async (type: string, row: Row, tx: WorkspaceTx): Promise<RecordedEvent[]> => [
    { revision: row.revision, type, data: await followed.data(row, tx) },
  ];
  const eventsOf = async (row: Row, tx: WorkspaceTx): Promise<RecordedEvent[]> => {
    if (after === undefined) return stateNow(followed.type(row), row, tx);
    if (row.revision <= after) return [];
    const recorded = await eventsAfter(tx, id, after);
    if (snapshots && recorded.length === 0) return stateNow(snapshots.type, row, tx);
    const { past } = followed;
    if (!past || recorded.length === 0) return recorded;
    const now = await followed.data(row, tx);
    return recorded.map((event) => ({ ...event, data: past(event.data, now) }));
  };

  for await (const _ of ticks(notifications, id, signal)) {
    const look = await database.inWorkspace(workspaceId, async (tx) => {
      const row = await followed.read(tx);
      return row && { row, events: await eventsOf(row, tx) };
    });
    if (!look) return;
    for (const event of look.events) {
      after = event.revision;
      yield await frame(followed, event);
    }
    // Who names the last event of a resource at rest waits for more; who has just got it is done. The row may be older than
    // the events, which are read after it: then the next look ends the stream.
    if (after !== seen && after === look.row.revision && isAtRest(look.row)) return;
    if (snapshots && look.events.length > 0) await sleep(snapshots.apartMs, undefined, { signal }).catch(() => {});
  }
}

async function frame<Row extends { revision: number }>(
  { asSent }: Followed<Row>,
  { revision, type, data }: RecordedEvent,
): Promise<StreamFrame> {
  const event = { eventId: String(revision), eventType: type, data };
  return { id: event.eventId, event: type, data: asSent ? await asSent(event) : event };
}
