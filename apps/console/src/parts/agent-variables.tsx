import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { missingIn, type Spoken } from '../rules/variables.ts';
import { client, useMay } from '../session.ts';

/** Which variables it says, and whether the people of a list have them. */
export function AgentVariables({ spoken }: { spoken: Spoken }) {
  const may = useMay();
  const [listId, setListId] = useState('');
  const { data: lists } = useQuery({
    queryKey: ['lists-to-check'],
    enabled: may('contact_lists:read'),
    queryFn: () => client.contactLists.list({ perPage: 50 }),
  });
  const { data: columns } = useQuery({
    queryKey: ['columns-of', listId],
    enabled: listId !== '',
    queryFn: async () => {
      const { items } = await client.contactLists.listEntries(listId, { perPage: 1 });
      return Object.keys(items[0]?.variables ?? {});
    },
  });
  const { names, loose } = spoken;
  const missing = columns && missingIn(spoken, columns);
  return (
    <div>
      <p>
        {names.length > 0 ? `It says ${names.join(', ')}.` : 'It says nothing of whom it talks to: no {{variable}}.'}
        {loose && (
          <strong className="text-signal">
            {' '}
            {loose} … is no variable: write {'{{key}}'}, without blanks in it.
          </strong>
        )}
      </p>
      {names.length > 0 && lists && lists.items.length > 0 && (
        <label className="mt-1 flex flex-wrap items-center gap-2">
          <span className="label">Do the people of this list have them?</span>
          <select value={listId} onChange={(event) => setListId(event.target.value)} className="max-w-64">
            <option value="">choose a list</option>
            {lists.items.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
          <span role="status" className={missing?.length ? 'text-signal' : ''}>
            {missing && (missing.length > 0 ? `It has no column ${missing.join(', ')}.` : 'Yes, it has each of them.')}
          </span>
        </label>
      )}
    </div>
  );
}
