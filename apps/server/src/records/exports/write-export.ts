import { fromId, newUuid, toId } from '../../foundation/values/ids.ts';
import { callHeader, callRows } from './call-rows.ts';
import { campaignTable, listTable, type Table } from './contact-rows.ts';
import { csvLine } from './csv.ts';
import type { ExportDeps, ExportJob } from './deps.ts';
import { eraseFile, eraseUnfinished } from './erase-file.ts';
import { type ExportRow, type FailureCode, type Wanted, wantedOf } from './export.ts';
import { personTable } from './person-rows.ts';
import { beginExport, failExport, finishExport, holdSource, isWrittenTo } from './store.ts';

const KEPT_MS = 24 * 3600 * 1000;
/** After how many sets of rows the writer looks whether the file is still wanted, and from it. */
const LOOK_SETS = 20;

/** Why a file can't be written, now or later. */
class NotWritten extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode) {
    super(code);
    this.code = code;
  }
}

/**
 * Writes the file of an export, row by row. Safe to run again after a crash: it begins anew, under another key, so that a
 * process that wakes up late hurts nobody's file. What is not the file in the end is erased by a job of its own.
 */
export async function writeExport(deps: ExportDeps, job: ExportJob, signal: AbortSignal): Promise<void> {
  const { database, objects, clock } = deps;
  const { workspaceId, exportId: id } = job;
  const storageKey = `exports/${toId('exp', id)}-${newUuid()}.csv`;
  const begun = await database.inWorkspace(workspaceId, async (tx) => {
    const found = await beginExport(tx, id, storageKey);
    if (found?.left) await eraseUnfinished(deps, tx, found.left);
    return found?.begun;
  });
  if (!begun) return;
  const count = { rows: 0, bytes: 0 };
  let failure: FailureCode | undefined;
  try {
    await objects.put(storageKey, lines(deps, begun, count, signal), deps.mostBytes);
  } catch (error) {
    if (!(error instanceof NotWritten)) throw error;
    failure = error.code;
  }
  await database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    const times = { now, expiresAt: new Date(now.getTime() + KEPT_MS) };
    const code = failure ?? ((await holdSource(tx, wantedOf(begun))) ? undefined : 'source_deleted');
    if (code) await failExport(tx, id, code, storageKey);
    else if (await finishExport(tx, { id, storageKey, ...count }, times)) return;
    await eraseFile(deps, tx, storageKey);
  });
}

/** Ends an export that failed every time for a reason that isn't its own. */
export async function giveUpExport(deps: ExportDeps, { workspaceId, exportId }: ExportJob): Promise<void> {
  await deps.database.inWorkspace(workspaceId, async (tx) => {
    const left = await failExport(tx, exportId, 'could_not_be_written');
    if (left) await eraseUnfinished(deps, tx, left);
  });
}

/** What is to be written; nothing where it is gone. */
async function tableOf(deps: ExportDeps, row: ExportRow): Promise<Table | undefined> {
  const wanted: Wanted = wantedOf(row);
  const { workspace_id, created_at } = row;
  if (wanted.type === 'calls')
    return { header: callHeader, rows: callRows(deps, workspace_id, wanted.filter, created_at) };
  if (wanted.type === 'person') return personTable(deps.database, workspace_id, wanted.filter);
  const { contactListId, campaignId, batchId } = wanted.filter;
  if (contactListId) return listTable(deps.database, workspace_id, fromId(contactListId));
  const kind = campaignId ? 'campaign' : 'batch';
  return campaignTable(deps.database, workspace_id, fromId((campaignId ?? batchId)!), kind);
}

/** The bytes of the file, a set of rows at a time, and how many there were. */
async function* lines(
  deps: ExportDeps,
  row: ExportRow,
  count: { rows: number; bytes: number },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const table = await tableOf(deps, row);
  if (!table) throw new NotWritten('source_deleted');
  const bytesOf = (text: string) => {
    const bytes = Buffer.from(text);
    count.bytes += bytes.length;
    if (count.bytes > deps.mostBytes) throw new NotWritten('file_too_large');
    return bytes;
  };
  // Excel takes a file without it for one of the machine's own code page, and shows other letters.
  yield bytesOf(`\ufeff${csvLine(table.header)}`);
  const isWanted = () => deps.database.inWorkspace(row.workspace_id, (tx) => isWrittenTo(tx, row.id, row.storage_key!));
  let sets = 0;
  for await (const rows of table.rows) {
    signal.throwIfAborted();
    if (sets % LOOK_SETS === 0 && !(await isWanted())) throw new NotWritten('source_deleted');
    sets += 1;
    count.rows += rows.length;
    if (count.rows > deps.mostRows) throw new NotWritten('too_many_rows');
    if (rows.length > 0) yield bytesOf(rows.map(csvLine).join(''));
  }
}
