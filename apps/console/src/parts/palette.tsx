import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { PLACES, placesOfText } from '../rules/places.ts';
import { plain } from '../rules/words.ts';
import { client, useMay } from '../session.ts';

interface Found {
  path: string;
  search?: Record<string, string>;
  says: string;
  more?: string;
}

/** Goes anywhere: a screen by its name, a campaign by its name, a number, an ID. */
export default function Palette({ isOpen, onOpenChange }: { isOpen: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-30 bg-ink opacity-30" />
        <Dialog.Popup className="fixed top-[12vh] left-1/2 z-40 w-[min(92vw,560px)] -translate-x-1/2 border border-rule bg-raised outline-none">
          <Dialog.Title className="sr-only">Go to</Dialog.Title>
          <Search onDone={() => onOpenChange(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Search({ onDone }: { onDone: () => void }) {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  const found = useFound(text);
  const go = ({ path, search }: Found) => {
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
        placeholder="A screen, a campaign’s name, a number, an ID"
        aria-label="Go to"
      />
      <Autocomplete.Empty className="px-4 text-dim not-empty:py-2">Nothing has this name.</Autocomplete.Empty>
      <Autocomplete.List aria-label="Found" className="max-h-[50vh] overflow-y-auto not-empty:py-1">
        {(each: Found) => (
          <Autocomplete.Item
            key={each.path + each.says}
            value={each}
            className="group flex cursor-pointer justify-between gap-4 px-4 py-1 data-highlighted:bg-ink data-highlighted:text-paper"
            onClick={() => go(each)}
          >
            <span className="clip">{each.says}</span>
            <span className="text-dim group-data-highlighted:text-paper">{each.more}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  );
}

function useFound(text: string): Found[] {
  const may = useMay();
  const wanted = text.trim().toLowerCase();
  const { data } = useQuery({
    queryKey: ['palette', wanted],
    enabled: may('campaigns:read'),
    placeholderData: (before) => before,
    queryFn: () => client.campaigns.list({ searchText: wanted, perPage: 8 }),
  });
  const places = placesOfText(text).filter(({ permission }) => may(permission));
  const screens = PLACES.filter(({ permission, name }) => may(permission) && name.toLowerCase().includes(wanted));
  return [
    ...places.map((place) => ({ ...place, says: `${place.says} ${text.trim()}` })),
    ...screens.map(({ path, name }) => ({ path, says: name })),
    ...(data?.items ?? [])
      .filter(({ name }) => name.toLowerCase().includes(wanted))
      .map(({ id, name, status }) => ({ path: `/campaigns/${id}`, says: name, more: plain(status) })),
  ];
}
