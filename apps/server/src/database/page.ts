/** What a page of a list is in SQL. `page` counts from 1. */
export const pageRows = ({ page, perPage }: { page: number; perPage: number }) => ({
  limit: perPage,
  offset: (page - 1) * perPage,
});

/** The pattern for LIKE and ILIKE that finds `text` anywhere, with its `%`, `_` and `\` taken as they are. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
