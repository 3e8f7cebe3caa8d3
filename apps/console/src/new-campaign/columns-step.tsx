import { useMutation } from '@tanstack/react-query';
import type { components } from '@trunkline/client';
import { type FormEvent, useState } from 'react';
import { Fault } from '../parts/heading.tsx';
import {
  type ContactList,
  encodings,
  failureSays,
  formatSays,
  isMoving,
  rowsSay,
  type Upload,
} from '../rules/files.ts';
import { type Mapped, type Mapping, mapped, phonesOf } from '../rules/mapping.ts';
import { number, several } from '../rules/words.ts';
import { client } from '../session.ts';
import { useListChanged, usePreview, useTellUpload } from './data.tsx';
import { BeginAnew } from './file-step.tsx';
import { MappingTable } from './mapping-table.tsx';
import { RejectedRows } from './rejected-rows.tsx';
import { Scrolled } from './scrolled.tsx';
import { Bar, GoOn, Wrong } from './step.tsx';

type Schemas = components['schemas'];
type Preview = Schemas['ContactListUploadPreview'];

/** The second step: how the file was read, which is changed here, what can't be imported, and the import. */
export function ColumnsStep({ list, upload }: { list: ContactList; upload: Upload }) {
  const { data: preview, error, dataUpdatedAt } = usePreview(list.id, upload);
  return (
    <>
      <Reading upload={upload} />
      <Fault error={error} />
      {preview && <Read key={dataUpdatedAt} list={list} upload={upload} preview={preview} />}
      {upload.status === 'failed' && <BeginAnew list={list} />}
      {upload.status === 'processed' && (
        <GoOn from="columns" listId={list.id}>
          Look at the people
        </GoOn>
      )}
    </>
  );
}

interface ReadProps {
  list: ContactList;
  upload: Upload;
  preview: Preview;
}

/** What was read. What is to be read otherwise is gathered, so that the file is read anew once and not for each change. */
function Read({ list, upload, preview }: ReadProps) {
  const phones = phonesOf(preview.columns, preview.format?.phoneColumn);
  const asRead: Mapped = { columns: preview.columns, phones, said: {} };
  const [wanted, setWanted] = useState(asRead);
  const tell = useTellUpload(list.id);
  const change = useMutation({
    mutationFn: () => client.contactLists.updateUpload(list.id, upload.id, wanted.said),
    onSuccess: tell,
  });
  const isDone = upload.status === 'processing' || upload.status === 'processed';
  const isFixed = isDone || isMoving(upload) || change.isPending;
  const isChanged = Object.keys(wanted.said).length > 0;
  const say = (more: Mapping) => setWanted({ ...wanted, said: { ...wanted.said, ...more } });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <div className={isMoving(upload) ? 'opacity-60' : ''}>
      <form onSubmit={submit}>
        <ReadAs preview={preview} said={wanted.said} isFixed={isFixed} onSay={say} />
        <MappingTable
          rows={preview.rows}
          wanted={wanted}
          isFixed={isFixed}
          onChoose={(at, choice) => setWanted(mapped(wanted, at, choice))}
        />
        {isChanged && (
          <div className="mt-3 flex flex-wrap gap-2">
            <button type="submit" className="button button-signal" disabled={isFixed}>
              Read the file so
            </button>
            <button type="button" className="button" disabled={isFixed} onClick={() => setWanted(asRead)}>
              Leave it as it was
            </button>
          </div>
        )}
        <Wrong error={change.error} />
      </form>
      <FirstRows upload={upload} preview={preview} />
      <RejectedRows list={list} upload={upload} />
      {upload.status === 'validated' && !isChanged && (
        <>
          <Import list={list} upload={upload} />
          <BeginAnew list={list} />
        </>
      )}
    </div>
  );
}

/** How far the server is with the file, and what it has come to. */
function Reading({ upload }: { upload: Upload }) {
  const { status, progress, metadata, failure } = upload;
  if (status === 'processing') return <p role="status">The people are being imported …</p>;
  if (isMoving(upload))
    return (
      <Bar value={progress?.bytesRead ?? 0} max={progress?.bytesTotal ?? 0} says={`${upload.fileName} is being read`}>
        {progress && several(progress.rowsRead, 'row')}
      </Bar>
    );
  if (failure) {
    const [why, todo] = failureSays(failure);
    return (
      <div role="status" className="max-w-prose">
        <p className="text-head text-signal">Nothing of this file can be imported yet.</p>
        <p>{why}</p>
        <p>{todo}</p>
      </div>
    );
  }
  if (!metadata) return null;
  return (
    <div role="status" className="max-w-prose">
      <p className="text-head">{rowsSay(metadata)}</p>
      {metadata.doNotCallRows && (
        <p>{several(metadata.doNotCallRows, 'row says', 'rows say')} that the person is not to be called.</p>
      )}
      {status === 'processed' && <p>{several(metadata.importedRows ?? 0, 'person', 'people')} imported.</p>}
    </div>
  );
}

