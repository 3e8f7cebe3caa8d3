import type { Answer, Handlers } from '../../foundation/http/handler.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { ok } from '../../foundation/values/success.ts';
import { checkKept, existingFeed, feedFilter, presentEvent, readFeed } from './event-feed.ts';
import { type FeedDeps, streamFeed } from './stream-feed.ts';

/** The operations of the tag "Events". */
export function feedOperations(deps: FeedDeps) {
  return {
    listEvents: async ({ query }, { workspaceId, key }) => {
      const filter = feedFilter(key.permissions, query);
      const limit = query.limit ?? 100;
      const page = await deps.database.inSnapshot(workspaceId, async (tx) => {
        const feed = await existingFeed(tx);
        const from = query.after === 'latest' ? feed.last_place : (placeOf(query.after) ?? feed.begins_behind);
        checkKept(feed, from);
        const { items, after } = await readFeed(tx, filter, from, limit);
        return { items: items.map(presentEvent), after: String(after), hasMore: after < feed.last_place };
      });
      return ok(page as components['schemas']['EventPage']) as Answer<'listEvents'>;
    },
    streamEvents: async ({ query, headers }, { workspaceId, key }) => {
      const after = placeOf(headers['Last-Event-ID'] ?? query.after);
      return { status: 200, stream: await streamFeed(deps, workspaceId, feedFilter(key.permissions, query), after) };
    },
  } satisfies Partial<Handlers>;
}

const placeOf = (after: string | undefined): number | undefined =>
  after === undefined || after === 'latest' ? undefined : Number(after);
