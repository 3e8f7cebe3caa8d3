import type { Client, ClientPathsWithMethod, MaybeOptionalInit, MethodResponse } from 'openapi-fetch';
import type { paths } from './generated/schema.ts';
import { type Unwrapped, unwrap } from './unwrap.ts';

type RawClient = Client<paths>;
type GetPath = ClientPathsWithMethod<RawClient, 'get'>;
type AnswerOf<Path extends GetPath> = Unwrapped<MethodResponse<RawClient, 'get', Path>>;

/** Every path whose GET answers a page. */
export type ListingPath = {
  [Path in GetPath]: AnswerOf<Path> extends { items: unknown[]; totalCount: number } ? Path : never;
}[GetPath];

/** A page of a listing, without envelope. */
export type PageOf<Path extends ListingPath> = AnswerOf<Path>;
/** What a listing lists. */
export type ItemOf<Path extends ListingPath> = PageOf<Path> extends { items: (infer Item)[] } ? Item : never;

type Init<Path extends ListingPath> = MaybeOptionalInit<paths[Path], 'get'>;
/** What a GET of the path takes. It may be left out where nothing in it is required. */
export type ListingInit<Path extends ListingPath> =
  undefined extends Init<Path> ? [init?: Init<Path>] : [init: Init<Path>];

interface AnyPage {
  items: unknown[];
  page: number;
  perPage: number;
  totalCount: number;
}

type AnyInit = { params?: { query?: { page?: number } } };
type AnyGet = (path: string, init: AnyInit) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

/** The largest page that the service gives. */
const PER_PAGE = 100;

/** The pages of a listing, from `page` (1 by default) to the last, 100 entries each unless `perPage` says otherwise. */
export async function* pages<Path extends ListingPath>(
  client: RawClient,
  path: Path,
  ...[init]: ListingInit<Path>
): AsyncGenerator<PageOf<Path>, void, undefined> {
  const { params, ...rest } = (init ?? {}) as AnyInit;
  for (let page = params?.query?.page ?? 1; ; page += 1) {
    const query = { perPage: PER_PAGE, ...params?.query, page };
    const answer = (await unwrap((client.GET as AnyGet)(path, { ...rest, params: { ...params, query } }))) as AnyPage;
    yield answer as PageOf<Path>;
    if (answer.items.length === 0 || answer.page * answer.perPage >= answer.totalCount) return;
  }
}

/** The entries of a listing, page after page. */
export async function* items<Path extends ListingPath>(
  client: RawClient,
  path: Path,
  ...init: ListingInit<Path>
): AsyncGenerator<ItemOf<Path>, void, undefined> {
  for await (const page of pages(client, path, ...init)) yield* (page as AnyPage).items as ItemOf<Path>[];
}
