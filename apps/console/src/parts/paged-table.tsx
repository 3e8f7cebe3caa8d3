// biome-ignore-all lint/a11y/useSemanticElements: rows that are placed by their number can't be a table's.
import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Fault } from './heading.tsx';

const PER_PAGE = 100;
const ROW_PX = 29;
const features = tableFeatures({});

export interface ColumnOf<Row> {
  head: string;
  /** How wide it is, as a track of a grid. */
  width: string;
  cell: (row: Row) => ReactNode;
  /** Figures stand at the end of their column. */
  isFigure?: boolean;
  /** Where there is no room, it is left out. */
  isOptional?: boolean;
}

interface PagedTableProps<Row> {
  name: string;
  queryKey: readonly unknown[];
  load: (page: number, perPage: number) => Promise<{ items: Row[] }>;
  /** How many rows there are. */
  total: number;
  columns: readonly ColumnOf<Row>[];
  keyOf: (row: Row) => string;
  /** The row that is looked at, by its key. */
  current?: string | undefined;
  whenEmpty: ReactNode;
}

interface Placed<Row> {
  index: number;
  start: number;
  row: Row | undefined;
}

/** A table of as many rows as there are: those to be seen are loaded, a page at a time, and no others are drawn. */
export function PagedTable<Row extends object>(props: PagedTableProps<Row>) {
  const { name, total, columns, keyOf, current, whenEmpty } = props;
  const body = useRef<HTMLDivElement>(null);
  const [scrollMargin, setMargin] = useState(0);
  // What stands above it grows and shrinks.
  useLayoutEffect(() => {
    const measure = () => setMargin((body.current?.getBoundingClientRect().top ?? 0) + scrollY);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  const virtualizer = useWindowVirtualizer({ count: total, estimateSize: () => ROW_PX, overscan: 12, scrollMargin });
  const shown = virtualizer.getVirtualItems();
  const { rowAt, error } = usePages(props, shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0);
  const data: Placed<Row>[] = shown.map(({ index, start }) => ({ index, start, row: rowAt(index) }));
  const table = useTable({ features, data, columns: useColumns(columns) });
  const tracks = (wide: boolean) => columns.filter((each) => wide || !each.isOptional).map((each) => each.width);
  const style = { '--wide': tracks(true).join(' '), '--narrow': tracks(false).join(' ') } as object;
  const line = 'cells px-4 grid-cols-(--narrow) lg:grid-cols-(--wide)';
  const look = (at: number) =>
    `clip ${columns[at]!.isFigure ? 'text-end' : ''} ${columns[at]!.isOptional ? 'max-lg:hidden' : ''}`;
  if (total === 0) return <div className="px-4 py-6 text-dim">{whenEmpty}</div>;
  return (
    <div role="table" aria-label={name} aria-rowcount={total + 1} style={style}>
      <Fault error={error} />
      <div role="rowgroup" className="border-b border-rule">
        {table.getHeaderGroups().map((group) => (
          <div key={group.id} role="row" aria-rowindex={1} tabIndex={-1} className={`label py-1 ${line}`}>
            {group.headers.map((header, at) => (
              <span key={header.id} role="columnheader" tabIndex={-1} className={look(at)}>
                <table.FlexRender header={header} />
              </span>
            ))}
          </div>
        ))}
      </div>
      <div role="rowgroup" ref={body} className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {table.getRowModel().rows.map((each) => {
          const { index, start, row } = each.original;
          const isCurrent = row !== undefined && keyOf(row) === current;
          return (
            <div
              key={index}
              role="row"
              aria-rowindex={index + 2}
              tabIndex={-1}
              className={`absolute inset-x-0 h-[29px] items-center border-b border-line ${line} ${isCurrent ? 'bg-night' : 'hover:bg-raised'}`}
              style={{ transform: `translateY(${start - scrollMargin}px)` }}
            >
              {each.getAllCells().map((cell, at) => (
                <span key={cell.id} role="cell" className={look(at)}>
                  <table.FlexRender cell={cell} />
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function useColumns<Row extends object>(columns: readonly ColumnOf<Row>[]) {
  return useMemo(() => {
    const helper = createColumnHelper<typeof features, Placed<Row>>();
    return columns.map(({ head, cell }) =>
      helper.display({
        id: head,
        header: head,
        cell: ({ row }) => (row.original.row ? cell(row.original.row) : <span className="text-dim">…</span>),
      }),
    );
  }, [columns]);
}

/** The pages that hold the rows from one to another. */
function usePages<Row>({ queryKey, load }: PagedTableProps<Row>, first: number, last: number) {
  const from = Math.floor(first / PER_PAGE);
  const pages = Array.from({ length: Math.floor(last / PER_PAGE) - from + 1 }, (_, at) => from + at);
  const results = useQueries({
    queries: pages.map((page) => ({
      queryKey: [...queryKey, page],
      queryFn: () => load(page + 1, PER_PAGE),
      placeholderData: keepPreviousData,
    })),
  });
  return {
    error: results.find((each) => each.error)?.error,
    rowAt: (index: number) => results[Math.floor(index / PER_PAGE) - from]?.data?.items[index % PER_PAGE],
  };
}
