import { type RawBuilder, sql } from 'kysely';
import type { Database, WorkspaceTx } from './database.ts';
import { together } from './together.ts';

/** Which page of a list is wanted. `page` counts from 1. */
export interface PageQuery {
  page: number;
  perPage: number;
  order: 'asc' | 'desc';
  searchText?: string | undefined;
}

/** A listing's query, with the contract's defaults filled in. */
export const pageOf = (query: {
  page?: number;
  perPage?: number;
  order?: 'asc' | 'desc';
  searchText?: string;
}): PageQuery => ({
  page: query.page ?? 1,
  perPage: query.perPage ?? 20,
  order: query.order ?? 'desc',
  searchText: query.searchText,
});

/** The rows of a page, and how many there are on all pages. */
export interface Page<R> {
  rows: R[];
  totalCount: number;
}

/** What is listed, in SQL. */
export interface Listing<R> {
  /** Where it isn't all of them. */
  columns?: RawBuilder<unknown>;
  from: RawBuilder<unknown>;
  /** All of these hold; those that are `false` are left out. */
  where: (RawBuilder<unknown> | false)[];
  /** The texts in which `searchText` is looked for. */
  search: readonly string[];
  /** What rows are ordered by, in the query's direction; together it is unique. */
  order: readonly string[];
  /** What is asked about the page's rows, around the SQL that finds them. */
  around?: (rows: RawBuilder<unknown>) => RawBuilder<R>;
  /** How many there are, where that is known. */
  totalCount?: number | undefined;
}

/** Reads a page, and counts what is on all pages, in one round trip; in a snapshot both are of one instant. */
export async function readPage<R>(tx: WorkspaceTx, query: PageQuery, listing: Listing<R>): Promise<Page<R>> {
  const { columns = sql`*`, from, where, search, order, around = (rows) => sql<R>`${rows}`, totalCount } = listing;
  const pattern = query.searchText === undefined ? undefined : containing(query.searchText);
  const inText = search.map((text) => sql`${sql.raw(text)} ilike ${pattern}`);
  const conditions = [...where, pattern !== undefined && sql`(${sql.join(inText, sql` or `)})`];
  const found = sql`from ${from} where ${sql.join(
    conditions.filter((each) => each !== false),
    sql` and `,
  )}`;
  const by = sql.raw(order.map((each) => `${each} ${query.order}`).join(', '));
  const { limit, offset } = pageRows(query);
  const page = around(sql`select ${columns} ${found} order by ${by} limit ${limit} offset ${offset}`);
  return countedPage(tx, totalCount === undefined ? sql`(select count(*) ${found})` : sql`${totalCount}::bigint`, page);
}

/** The same where SQL of its own gives the rows of the page and the count of all, which is a value. */
export async function countedPage<R>(
  tx: WorkspaceTx,
  count: RawBuilder<unknown>,
  page: RawBuilder<R>,
): Promise<Page<R>> {
  const [counted, { rows }] = await together(tx, [sql<{ count: number }>`select ${count} as count`, page]);
  return { rows, totalCount: counted.rows[0]!.count };
}

/** A page as it is answered, but for an envelope. */
export const pageAnswer = <R, Item>(
  { searchText, ...place }: PageQuery,
  { rows, totalCount }: Page<R>,
  present: (row: R) => Item,
) => ({
  items: rows.map((row) => present(row)),
  ...place,
  totalCount,
  column: 'created_at' as const,
  ...(searchText !== undefined && { searchText }),
});

/** Reads a page of a list, all of one instant, as it is answered but for an envelope. */
export async function listed<R, Item>(
  database: Pick<Database, 'inSnapshot'>,
  workspaceId: string,
  query: Parameters<typeof pageOf>[0],
  read: (tx: WorkspaceTx, page: PageQuery) => Promise<Page<R>>,
  present: (row: R) => Item,
) {
  const page = pageOf(query);
  return pageAnswer(page, await database.inSnapshot(workspaceId, (tx) => read(tx, page)), present);
}

/** What a page of a list is in SQL. */
export const pageRows = ({ page, perPage }: Pick<PageQuery, 'page' | 'perPage'>) => ({
  limit: perPage,
  offset: (page - 1) * perPage,
});

/** The pattern for LIKE and ILIKE that finds `text` anywhere, with its `%`, `_` and `\` taken as they are. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
