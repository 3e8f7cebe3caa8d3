import { writeFile } from 'node:fs/promises';
import { ContactFileError, type ContactListUpload } from '@trunkline/client';
import type { components } from '@trunkline/client/schema';
import { askYes } from '../ask.ts';
import { connect, loginOf } from '../connect.ts';
import { Fault, usageFault } from '../faults.ts';
import { type Flags, given } from '../flags.ts';
import type { Context } from '../group.ts';
import { type Io, isInteractive } from '../io.ts';
import { bar, type Screen } from '../screen.ts';
import { count, plain, several } from '../text.ts';
import { fileOf } from './knowledge-bases.ts';
import { type FailedRow, failedRows } from './rejected-rows.ts';

type Schemas = components['schemas'];

const SHOWN_ROWS = 10;

/** How the file is to be read. */
export const READ_AS: Flags<Schemas['CreateContactList']> = {
  phoneColumns: ['list', 'the columns of phone numbers, the best first'],
  nameColumns: ['list', 'the columns of which names are made'],
  timezoneColumns: ['list', 'the columns of time zones'],
  doNotCallColumns: ['list', 'the columns that say who is not to be called'],
  encoding: ['text', 'what the text is in, such as windows-1250'],
  sheet: ['text', 'the sheet of a workbook (the first)'],
};

/**
 * Uploads a file, shows how it was read and what fails, asks, and imports. What isn't imported leaves no list behind.
 * Answers how many rows of what was imported failed.
 */
export async function uploadList(context: Context, file = ''): Promise<{ invalidRows: number }> {
  const { io, options, screen } = context;
  if (!options['yes'] && !isInteractive(io)) throw usageFault('Nobody can be asked here.', 'Add --yes.');
  let uploadId: string | undefined;
  const onProgress = progressOf(screen, 'Checking');
  try {
    const { list, upload } = await send(context, file, (told) => {
      uploadId = told.id;
      onProgress(told);
    });
    await showMapping(context, list.id, upload.id);
    await showFailedRows(context, upload, file);
    const { validRows, totalRows, invalidRows, doNotCallRows = 0 } = upload.metadata;
    const isDnd = list.type === 'dnd';
    screen.say(`\n${count(validRows)} of ${several(totalRows, 'row')} can be ${isDnd ? 'read' : 'called'}.`);
    if (doNotCallRows > 0 && !isDnd)
      screen.say(`${several(doNotCallRows, 'row')} of the file: “do not call”. Nobody calls these people.`);
    const message = `Import ${several(validRows, isDnd ? 'number' : 'contact')} as “${plain(list.name)}”?`;
    await askYes(io, { yes: options['yes'], message, otherwise: 'Nothing was imported.' });
    await finish(context, list.id);
    return { invalidRows };
  } catch (error) {
    screen.clear();
    if (uploadId) await removeDraft(io, uploadId).catch(() => undefined);
    throw error;
  }
}

/** Sends the file, and waits until each row was looked at. */
async function send(context: Context, file: string, onProgress: (upload: ContactListUpload) => void) {
  const { client, io, options, screen } = context;
  const { name: fileName, content } = await fileOf(file);
  const { name = fileName.replace(/\.[^.]+$/, ''), country, dnd } = options as Record<string, string | undefined>;
  try {
    return await client.contactLists.upload({
      name,
      fileName,
      file: content,
      type: dnd ? 'dnd' : 'contacts',
      ...(country && { defaultCountry: country.toUpperCase() }),
      ...given(options, READ_AS),
      signal: io.signal,
      onProgress,
    });
  } catch (error) {
    if (!(error instanceof ContactFileError)) throw error;
    screen.clear();
    const failed = await showFailedRows(context, error.upload, file);
    throw new Fault(`${fileName} can't be imported. ${error.message}`, { next: advice(failed, country, file) });
  }
}

async function finish({ client, io, screen }: Context, id: string): Promise<void> {
  const onProgress = progressOf(screen, 'Importing');
  const imported = await client.contactLists.confirm(id, { onProgress, signal: io.signal });
  if (screen.json) return screen.record(imported);
  if (imported.type === 'dnd')
    return screen.say(`${several(imported.totalEntries, 'number')} in ${id}: nobody calls them.`);
  screen.say(`${several(imported.totalEntries, 'contact')} in ${id}.`);
  screen.say(`Next: trunkline campaigns create --list ${id}`);
}

/** What to do about a file of which nothing can be called. */
function advice(failed: readonly FailedRow[], country: string | undefined, file: string): string | undefined {
  if (country || !failed.some(({ code }) => code === 'default_country_needed')) return undefined;
  return `Say which country its numbers are of: trunkline lists upload ${file} --country US`;
}

const progressOf = (screen: Screen, what: string) => {
  return ({ status, progress }: ContactListUpload) => {
    const { bytesRead = 0, bytesTotal = 0, rowsRead = 0 } = progress ?? {};
    if (status === 'validating' || status === 'processing')
      screen.progress(`${what}  ${bar(bytesRead, bytesTotal)}  ${several(rowsRead, 'row')}`);
    else screen.progress(`${what} …`);
  };
};

/** Deletes the draft that an upload has made, by a client that Ctrl-C doesn't end. What is being imported stays. */
async function removeDraft(io: Io, uploadId: string): Promise<void> {
  const { contactLists } = connect(await loginOf(io.env));
  const { items } = await contactLists.list();
  const draft = items.find(({ status, uploadDetails }) => status === 'draft' && uploadDetails?.id === uploadId);
  if (draft && draft.uploadDetails?.status !== 'processing') await contactLists.delete(draft.id);
}

/** Which column is taken for what, and how the first person is read. */
async function showMapping({ client, screen }: Context, listId: string, uploadId: string): Promise<void> {
  screen.clear();
  if (screen.json) return;
  const { columns, rows } = await client.contactLists.previewUpload(listId, uploadId);
  const [first] = rows.filter(({ contact }) => contact);
  const called = columns.findIndex(({ use }, at) => use === 'phone' && first?.cells[at]?.trim());
  const mapped = columns.map(({ name, use }, at) => ({
    name,
    use: use === 'variable' ? `{{${name}}}` : use,
    cell: first?.cells[at],
    read: at === called ? first?.contact?.phoneNumber : use === 'timezone' ? first?.contact?.timezone : undefined,
  }));
  screen.section('How the file is read', mapped, [
    ['column', 'name'],
    ['is', 'use'],
    ['first row', 'cell'],
    ['read as', 'read'],
  ]);
}

/** Shows the first rows that fail, and writes all of them where `--errors` says. */
async function showFailedRows(
  { options, screen }: Context,
  { errorReportUrl }: ContactListUpload,
  file: string,
): Promise<FailedRow[]> {
  if (!errorReportUrl) return [];
  const answer = await fetch(errorReportUrl);
  if (!answer.ok) throw new Fault(`The rows that fail can't be read: the server answered ${answer.status}.`);
  const text = await answer.text();
  const rows = failedRows(text);
  if (typeof options['errors'] === 'string') await writeFile(options['errors'], text);
  if (rows.length === 0) return rows;
  const header = `${several(new Set(rows.map(({ row }) => row)).size, 'row')} can't be called`;
  screen.section(header, rows.slice(0, SHOWN_ROWS), [
    ['row', 'row'],
    ['value', ({ value }) => value || '(empty)'],
    ['why', 'reason'],
  ]);
  const more = rows.length - SHOWN_ROWS;
  if (more > 0 && !options['errors']) screen.say(`… and ${count(more)} more: upload ${file} --errors FILE writes all.`);
  return rows;
}
