import type { Database } from '../../foundation/database/database.ts';
import { type Limiter, limiter } from '../../foundation/values/limiter.ts';
import { Feed, type FeedTerms } from './feed.ts';

/** The feeds of a process, each there while a stream follows it. */
export interface Feeds {
  /** Their looks wait here. */
  slots: Limiter;
  /** The feed of a resource; `terms` and `subscribe` are asked for where there is none yet. */
  of(workspaceId: string, resourceId: string, make: Make): Feed;
  /** How long a feed of a workspace waits for word before it looks by itself, in milliseconds. */
  restMs(workspaceId: string): number;
}

/** What the feed of a resource does in its own way, and what tells it of changes. */
interface Make {
  terms: Pick<FeedTerms, 'look' | 'apartMs'>;
  subscribe(onHint: () => void): () => void;
}

/** How many looks are under way at a time, two of one workspace alone, so that requests find connections. */
const AT_ONCE = 4;
/** A feed looks once a second; those of a workspace together so often at most, for word of a change is seldom lost. */
const REST_MS = 1000;
const LOOKS_PER_SECOND = 100;

export function createFeeds(): Feeds {
  const slots = limiter(AT_ONCE);
  const open = new Map<string, Map<string, Feed>>();
  const restMs = (workspaceId: string) =>
    Math.max(REST_MS, ((open.get(workspaceId)?.size ?? 0) * 1000) / LOOKS_PER_SECOND);
  return {
    slots,
    restMs,
    of(workspaceId, resourceId, { terms, subscribe }) {
      const own = open.get(workspaceId) ?? new Map<string, Feed>();
      const known = own.get(resourceId);
      if (known) return known;
      const feed = new Feed({
        ...terms,
        workspaceId,
        slots,
        restMs: () => restMs(workspaceId),
        onEmpty: () => {
          unsubscribe();
          own.delete(resourceId);
          if (own.size === 0) open.delete(workspaceId);
        },
      });
      const unsubscribe = subscribe(feed.hint);
      open.set(workspaceId, own.set(resourceId, feed));
      return feed;
    },
  };
}

const feeds = new WeakMap<Database, Feeds>();

/** Those of the streams that read from this database. */
export function feedsOf(database: Database): Feeds {
  const known = feeds.get(database) ?? createFeeds();
  feeds.set(database, known);
  return known;
}
