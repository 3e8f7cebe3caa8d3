import { cut, pad, plain, width, wrap } from './text.ts';

/** A header, and the field of a row that stands under it, or what makes it. The first columns matter most. */
export type Column<Row> = readonly [header: string, cell: (keyof Row & string) | ((row: Row) => unknown)];

const GAP = '  ';
/** Columns that are rather cut than left out. */
const KEPT_COLUMNS = 3;
/** An ID has 38 at most. */
const WIDEST = 40;
const NARROWEST = 8;

/**
 * The lines of a table, the header first. Where it is too wide the last columns go, and then texts are cut; IDs, which
 * stand in the first column, stay whole. With `wrapLast` the last column's texts go on below instead.
 */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  limit?: number,
  wrapLast = false,
): string[] {
  const all = columns.map(([header, cell]) => [
    header.toUpperCase(),
    ...rows.map((row) => plain(typeof cell === 'function' ? cell(row) : row[cell])),
  ]);
  const filled = all.filter(([, ...cells], at) => at === 0 || cells.some((cell) => cell !== ''));
  const widths = fitWidths(
    filled.map((cells) => Math.max(...cells.map(width))),
    limit,
  );
  const last = widths.length - 1;
  const lines = (at: number) => {
    const end = filled[last]![at]!;
    const texts = wrapLast ? wrap(end, widths[last]) : [cut(end, widths[last]!)];
    const start = widths.slice(0, -1).map((size, column) => pad(cut(filled[column]![at]!, size), size));
    const below = start.map((cell) => ' '.repeat(width(cell)));
    return texts.map((text, line) => [...(line ? below : start), text].join(GAP).trimEnd());
  };
  return Array.from({ length: rows.length + 1 }, (_, at) => lines(at)).flat();
}

/** The widths that columns get within the limit; fewer than there are where the last ones don't fit. */
export function fitWidths(natural: readonly number[], limit = Number.POSITIVE_INFINITY): number[] {
  if (limit === Number.POSITIVE_INFINITY) return [...natural];
  const widths = natural.map((size) => Math.min(size, WIDEST, limit));
  const over = (sizes: number[]) => sizes.reduce((sum, size) => sum + size + GAP.length, -GAP.length) - limit;
  const least = (sizes: number[]) => sizes.map((size, at) => (at === 0 ? size : Math.min(size, NARROWEST)));
  while (widths.length > KEPT_COLUMNS && over(widths) > 0) widths.pop();
  while (widths.length > 1 && over(least(widths)) > 0) widths.pop();
  for (let at = widths.length - 1; at > 0 && over(widths) > 0; at -= 1)
    widths[at] = Math.max(Math.min(widths[at]!, NARROWEST), widths[at]! - over(widths));
  return widths;
}
