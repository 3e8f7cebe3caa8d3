import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { checkEdition } from '../../foundation/values/edition.ts';
import { toId } from '../../foundation/values/ids.ts';
import { existing, refuse, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { mayForget } from './delete-list.ts';
import type { ContactListDeps } from './deps.ts';
import { checkRow, type ReadContact, wordOf } from './reading/check-row.ts';
import type { FileFormat } from './reading/file-format.ts';
import { type Header, readHeader } from './reading/header.ts';
import { duplicate } from './reading/read-contacts.ts';
import { changeRejected, lockRejected, type RejectedRow } from './rejected-rows.ts';
import { shapeError } from './shape-preview.ts';
import { appendColumns, lockList, MOST_LIST_COLUMNS } from './store.ts';
import { readOptionsOf, shownEdition, type UploadRow } from './upload.ts';
import { lockUpload, noteChangedRow } from './upload-store.ts';

type Cells = Record<string, string>;

const SHOWN_COLUMNS = 10;

/**
 * Gives a rejected row other cells, and judges it again: it is among the rows that are imported then, or is still rejected.
 * @param permissions the key's: to take back that a person is not to be called needs one of its own
 * @throws `not_found`; `forbidden`; `changed_meanwhile`; `invalid_request` for a column that there is not; `upload_not_validated`; `invalid_state` once the
 *   upload is confirmed, or the row is mended otherwise
 */
export async function mendRow(
  { database, clock, limits }: ContactListDeps,
  workspaceId: string,
  { listId, uploadId, row, ifMatch }: { listId: string; uploadId: string; row: number; ifMatch: string | undefined },
  cells: Cells,
  permissions: readonly string[],
  auditOf: AuditOf,
): Promise<RejectedRow> {
  const auditEntry = auditOf('upload.updated', 'upload', toId('upl', uploadId));
  return database.inWorkspace(workspaceId, async (tx) => {
    // In the order of a confirm, which counts the rows under the list's lock.
    const list = await existing(lockList(tx, listId));
    const upload = await existing(lockUpload(tx, listId, uploadId));
    checkEdition(shownEdition(upload), ifMatch);
    refuseUnlessValidated(upload);
    const kept = await existing(lockRejected(tx, uploadId, row));
    const header = readHeader(upload.header!, Number.MAX_SAFE_INTEGER, readOptionsOf(upload));
    const fields = withCells(kept, header, cells);
    if (fields.reduce((sum, field) => sum + field.length, 0) > limits.maxRowLength)
      refuse([{ path: '/body/cells', message: `would make the row longer than ${limits.maxRowLength} characters` }]);
    if (kept.mended_at) {
      if (isDeepStrictEqual(fields, kept.cells)) return kept;
      throw new ServiceError('invalid_state', `Row ${row} is mended already. Change its entry once it is imported.`);
    }
    if (wordOf(kept.cells, header).doNotCall && !wordOf(fields, header).doNotCall) mayForget(permissions);
    const country = list.default_country ?? undefined;
    const read = checkRow({ row, fields }, header, upload.format as FileFormat, country);
    const now = clock.now();
    const first = Array.isArray(read) ? undefined : await stage(tx, upload, header, read);
    if (!Array.isArray(read) && first === undefined) {
      await noteChangedRow(tx, uploadId, read, now, auditEntry);
      const mended = { cells: fields, errors: [], phone_number: read.phoneNumber, mended_at: now };
      return (await changeRejected(tx, kept, mended))!;
    }
    const faults = Array.isArray(read) ? read : [duplicate({ row, fields }, read, header, first!)];
    await noteChangedRow(tx, uploadId, undefined, now, auditEntry);
    return (await changeRejected(tx, kept, { cells: fields, errors: faults.map(shapeError) }))!;
  });
}

/** Throws `upload_not_validated` for an upload whose rows nobody has looked at yet. */
export function refuseUnchecked({ status }: UploadRow): void {
  if (status === 'pending' || status === 'uploaded' || status === 'validating')
    throw new ServiceError('upload_not_validated', 'The upload is not validated yet. Follow its events.');
}

function refuseUnlessValidated(upload: UploadRow): void {
  const { status } = upload;
  refuseUnchecked(upload);
  if (status === 'validated') return;
  const advice = 'Add the person as an entry of the list.';
  throw new ServiceError(
    'invalid_state',
    `The upload is ${status}, and its rows can be mended only before it is confirmed. ${advice}`,
  );
}

/**
 * A row with some cells anew. Of one that could not be parted into cells, only these: what it said of who may be called, and
 * when, must be said again. Throws `invalid_request`.
 */
function withCells({ cells, errors }: RejectedRow, header: Header, changed: Cells): string[] {
  const { columns } = header;
  const isWhole = (errors as { column: string }[]).some(({ column }) => column === '');
  const needed = isWhole ? [...header.doNotCall, ...header.consent.keys(), ...header.timezones] : [];
  const unsaid = needed.map((at) => columns[at]!).filter((name) => !Object.hasOwn(changed, name));
  const fields = isWhole ? [] : [...cells];
  while (fields.length < columns.length) fields.push('');
  const unknown = Object.keys(changed).filter((name) => {
    const named = columns.indexOf(name);
    const at = named === -1 ? Number(/^column_(\d{1,7})$/.exec(name)?.[1] ?? 0) - 1 : named;
    if (!(at in fields)) return true;
    fields[at] = changed[name]!.toWellFormed();
    return false;
  });
  const shown = columns.slice(0, SHOWN_COLUMNS).map((name) => `"${name}"`);
  if (shown.length < columns.length) shown.push(`${columns.length - shown.length} more`);
  const message = `is no column of the file. Found: ${shown.join(', ')}.`;
  const pointer = (name: string) => `/body/cells/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const say = 'is needed, since the row could not be parted into cells: what it held, or empty text.';
  refuse([
    ...unknown.map((name) => ({ path: pointer(name), message })),
    ...unsaid.map((name) => ({ path: pointer(name), message: say })),
  ]);
  return fields;
}

/**
 * Puts a mended row among those that are imported.
 * @returns the row that has its number already, if one does: what it says of the person's own word holds then too
 */
async function stage(
  tx: WorkspaceTx,
  { list_id, id }: UploadRow,
  { variables }: Header,
  { phoneNumber, row, name, timezone, values, doNotCall, consent }: ReadContact,
): Promise<number | undefined> {
  const names = variables.map((variable) => variable.name);
  const places = (await appendColumns(tx, list_id, names, MOST_LIST_COLUMNS)) as number[];
  const placed: (string | null)[] = [];
  for (const [at, place] of places.entries()) placed[place] = values[at]!;
  const { rows } = await sql<{ row_number: number }>`
    insert into contact_list_entries
      (workspace_id, upload_id, phone_number, row_number, name, timezone, "values", do_not_call, consent)
    values (${tx.workspaceId}, ${id}, ${phoneNumber}, ${row}, ${name ?? null}, ${timezone ?? null},
      ${Array.from(placed, (value) => value ?? null)}::text[], ${doNotCall ?? null},
      ${consent ? JSON.stringify(consent) : null}::jsonb)
    on conflict (workspace_id, upload_id, phone_number) do update
      set do_not_call = contact_list_entries.do_not_call or excluded.do_not_call,
        consent = case when excluded.consent -> 'given' = 'false' then '{"given": false}' else contact_list_entries.consent end
    returning row_number`.execute(tx.db);
  if (doNotCall)
    await sql`
      update contact_list_uploads set has_do_not_call = true
      where workspace_id = ${tx.workspaceId} and id = ${id}`.execute(tx.db);
  const first = rows[0]!.row_number;
  return first === row ? undefined : first;
}