interface ReadAsProps {
  preview: Preview;
  said: Mapping;
  isFixed: boolean;
  onSay: (said: Mapping) => void;
}

/** How the text is written, or which sheet is read. */
function ReadAs({ preview: { format, failure }, said, isFixed, onSay }: ReadAsProps) {
  if (format?.sheet !== undefined || failure?.code === 'no_such_sheet')
    return (
      <label className="mt-3 flex flex-wrap items-center gap-2">
        The sheet that is read
        <input
          required
          maxLength={64}
          disabled={isFixed}
          value={said.sheet ?? format?.sheet ?? ''}
          onChange={(event) => onSay({ sheet: event.target.value })}
        />
      </label>
    );
  if (!format && failure?.code !== 'unclear_encoding') return null;
  return (
    <div className="mt-3 flex flex-wrap items-baseline gap-x-3 gap-y-1">
      <label className="flex min-w-0 flex-wrap items-baseline gap-2">
        The text is
        <select
          className="max-w-full"
          disabled={isFixed}
          value={said.encoding ?? format?.encoding ?? ''}
          onChange={(event) => onSay({ encoding: event.target.value as 'utf-8' })}
        >
          {!format && <option value="">not known yet</option>}
          {encodings.map(([name, says]) => (
            <option key={name} value={name}>
              {says}
            </option>
          ))}
        </select>
      </label>
      {format && <span className="text-dim">{formatSays(format)}</span>}
    </div>
  );
}

/** The first rows as they would be imported, and why not; without those that stand below to be mended. */
function FirstRows({ upload, preview: { rows: all, columns } }: Omit<ReadProps, 'list'>) {
  const isBelow = ({ errors = [] }: Preview['rows'][number]) =>
    upload.status !== 'failed' && errors.some(({ code }) => code !== 'duplicate');
  const rows = all.filter((row) => !isBelow(row));
  if (rows.length === 0) return null;
  const shown = columns.filter(({ use }) => use === 'variable').map(({ name }) => name);
  return (
    <div className="mt-5">
      <h3>The first rows, as they are read</h3>
      <Scrolled name="The first rows, as they are read">
        <thead className="label">
          <tr>
            <th scope="col">Row</th>
            <th scope="col">Number</th>
            <th scope="col">Name</th>
            <th scope="col">Told to the agent</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ row, contact, errors, cells }) => (
            <tr key={row} className="align-baseline">
              <td className="text-dim">{number(row)}</td>
              {contact ? (
                <>
                  <td className="whitespace-nowrap">{contact.phoneNumber}</td>
                  <td>{contact.name ?? <span className="text-dim">–</span>}</td>
                  <td className="text-dim">
                    {contact.doNotCall && <strong className="text-ink">not to be called </strong>}
                    {shown
                      .filter((name) => contact.variables[name])
                      .map((name) => `${name}: ${contact.variables[name]}`)
                      .join(' · ')}
                  </td>
                </>
              ) : (
                <td colSpan={3}>
                  <span className="text-dim">{cells.join(' · ')}</span>
                  <br />
                  <span className="text-signal">{errors?.map(({ reason }) => reason).join(' ')}</span>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </Scrolled>
    </div>
  );
}

/** Takes over those who can be called. Nothing is imported twice. */
function Import({ list, upload }: { list: ContactList; upload: Upload }) {
  const listChanged = useListChanged();
  const { validRows = 0, invalidRows = 0, duplicateRows = 0 } = upload.metadata ?? {};
  const confirm = useMutation({
    mutationFn: () => client.contactLists.confirmUpload(list.id, upload.id),
    onSuccess: listChanged,
  });
  const left = invalidRows + duplicateRows;
  return (
    <>
      <p className="mt-4">
        <button
          type="button"
          className="button button-signal"
          disabled={confirm.isPending}
          onClick={() => confirm.mutate()}
        >
          Import {several(validRows, 'person', 'people')}
          {left > 0 && `, leave ${several(left, 'row')} out`}
        </button>
      </p>
      <Wrong error={confirm.error} />
    </>
  );
}
