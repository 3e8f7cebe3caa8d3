import type { Item, Pages, Pending } from './method-types.ts';

interface AnyPage {
  items: unknown[];
  page: number;
  perPage: number;
  totalCount?: number;
  nextCursor?: string;
}

/** The largest page that the service gives. */
const PER_PAGE = 100;

/**
 * A listing from its first page on, 100 entries a page unless `perPage` says otherwise. It goes by cursor, so that
 * entries which are added meanwhile move none, and begins at `page` or `cursor`, where one is given.
 */
export function listing<Page>(ask: (query: object) => Pending<unknown>, query: object = {}): Pages<Page> {
  const start = { perPage: PER_PAGE, ...query };
  const first = ask(start) as Pending<Page>;
  async function* pages() {
    for (let page = first, asked: object = start; ; page = ask(asked) as Pending<Page>) {
      const answer = await page;
      yield answer;
      const { items, nextCursor, perPage, page: at, totalCount } = answer as AnyPage;
      if (nextCursor !== undefined) asked = { cursor: nextCursor };
      // A server of version 0.1 knows pages only.
      else if ('cursor' in asked || items.length === 0 || !(at * perPage < totalCount!)) return;
      else asked = { ...start, page: at + 1 };
    }
  }
  async function* entries() {
    for await (const page of pages()) yield* (page as AnyPage).items as Item<Page>[];
  }
  return Object.assign(first, { pages, [Symbol.asyncIterator]: entries });
}
