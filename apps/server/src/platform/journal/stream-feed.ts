import type { Database } from '../../foundation/database/database.ts';
import type { Notifications } from '../../foundation/database/notifications.ts';
import type { StreamFrame, StreamSource } from '../../foundation/http/handler.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import {
  checkKept,
  existingFeed,
  type FeedFilter,
  type FeedItem,
  findFeed,
  MOST_READ,
  presentEvent,
  readFeed,
} from './event-feed.ts';
import type { Look } from './feed.ts';
import { feedsOf } from './feeds.ts';

/** News stand this far apart at least: a busy workspace's are told as a set. */
const APART_MS = 100;

export interface FeedDeps {
  database: Database;
  notifications: Pick<Notifications, 'subscribe'>;
}

/**
 * Streams the events of a workspace behind a place, or those that come from now on. Throws `invalid_state` if the feed is
 * off, and `events_expired`.
 */
export async function streamFeed(
  { database, notifications }: FeedDeps,
  workspaceId: string,
  filter: FeedFilter,
  after: number | undefined,
): Promise<StreamSource> {
  await database.inSnapshot(workspaceId, async (tx) => {
    const feed = await existingFeed(tx);
    if (after !== undefined) checkKept(feed, after);
  });
  const make = {
    terms: {
      look: (seen: ReadonlySet<number | undefined>) => look(database, workspaceId, filter, seen),
      apartMs: APART_MS,
    },
    subscribe: (onHint: () => void) => notifications.subscribe(workspaceId, onHint),
  };
  const name = `events ${JSON.stringify(filter)}`;
  return (stream) => feedsOf(database).of(workspaceId, name, make).join(stream, after);
}

/** What was read for those who have seen so much as `from`, or more, but less than `until`. */
interface FeedPart {
  from: number;
  until: number;
  frames: StreamFrame[];
}

/** Reads for all who follow, however much they have seen. Nothing if it is over: the next request says why. */
async function look(
  database: Database,
  workspaceId: string,
  filter: FeedFilter,
  seen: ReadonlySet<number | undefined>,
): Promise<Look | undefined> {
  try {
    return await database.inSnapshot(workspaceId, async (tx) => {
      const feed = await findFeed(tx);
      if (!feed) return undefined;
      const behind = [...seen].filter((each) => each !== undefined && each !== feed.last_place) as number[];
      const parts: FeedPart[] = [];
      // One for those who are furthest behind, and one for those who are least: who reads much keeps nobody else waiting.
      for (let left = behind; left.length > 0 && parts.length < 2; ) {
        const from = parts.length === 0 ? Math.min(...left) : Math.max(...left);
        checkKept(feed, from);
        const { items, after } = await readFeed(tx, filter, from, MOST_READ);
        const isTold = items.at(-1)?.place === after;
        parts.push({ from, until: after, frames: [...items.map(frame), ...(isTold ? [] : [placeFrame(after)])] });
        left = left.filter((each) => each >= after);
        if (after === from) break;
      }
      return {
        frames: new Map([...seen].map((each) => [each, framesFor(each, parts, feed.last_place)])),
        atRest: undefined,
        hasMore: parts.some(({ until }) => until < feed.last_place),
      };
    });
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'events_expired') return undefined;
    throw error;
  }
}

function framesFor(seen: number | undefined, parts: readonly FeedPart[], last: number): readonly StreamFrame[] {
  if (seen === undefined) return [placeFrame(last)];
  const part = parts.find(({ from, until }) => from <= seen && seen < until);
  return part?.frames.filter(({ id }) => Number(id) > seen) ?? [];
}

const frame = (item: FeedItem): StreamFrame => ({ id: String(item.place), event: item.type, data: presentEvent(item) });

/** Tells how far a stream is. */
const placeFrame = (place: number): StreamFrame => ({ id: String(place), event: '', data: undefined });
