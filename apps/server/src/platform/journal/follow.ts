import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { Notifications } from '../../foundation/database/notifications.ts';
import type { StreamFrame, StreamSource } from '../../foundation/http/handler.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { eventsAfter, keepsSince, MOST_EVENTS, type RecordedEvent } from './events.ts';
import type { Look } from './feed.ts';
import { feedsOf } from './feeds.ts';

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
  { database, notifications }: FollowDeps,
  followed: Followed<Row>,
  { workspaceId, lastEventId }: StreamReader,
): Promise<StreamSource | undefined> {
  const named = lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
  const { id } = followed;
  const begin = await database.inWorkspace(workspaceId, async (tx) => {
    const row = await existing(followed.read(tx));
    if (named === undefined || named > row.revision) return { seen: undefined };
    if (named === row.revision) return followed.isFinal(row) ? undefined : { seen: named };
    return { seen: (await keepsSince(tx, id, named)) ? named : undefined };
  });
  if (!begin) return undefined;
  const make = {
    terms: {
      look: (seen: ReadonlySet<number | undefined>) => look(database, workspaceId, followed, seen),
      apartMs: followed.snapshots?.apartMs ?? 0,
    },
    subscribe: (onHint: () => void) => notifications.subscribe(id, onHint),
  };
  return (stream) => feedsOf(database).of(workspaceId, id, make).join(stream, begin.seen);
}

/** Reads for all who follow, however much they have seen. */
async function look<Row extends { revision: number }>(
  database: Database,
  workspaceId: string,
  followed: Followed<Row>,
  seen: ReadonlySet<number | undefined>,
): Promise<Look | undefined> {
  const { isAtRest = followed.isFinal } = followed;
  const found = await database.inSnapshot(workspaceId, async (tx) => {
    const row = await followed.read(tx);
    return row && { row, ...(await eventsFor(tx, followed, row, seen)) };
  });
  if (!found) return undefined;
  const { row, events, hasMore } = found;
  // One frame an event, whoever gets it: it is written out once.
  const frames = new Map<RecordedEvent, StreamFrame>();
  for (const event of [...events.values()].flat())
    if (!frames.has(event)) frames.set(event, await frame(followed, event));
  return {
    frames: new Map([...events].map(([each, own]) => [each, own.map((event) => frames.get(event)!)])),
    atRest: isAtRest(row) ? row.revision : undefined,
    hasMore,
  };
}

/** What those are told who have seen so much: what was recorded since, else the present state. */
async function eventsFor<Row extends { revision: number }>(
  tx: WorkspaceTx,
  followed: Followed<Row>,
  row: Row,
  seen: ReadonlySet<number | undefined>,
): Promise<{ events: Map<number | undefined, RecordedEvent[]>; hasMore: boolean }> {
  const { id, past, snapshots } = followed;
  const { revision } = row;
  const behind = [...seen].filter((each) => each !== undefined && each < revision) as number[];
  const pages = await pagesFor(tx, id, behind);
  const needsState = seen.has(undefined) || (behind.length > 0 && (past ?? snapshots));
  const now = needsState ? await followed.data(row, tx) : {};
  const pastOf = (event: RecordedEvent) => (past ? { ...event, data: past(event.data, now) } : event);
  const told = pages.map(({ events, ...page }) => ({ ...page, events: events.map(pastOf) }));
  const first = [{ revision, type: followed.type(row), data: now }];
  const snapshot = snapshots ? [{ revision, type: snapshots.type, data: now }] : [];
  const eventsAfterEach = (each: number | undefined) => {
    if (each === undefined) return first;
    if (each >= revision) return [];
    const page = told.find(({ until }) => each < until);
    const own = page?.events.filter((event) => event.revision > each) ?? [];
    return own.length > 0 || page?.isFull !== false ? own : snapshot;
  };
  const hasMore = pages.some(({ isFull }) => isFull);
  return { events: new Map([...seen].map((each) => [each, eventsAfterEach(each)])), hasMore };
}

/** Events that were recorded, for those who have seen less than the last of them. */
interface EventPage {
  events: RecordedEvent[];
  /** The revision of the last of a page that is full. */
  until: number;
  isFull: boolean;
}

/** One page for those who are furthest behind, and one for those whom it does not reach: one reader keeps no other waiting. */
async function pagesFor(tx: WorkspaceTx, id: string, behind: readonly number[]): Promise<EventPage[]> {
  const pages: EventPage[] = [];
  for (let left = behind; left.length > 0 && pages.length < 2; ) {
    const events = await eventsAfter(tx, id, Math.min(...left));
    const isFull = events.length === MOST_EVENTS;
    const until = isFull ? events.at(-1)!.revision : Number.POSITIVE_INFINITY;
    pages.push({ events, until, isFull });
    left = left.filter((each) => each >= until);
  }
  return pages;
}

async function frame<Row extends { revision: number }>(
  { asSent }: Followed<Row>,
  { revision, type, data }: RecordedEvent,
): Promise<StreamFrame> {
  const event = { eventId: String(revision), eventType: type, data };
  return { id: event.eventId, event: type, data: asSent ? await asSent(event) : event };
}
