import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import { PLACES, placeOfText } from '../rules/places.ts';
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
  const [chosen, setChosen] = useState(0);
  const navigate = useNavigate();
  const found = useFound(text);
  const at = Math.min(chosen, found.length - 1);
  const go = (to: Found | undefined) => {
    if (!to) return;
    navigate({ to: to.path, search: to.search ?? {} } as never);
    onDone();
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') go(found[at]);
    else if (step && found.length) setChosen((at + step + found.length) % found.length);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        className="w-full border-0 border-b border-line px-4 py-3"
        placeholder="A screen, a campaign’s name, a number, an ID"
        aria-label="Go to"
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found[at] && `found-${at}`}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={press}
        // biome-ignore lint/a11y/noAutofocus: it is what the dialog was opened for.
        autoFocus
      />
      <div id="found" role="listbox" aria-label="Found" className="max-h-[50vh] overflow-y-auto py-1">
        {found.map((each, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: its keys are the input's.
          <div
            key={each.path + each.says}
            id={`found-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className={`flex cursor-pointer justify-between gap-4 px-4 py-1 ${index === at ? 'bg-ink text-paper' : ''}`}
            onClick={() => go(each)}
            onPointerMove={() => setChosen(index)}
          >
            <span className="clip">{each.says}</span>
            <span className={index === at ? '' : 'text-dim'}>{each.more}</span>
          </div>
        ))}
        {found.length === 0 && <div className="px-4 py-1 text-dim">Nothing has this name.</div>}
      </div>
    </>
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
  const place = placeOfText(text);
  const screens = PLACES.filter(({ permission, name }) => may(permission) && name.toLowerCase().includes(wanted));
  return [
    ...(place ? [{ ...place, says: `${place.says} ${text.trim()}` }] : []),
    ...screens.map(({ path, name }) => ({ path, says: name })),
    ...(data?.items ?? [])
      .filter(({ name }) => name.toLowerCase().includes(wanted))
      .map(({ id, name, status }) => ({ path: `/campaigns/${id}`, says: name, more: plain(status) })),
  ];
}
