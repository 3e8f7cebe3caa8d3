import { type RawBuilder, sql } from 'kysely';
import { refuse } from '../values/service-error.ts';
import type { Database, WorkspaceTx } from './database.ts';
import { together } from './together.ts';

/** Which page of a list is wanted. `page` counts from 1. */
export interface PageQuery {
  page: number;
  perPage: number;
  order: 'asc' | 'desc';
  /** Empty or absent where nothing is looked for. */
  searchText?: string | undefined;
  /** Where the page before ended: what its last row holds in the columns of the order. */
  after?: readonly unknown[] | undefined;
  /** How many there were at the first page of a walk by cursor. */
  totalCount?: number | undefined;
  /** False where a list that grows without end is not to be counted; lists that stay small are counted always. */
  includeTotal?: boolean | undefined;
}

/** The page after which there are only pages of this number: the contract's largest. */
const LAST_PAGE = 1_000_000;

/**
 * A listing's query, with the contract's defaults filled in. Throws `invalid_request` where the cursor is none that
 * `pageAnswer` made; `foundation/http/cursor.ts` has seen to it that it is of this list.
 */
export const pageOf = (query: {
  page?: number;
  perPage?: number;
  order?: 'asc' | 'desc';
  searchText?: string;
  includeTotal?: boolean;
  cursor?: string;
}): PageQuery => ({
  page: query.page ?? 1,
  perPage: query.perPage ?? 20,
  order: query.order ?? 'desc',
  searchText: query.searchText,
  includeTotal: query.includeTotal,
  ...(query.cursor !== undefined && placeOf(query.cursor)),
});

/** Throws the refusal of a cursor that is none of the list. */
export const noCursor = () =>
  refuse([{ path: '/query/cursor', message: 'must be the nextCursor of a page of this list' }]);

function placeOf(cursor: string): Pick<PageQuery, 'page' | 'totalCount' | 'after'> {
  const [page, counted, ...after] = JSON.parse(cursor) as [number, number | null, ...unknown[]];
  const totalCount = counted ?? undefined;
  const areCounts = [page, totalCount ?? 0].every(Number.isSafeInteger);
  const areValues = after.every((value) => typeof value === 'string' || typeof value === 'number');
  if (!areCounts || page < 1 || page > LAST_PAGE || totalCount! < 0 || !areValues) noCursor();
  return { page, totalCount, after };
}

/** The rows of a page, and how many there are on all pages, if that is asked. */
export interface Page<R> {
  rows: R[];
  totalCount: number | undefined;
  /** Where the page ends, if there is another: what its last row holds in the columns of the order. */
  end?: readonly unknown[] | undefined;
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
  /** The columns by which rows are ordered, in the query's direction; together unique, none null, each in the rows by its name. */
  order: readonly string[];
  /** What is asked about the page's rows, around the SQL that finds them. */
  around?: (rows: RawBuilder<unknown>) => RawBuilder<R>;
  /** How many there are, where that is known. */
  totalCount?: number | undefined;
}

/** Reads a page, and counts what is on all pages if that is asked, in one round trip; in a snapshot both are of one instant. */
export async function readPage<R>(tx: WorkspaceTx, query: PageQuery, listing: Listing<R>): Promise<Page<R>> {
  const { columns = sql`*`, from, where, search, order, around = (rows) => sql<R>`${rows}`, totalCount } = listing;
  const { searchText } = query;
  const conditions = [...where, !!searchText && containsAny(search, searchText)];
  const found = sql`from ${from} where ${sql.join(
    conditions.filter((each) => each !== false),
    sql` and `,
  )}`;
  const by = sql.raw(order.map((each) => `${each} ${query.order}`).join(', '));
  const { limit, offset } = pageRows(query);
  const page = around(
    sql`select ${columns} ${found} ${isAfter(query, order)} order by ${by} limit ${limit} offset ${offset}`,
  );
  const count = totalCount === undefined ? sql`(select count(*) ${found})` : sql`${totalCount}::bigint`;
  const names = order.map((each) => each.slice(each.indexOf('.') + 1));
  return countedPage(tx, query, count, page, (row) => names.map((name) => (row as Record<string, unknown>)[name]));
}

