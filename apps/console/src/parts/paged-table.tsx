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
  /** Those to be seen are asked for anew so often. */
  refetchMs?: number;
}

interface Placed<Row> {
  index: number;
  start: number;
  row: Row | undefined;
}

/** A table of as many rows as there are: those to be seen are loaded, a page at a time, and no others are drawn. */
export function PagedTable<Row extends object>(props: PagedTableProps<Row>) {
  const { name, total, columns, keyOf, current, whenEmpty } = props;
  const body = useRef<HTMLTableSectionElement>(null);
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
    `clip ${columns[at]!.isFigure ? 'text-end!' : ''} ${columns[at]!.isOptional ? 'max-lg:hidden' : ''}`;
  if (total === 0) return <div className="px-4 py-6 text-dim">{whenEmpty}</div>;
  return (
    <>
      <Fault error={error} />
      <table aria-label={name} aria-rowcount={total + 1} className="block" style={style}>
        <thead className="block border-b border-rule">
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} aria-rowindex={1} className={`label py-1 ${line}`}>
              {group.headers.map((header, at) => (
                <th key={header.id} scope="col" className={look(at)}>
                  <table.FlexRender header={header} />
                </th>
              ))}
            </tr>
          ))}
        </thead>
        <tbody ref={body} className="relative block" style={{ height: virtualizer.getTotalSize() }}>
          {table.getRowModel().rows.map((each) => {
            const { index, start, row } = each.original;
            const isCurrent = row !== undefined && keyOf(row) === current;
            return (
              <tr
                key={index}
                aria-rowindex={index + 2}
                className={`absolute inset-x-0 h-[29px] items-center border-b border-line ${line} ${isCurrent ? 'bg-night' : 'hover:bg-raised'}`}
                style={{ transform: `translateY(${start - scrollMargin}px)` }}
              >
                {each.getAllCells().map((cell, at) => (
                  <td key={cell.id} className={look(at)}>
                    <table.FlexRender cell={cell} />
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
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
function usePages<Row>({ queryKey, load, refetchMs = 0 }: PagedTableProps<Row>, first: number, last: number) {
  const from = Math.floor(first / PER_PAGE);
  const pages = Array.from({ length: Math.floor(last / PER_PAGE) - from + 1 }, (_, at) => from + at);
  const results = useQueries({
    queries: pages.map((page) => ({
      queryKey: [...queryKey, page],
      queryFn: () => load(page + 1, PER_PAGE),
      placeholderData: keepPreviousData,
      refetchInterval: refetchMs || (false as const),
    })),
  });
  return {
    error: results.find((each) => each.error)?.error,
    rowAt: (index: number) => results[Math.floor(index / PER_PAGE) - from]?.data?.items[index % PER_PAGE],
  };
}
