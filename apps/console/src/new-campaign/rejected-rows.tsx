import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { components } from '@trunkline/client';
import { type FormEvent, useRef, useState } from 'react';
import { Fault } from '../parts/heading.tsx';
import type { ContactList, Upload } from '../rules/files.ts';
import { cellsToMend } from '../rules/mapping.ts';
import { number, several } from '../rules/words.ts';
import { client, useMay } from '../session.ts';
import { listKey } from './data.tsx';
import { Wrong } from './step.tsx';

type Row = components['schemas']['ContactListRejectedRow'];

const AT_FIRST = 20;
const AT_MOST = 100;
const rowsKey = (upload: Upload) => ['rejected-rows', upload.id, upload.validatedAt];

/** The rows that are left out, each with why, and mended where it stands. */
export function RejectedRows({ list, upload }: { list: ContactList; upload: Upload }) {
  const may = useMay();
  const [shown, setShown] = useState(AT_FIRST);
  const head = useRef<HTMLHeadingElement>(null);
  const { invalidRows = 0, duplicateRows = 0 } = upload.metadata ?? {};
  const { data, error } = useQuery({
    queryKey: [...rowsKey(upload), shown],
    enabled: upload.metadata !== undefined && invalidRows > 0,
    placeholderData: keepPreviousData,
    queryFn: () => client.contactLists.listRejectedRows(list.id, upload.id, { perPage: shown }),
  });
  if (!upload.errorReportUrl) return null;
  const rows = invalidRows > 0 ? (data?.items ?? []) : [];
  const isMine = upload.status === 'validated' && may('contact_lists:write');
  return (
    <section aria-labelledby="left-out" className="mt-5">
      <h3 id="left-out" ref={head} tabIndex={-1} className="outline-none">
        Rows that are left out
      </h3>
      {invalidRows + duplicateRows === 0 ? (
        <p className="text-dim">None any more.</p>
      ) : (
        <p className="max-w-prose text-dim">
          {isMine && invalidRows > 0 && 'Mend them here, or leave them out. '}
          {duplicateRows > 0 &&
            `${several(duplicateRows, 'row repeats', 'rows repeat')} a number further up, where it is kept. `}
          <a href={upload.errorReportUrl} className="link" download>
            All of them, as your file had them
          </a>
          .
        </p>
      )}
      <Fault error={error} />
      <ol className="mt-1 border-t border-line">
        {rows.map((row) => (
          <li key={row.row} className="border-b border-line py-2">
            <Told row={row} />
            {isMine && <Mend list={list} upload={upload} row={row} onMended={() => head.current?.focus()} />}
          </li>
        ))}
      </ol>
      {rows.length < invalidRows && shown < AT_MOST && rows.length >= shown && (
        <button type="button" className="button mt-2" onClick={() => setShown(AT_MOST)}>
          Show more
        </button>
      )}
      {shown === AT_MOST && invalidRows > AT_MOST && (
        <p className="label mt-1">The first {AT_MOST}. The others come up as these are mended.</p>
      )}
    </section>
  );
}

const Told = ({ row: { row, cells, errors } }: { row: Row }) => (
  <p className="break-words">
    <strong>Row {number(row)}</strong> <span className="text-dim">{cells.filter(Boolean).join(' · ')}</span>
    <br />
    <span className="text-signal">{errors.map(({ reason }) => reason).join(' ')}</span>
  </p>
);

interface MendProps {
  list: ContactList;
  upload: Upload;
  row: Row;
  /** The row is gone from here then. */
  onMended: () => void;
}

/** The cells at fault, to be written anew. */
function Mend({ list, upload, row, onMended }: MendProps) {
  const cache = useQueryClient();
  const fields = cellsToMend(upload.columns ?? [], row, upload.format?.delimiter);
  const mend = useMutation({
    mutationFn: (cells: Record<string, string>) =>
      client.contactLists.mendRejectedRow(list.id, upload.id, String(row.row), { cells }),
    onSuccess: async ({ mendedAt }) => {
      await cache.invalidateQueries({ queryKey: rowsKey(upload) });
      await cache.invalidateQueries({ queryKey: listKey(list.id) });
      if (mendedAt) onMended();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const said = new FormData(event.currentTarget);
    mend.mutate(Object.fromEntries(fields.map(({ title }) => [title, String(said.get(title))])));
  };
  return (
    <form className="mt-1 flex flex-wrap items-end gap-2" onSubmit={submit}>
      {fields.map(({ title, value }) => (
        <label key={title}>
          <span className="label block">{title}</span>
          <input
            name={title}
            className="w-44"
            maxLength={1000}
            autoComplete="off"
            aria-label={`${title} of row ${row.row}`}
            defaultValue={value}
          />
        </label>
      ))}
      <button type="submit" className="button" disabled={mend.isPending} aria-label={`Mend row ${row.row}`}>
        Mend
      </button>
      <Wrong error={mend.error} />
    </form>
  );
}