/** Which rows come after the page before: one comparison of rows, which an index on the columns of the order answers. */
export function isAfter({ after, order }: PageQuery, columns: readonly string[]): RawBuilder<unknown> {
  if (after === undefined) return sql``;
  const place = placeIn(columns.length, after);
  return sql`and (${sql.raw(columns.join(', '))}) ${sql.raw(order === 'asc' ? '>' : '<')} (${sql.join(place)})`;
}

/** The place in a list that is ordered by so many columns. Throws `invalid_request` where it is none. */
export function placeIn(columns: number, after: readonly unknown[]): readonly unknown[] {
  if (after.length !== columns) noCursor();
  return after;
}

/** What PostgreSQL says of a value that is none of its column's type. */
const isDataFault = (error: unknown) => /^22/.test(String((error as { code?: unknown }).code));

/**
 * The same where SQL of its own gives the rows of the page, one more than it holds if there are, and the count of all,
 * which is a value.
 *
 * @param endOf what a row holds in the columns of the order
 */
export async function countedPage<R>(
  tx: WorkspaceTx,
  query: PageQuery,
  count: RawBuilder<unknown>,
  page: RawBuilder<R>,
  endOf: (row: R) => readonly unknown[],
): Promise<Page<R>> {
  const isCounted = query.totalCount === undefined && query.includeTotal !== false;
  const counting = async () =>
    isCounted
      ? (await sql<{ count: number }>`select ${count} as count`.execute(tx.db)).rows[0]!.count
      : query.totalCount;
  const [totalCount, { rows }] = await together(tx, [counting, page]).catch((error: unknown) => {
    if (query.after && isDataFault(error)) noCursor();
    throw error;
  });
  const last = rows.length > query.perPage ? rows[query.perPage - 1] : undefined;
  return { rows: rows.slice(0, query.perPage), totalCount, end: last && endOf(last) };
}

/** Typed as if it were always there: the contract needs it of lists that are always counted, and these have it. */
const countOf = (totalCount: number | undefined) =>
  (totalCount === undefined ? {} : { totalCount }) as { totalCount: number };

/** A page as it is answered, but for an envelope. `foundation/http/cursor.ts` makes the cursor opaque. */
export const pageAnswer = <R, Item>(
  { page, perPage, order, searchText }: PageQuery,
  { rows, totalCount, end }: Page<R>,
  present: (row: R) => Item,
) => ({
  items: rows.map((row) => present(row)),
  page,
  perPage,
  ...countOf(totalCount),
  ...(end && { nextCursor: JSON.stringify([Math.min(page + 1, LAST_PAGE), totalCount, ...end]) }),
  column: 'created_at' as const,
  order,
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

/** Which rows a page is read from: one more than it holds, which tells whether it is the last. */
export const pageRows = ({ page, perPage, after }: Pick<PageQuery, 'page' | 'perPage' | 'after'>) => ({
  limit: perPage + 1,
  offset: after === undefined ? (page - 1) * perPage : 0,
});

/**
 * Whether one of these texts, in SQL, contains `text`, whatever the case, with `%`, `_` and `\` taken as they are. In a
 * URL a `+` is a space to some and a plus to others, so each is taken for the other.
 */
export function containsAny(texts: readonly string[], text: string): RawBuilder<boolean> {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&').replaceAll('+', ' ')}%`;
  const asked = pattern.includes(' ') ? texts.map((each) => `translate(${each}, '+', ' ')`) : texts;
  const any = asked.map((each) => sql`${sql.raw(each)} ilike ${pattern}`);
  return sql<boolean>`(${sql.join(any, sql` or `)})`;
}

/** What is asked of a filter that takes a value or several of them. */
export const several = <T extends string>(asked: T | readonly T[] | undefined): readonly T[] | undefined =>
  asked === undefined ? undefined : ([asked].flat() as T[]);

/** Whether a column has one of some values of a closed list, which stand in the statement so that its plan knows them. */
export const isOneOf = (column: string, values: readonly string[]): RawBuilder<boolean> =>
  sql`${sql.raw(column)} in (${sql.join(values.map((value) => sql.lit(value)))})`;
