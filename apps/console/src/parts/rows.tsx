import { ScrollArea } from '@base-ui/react/scroll-area';
import type { ReactNode } from 'react';

export type Cells = [head: string, value: ReactNode][];

interface RowsProps {
  name: string;
  /** At least one. `acts` is what can be done with it. */
  rows: { id: string; cells: Cells; acts?: ReactNode }[];
}

/** A table of what was read, as wide as it needs. What scrolls can be reached by keys. */
export const Rows = ({ name, rows }: RowsProps) => {
  const hasActs = rows.some(({ acts }) => acts);
  return (
    <ScrollArea.Root className="border-t border-line">
      <ScrollArea.Viewport render={<section aria-label={name} />} style={{ overflow: 'auto' }}>
        <table className="w-full border-collapse [&_td]:border-b [&_td]:border-line [&_td]:px-4 [&_td]:py-1.5 [&_th]:border-b [&_th]:border-rule [&_th]:px-4 [&_th]:py-1">
          <thead className="label">
            <tr>
              {rows[0]!.cells.map(([head]) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
              {hasActs && (
                <th scope="col" className="relative">
                  <span className="sr-only">What can be done</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, cells, acts }) => (
              <tr key={id} className="hover:bg-raised">
                {cells.map(([head, value]) => (
                  <td key={head} className="max-w-96 break-words">
                    {value}
                  </td>
                ))}
                {hasActs && <td className="text-end whitespace-nowrap">{acts}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollArea.Viewport>
    </ScrollArea.Root>
  );
};
