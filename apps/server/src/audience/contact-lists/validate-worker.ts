import { parentPort, workerData } from 'node:worker_threads';
import { lowerThisThread } from '../../foundation/values/low-priority.ts';
import { type CopyRows, copyRows } from './copy-rows.ts';
import { fileFrom } from './file-from.ts';
import { keepFirst } from './kept-rows.ts';
import { errorReportLines } from './reading/error-report.ts';
import { FileFault, shapeFault } from './reading/file-fault.ts';
import { type ContactBatch, readContacts } from './reading/read-contacts.ts';
import { openStaging, type Staging } from './staging.ts';
import { ask, type ValidationResult, type ValidationWork } from './validation-channel.ts';

const port = parentPort!;
const { connection, workspaceId, uploadId, options } = workerData as ValidationWork;

/** The most rows that are named: those that fail, and those that say that nobody is to call. */
const MOST_NAMED_ROWS = 1000;
const PROGRESS_MS = 500;

async function validate(staging: Staging, result: ValidationResult): Promise<void> {
  let rowsOf: CopyRows | undefined;
  let told = performance.now();
  const keep = keepFirst();
  const also = { forbidden: [] as number[], refused: [] as number[] };
  const stage = async (batch: ContactBatch) => {
    if (!rowsOf) {
      const positions = await ask(port, 'columns', { names: batch.variables });
      if (positions === 'too_many') {
        throw new FileFault(
          'too_many_columns',
          'With these columns the list would have more than 1,024. Use a new list.',
        );
      }
      rowsOf = copyRows(workspaceId, uploadId, positions);
    }
    if (batch.contacts.length > 0) await staging.write(rowsOf(batch.contacts), batch.contacts.length);
  };
  for await (const batch of readContacts(fileFrom(port), options)) {
    result.format = batch.format;
    result.columns = batch.columns;
    result.totalRows += batch.rows;
    result.validRows += batch.contacts.length;
    result.titles = batch.titles;
    result.invalidRows += batch.rejected.length;
    result.duplicateRows += batch.duplicateRows;
    const invalid = batch.rejected.slice(0, MOST_NAMED_ROWS - result.errorRows.length);
    result.errorRows.push(...invalid.map(({ row }) => row.row));
    const { doNotCall, consents, alsoForbidden, alsoRefused } = batch.words;
    result.doNotCallRows += doNotCall.length;
    result.doNotCallRowNumbers.push(...doNotCall.slice(0, MOST_NAMED_ROWS - result.doNotCallRowNumbers.length));
    result.consentRows += consents;
    also.forbidden.push(...alsoForbidden);
    also.refused.push(...alsoRefused);
    await stage(batch);
    if (batch.faults.length > 0)
      await ask(port, 'report', { text: errorReportLines(batch.faults), kept: keep(batch.rejected) });
    if (performance.now() - told < PROGRESS_MS) continue;
    told = performance.now();
    await ask(port, 'progress', { rows: result.totalRows, bytes: batch.bytesRead });
  }
  await staging.flush();
  await staging.forbid(also);
}

async function main(): Promise<void> {
  const staging = await openStaging(connection, { workspaceId, uploadId }, () => ask(port, 'begin', {}));
  if (staging) {
    await ask(port, 'cleared', {});
    const result: ValidationResult = {
      ...{ totalRows: 0, validRows: 0, invalidRows: 0, duplicateRows: 0, errorRows: [] },
      ...{ doNotCallRows: 0, doNotCallRowNumbers: [], consentRows: 0 },
    };
    try {
      await validate(staging, result);
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
      result.failure = shapeFault(error);
    }
    await ask(port, 'done', { result });
    await staging.close();
  }
  port.close();
}

lowerThisThread();
await main();
