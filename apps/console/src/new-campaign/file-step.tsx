import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type DragEvent, useState } from 'react';
import { allCountries, countryName, countryOf } from '../rules/countries.ts';
import { type ContactList, listNameOf, sizeSays, type Upload } from '../rules/files.ts';
import { number, several } from '../rules/words.ts';
import { sendFile, useSending } from '../send-file.ts';
import { client, useMay, wordsOf } from '../session.ts';
import { listKey } from './data.tsx';
import { Bar, Wrong } from './step.tsx';

/** The first step: a spreadsheet is dropped, or a list taken that is there already. */
export function FileStep({ list, visit }: { list: ContactList | undefined; visit: string }) {
  const may = useMay();
  const upload = list?.uploadDetails;
  if (!list)
    return (
      <>
        {may('contact_lists:write') && <NewFile visit={visit} />}
        <ListsThere />
      </>
    );
  return upload && upload.status !== 'expired' ? (
    <Sent list={list} upload={upload} visit={visit} />
  ) : (
    <>
      {upload && <p>The file of “{list.name}” was not confirmed in time, and is gone. Choose it again.</p>}
      <SendAgain list={list} visit={visit} />
    </>
  );
}

/** A file makes a list; the same file on the same visit makes no second one, however often it is dropped. */
function NewFile({ visit }: { visit: string }) {
  const [country, setCountry] = useState(() => countryOf(navigator.language));
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: async (file: File) => {
      const list = { name: listNameOf(file.name), fileName: file.name, ...(country && { defaultCountry: country }) };
      const idempotencyKey = `console ${visit} ${file.lastModified} ${file.size} ${country}`;
      const created = await client.contactLists.create(list, { idempotencyKey });
      sendFile(created.uploadDetails.id, created, file);
      await navigate({
        to: '/campaigns/new/$contactListId',
        params: { contactListId: created.id },
        search: {},
      });
    },
  });
  return (
    <>
      <label className="flex flex-wrap items-center gap-2">
        Numbers without + are of
        <select value={country} onChange={(event) => setCountry(event.target.value)}>
          <option value="">no country: all have their +</option>
          {allCountries().map(({ code, name }) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Drop isBusy={create.isPending} onFile={(file) => create.mutate(file)} />
      <Wrong error={create.error} />
    </>
  );
}

/** The list is there, and its file not: it was left while the file came, or came too late. */
function SendAgain({ list, visit }: { list: ContactList; visit: string }) {
  const cache = useQueryClient();
  const create = useMutation({
    mutationFn: async (file: File) => {
      const idempotencyKey = `console ${visit} ${file.lastModified} ${file.size} after ${list.uploadDetails?.id}`;
      const { uploadUrl, uploadHeaders, ...upload } = await client.contactLists.createUpload(
        list.id,
        { fileName: file.name },
        { idempotencyKey },
      );
      sendFile(upload.id, { uploadUrl, uploadHeaders }, file);
      cache.setQueryData(listKey(list.id), { ...list, uploadDetails: upload });
    },
  });
  return (
    <>
      <Drop isBusy={create.isPending} onFile={(file) => create.mutate(file)} />
      <Wrong error={create.error} />
    </>
  );
}

/** Takes a file that is dropped, or chosen by pointer or keys. */
function Drop({ isBusy, onFile }: { isBusy: boolean; onFile: (file: File) => void }) {
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null) => {
    const file = files?.[0];
    if (file && !isBusy) onFile(file);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files);
  };
  return (
    <label
      className={`mt-3 block max-w-2xl cursor-pointer border border-dashed px-4 py-8 focus-within:border-signal ${isOver ? 'border-signal bg-night' : 'border-rule bg-raised'}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <span className="text-head">Drop a spreadsheet here, or choose one</span>
      <span className="label mt-1 mb-3 block">
        Excel (.xlsx) or CSV, as your program saves it. One person a row, the first row names the columns. Nobody is
        called by this.
      </span>
      <input
        type="file"
        className="max-w-full cursor-pointer border-0 bg-transparent p-0 file:me-3 file:min-h-7 file:cursor-pointer file:border file:border-solid file:border-rule file:bg-transparent file:px-2.5 file:text-ink hover:file:bg-ink hover:file:text-paper"
        disabled={isBusy}
        onChange={(event) => {
          take(event.target.files);
          event.target.value = '';
        }}
      />
    </label>
  );
}

/** The file on its way, or as it has come. */
function Sent({ list, upload, visit }: { list: ContactList; upload: Upload; visit: string }) {
  const sending = useSending(upload.id);
  if (upload.status !== 'pending')
    return (
      <>
        <p>
          {upload.fileName}
          {upload.metadata && `, ${several(upload.metadata.totalRows, 'row')}`}.{' '}
          {list.defaultCountry
            ? `Numbers without + are of ${countryName(list.defaultCountry)}.`
            : 'Only numbers with + are read.'}
        </p>
        <BeginAnew list={list} />
      </>
    );
  if (sending?.fault)
    return (
      <>
        <Wrong error={sending.fault} />
        <p className="mt-2">Choose the file again.</p>
        <SendAgain list={list} visit={visit} />
      </>
    );
  if (!sending)
    return (
      <>
        <p>The file of “{list.name}” has not come. If no other window is sending it, choose it again.</p>
        <SendAgain list={list} visit={visit} />
      </>
    );
  const { sentBytes, totalBytes } = sending;
  return (
    <Bar value={sentBytes} max={totalBytes} says={`${upload.fileName} is being sent`}>
      {sizeSays(sentBytes)} of {sizeSays(totalBytes)}
    </Bar>
  );
}

/** The way to another file, or another country: the list that nobody has confirmed goes. */
export function BeginAnew({ list }: { list: ContactList }) {
  const navigate = useNavigate();
  const may = useMay();
  const leave = useMutation({
    mutationFn: async () => {
      if (list.status === 'draft') await client.contactLists.delete(list.id);
      await navigate({ to: '/campaigns/new' });
    },
  });
  if (!may('contact_lists:write')) return null;
  return (
    <p className="mt-3">
      <button type="button" className="button" disabled={leave.isPending} onClick={() => leave.mutate()}>
        Begin anew with another file or country
      </button>
      {leave.error && <span className="ms-3 text-signal">{wordsOf(leave.error)}</span>}
    </p>
  );
}

/** Lists that are ready can be called as they are. */
function ListsThere() {
  const { data } = useQuery({
    queryKey: ['lists-there'],
    queryFn: () => client.contactLists.list({ perPage: 50 }),
  });
  const ready = (data?.items ?? []).filter(({ status, type }) => status === 'ready' && type === 'contacts').slice(0, 8);
  if (ready.length === 0) return null;
  return (
    <section aria-labelledby="lists-there" className="mt-6 max-w-2xl">
      <h3 id="lists-there">Lists that are there can be called as they are</h3>
      <ul className="mt-1 border-t border-line">
        {ready.map(({ id, name, totalEntries }) => (
          <li key={id}>
            <Link
              to="/campaigns/new/$contactListId"
              params={{ contactListId: id }}
              search={{}}
              className="cells grid-cols-[minmax(0,1fr)_auto] border-b border-line py-1 hover:bg-raised"
            >
              <span className="link clip">{name}</span>
              <span className="text-dim">{number(totalEntries)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
