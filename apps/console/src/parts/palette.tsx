import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { type Found, foundBy, searched } from '../rules/found.ts';
import { client, useMay, wordsOf } from '../session.ts';

const REST_MS = 250;

/** Goes anywhere: to a screen by its name, and to whatever has a name, a number or an ID. */
export default function Palette({ isOpen, onOpenChange }: { isOpen: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-30 bg-ink opacity-30" />
        <Dialog.Popup className="fixed top-[12vh] left-1/2 z-40 w-[min(92vw,640px)] -translate-x-1/2 border border-rule bg-raised outline-none">
          <Dialog.Title className="sr-only">Search</Dialog.Title>
          <Search onDone={() => onOpenChange(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Search({ onDone }: { onDone: () => void }) {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  const { found, says } = useFound(text);
  const go = ({ path, search }: Found) => {
    if (path === undefined) return;
    navigate({ to: path, search: search ?? {} } as never);
    onDone();
  };
  return (
    <Autocomplete.Root
      open
      inline
      items={found}
      filter={null}
      value={text}
      onValueChange={setText}
      itemToStringValue={(each) => each.says}
      autoHighlight="always"
      keepHighlight
    >
      <Autocomplete.Input
        className="w-full border-0 border-b border-line px-4 py-3"
        placeholder="A name, a number, an ID, a screen"
        aria-label="Search"
        maxLength={128}
      />
      <Autocomplete.List aria-label="Found" className="max-h-[50vh] overflow-y-auto not-empty:py-1">
        {(each: Found) => (
          <Autocomplete.Item
            key={each.key}
            value={each}
            disabled={each.path === undefined}
            className="group flex cursor-pointer justify-between gap-4 px-4 py-1 data-disabled:cursor-default data-highlighted:bg-ink data-highlighted:text-paper"
            onClick={() => go(each)}
          >
            <span className="clip">{each.says}</span>
            <span className="shrink-0 text-dim group-data-highlighted:text-paper">{each.more}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
      <Autocomplete.Status className="px-4 text-dim not-empty:border-t not-empty:border-line not-empty:py-2">
        {says}
      </Autocomplete.Status>
    </Autocomplete.Root>
  );
}

/** A text as it is once there is a pause in it. */
function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}

/** What a text leads to, and what is said of the search. */
function useFound(text: string): { found: Found[]; says: string } {
  const may = useMay();
  const wanted = text.trim();
  const rested = useRested(wanted);
  const isRested = rested === wanted;
  const { data, error } = useQuery({
    queryKey: ['search', rested],
    enabled: rested !== '',
    meta: { mayBeBusy: true },
    queryFn: ({ signal }) => client.search.search({ query: rested }, { signal }),
  });
  const result = isRested ? data : undefined;
  const found = foundBy(text, result?.hits ?? [], may);
  const says = () => {
    if (wanted === '') return `Searched are ${searched(may)}: by a word of a name, a number or an ID.`;
    if (isRested && error) return wordsOf(error);
    if (!result) return 'Looking…';
    if (result.peopleIncomplete)
      return 'There are more people than were looked at, only those who came last. Type the whole number: it finds anybody.';
    return found.length === 0
      ? `Nothing is found. Searched are ${searched(may)}: by a word of a name, a number or an ID.`
      : '';
  };
  return { found, says: says() };
}
