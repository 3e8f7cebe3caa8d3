/** Which page of a list is wanted. `page` counts from 1. */
export interface PageQuery {
  page: number;
  perPage: number;
  order: 'asc' | 'desc';
  searchText: string | undefined;
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

/** A page as it is answered, but for an envelope. */
export const pageAnswer = <Item>({ searchText, ...place }: PageQuery, items: Item[], totalCount: number) => ({
  items,
  ...place,
  totalCount,
  column: 'created_at' as const,
  ...(searchText !== undefined && { searchText }),
});

/** What a page of a list is in SQL. */
export const pageRows = ({ page, perPage }: Pick<PageQuery, 'page' | 'perPage'>) => ({
  limit: perPage,
  offset: (page - 1) * perPage,
});

/** The pattern for LIKE and ILIKE that finds `text` anywhere, with its `%`, `_` and `\` taken as they are. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
