import { ScrollArea } from '@base-ui/react/scroll-area';
import type { ReactNode } from 'react';

/** A dense table, which scrolls to the side where there is no room, by keys too. */
export const Scrolled = ({ name, children }: { name: string; children: ReactNode }) => (
  <ScrollArea.Root className="mt-1 border-t border-rule">
    <ScrollArea.Viewport render={<section aria-label={name} />} style={{ overflow: 'auto' }}>
      <table className="w-full border-collapse [&_td]:border-b [&_td]:border-line [&_td]:py-1 [&_td]:pe-4 [&_th]:border-b [&_th]:border-line [&_th]:py-1 [&_th]:pe-4">
        {children}
      </table>
    </ScrollArea.Viewport>
  </ScrollArea.Root>
);
