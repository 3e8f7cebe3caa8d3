/// <reference lib="es2024.arraybuffer" />
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { parentPort, workerData } from 'node:worker_threads';
import pg from 'pg';
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams';
import { type CopyLines, copyLines } from './copy-line.ts';
import { errorReportLines } from './reading/error-report.ts';
import { FileFault, shapeFault } from './reading/file-fault.ts';
import { type ContactBatch, readContacts } from './reading/read-contacts.ts';
import { uploadLock } from './upload-lock.ts';
import { ask, type ValidationResult, type ValidationWork } from './validation-channel.ts';

const port = parentPort!;
const { connection, workspaceId, uploadId, options } = workerData as ValidationWork;

const MOST_ERROR_ROWS = 1000;
const PROGRESS_MS = 500;
/** Rows of one COPY, and so of one transaction: long ones would keep the database from tidying up. */
const ROWS_PER_COPY = 50_000;

const client = new pg.Client({ ...connection, application_name: 'trunkline import', keepAlive: true });

async function* file(): AsyncGenerator<Uint8Array> {
  for (;;) {
    const chunk = await ask(port, 'chunk', {});
    if (!chunk) return;
    yield chunk;
    // Read by now. The collector sees how small the object is, not how much it holds, and would leave it for long.
    (chunk.buffer as ArrayBuffer).transfer(0);
  }
}

/** Copies into the partition itself, since COPY refuses tables with row-level security. */
class Staging {
  #copy: CopyStreamQuery | undefined;
  #rows = 0;
  /** Waited for only before the next write, so that the database takes rows in while the next ones are read. */
  #drained: Promise<unknown> | undefined;

  async write(text: string, rows: number): Promise<void> {
    this.#copy ??= client.query(
      copyFrom(`copy contact_list_entries_all
        (workspace_id, upload_id, phone_number, row_number, name, timezone, "values") from stdin`),
    );
    await this.#drained;
    this.#drained = this.#copy.write(text) ? undefined : once(this.#copy, 'drain');
    this.#rows += rows;
    if (this.#rows >= ROWS_PER_COPY) await this.flush();
  }

  async flush(): Promise<void> {
    const copy = this.#copy;
    this.#copy = undefined;
    this.#rows = 0;
    if (!copy) return;
    await this.#drained;
    this.#drained = undefined;
    copy.end();
    await finished(copy);
  }
}

async function validate(result: ValidationResult): Promise<void> {
  const staging = new Staging();
  let lines: CopyLines | undefined;
  let told = performance.now();
  const stage = async (batch: ContactBatch) => {
    if (!lines) {
      const positions = await ask(port, 'columns', { names: batch.variables });
      if (positions === 'too_many') {
        throw new FileFault(
          'too_many_columns',
          'With these columns the list would have more than 1,024. Use a new list.',
        );
      }
      lines = copyLines(workspaceId, uploadId, positions);
    }
    if (batch.contacts.length > 0) await staging.write(lines(batch.contacts), batch.contacts.length);
  };
  for await (const batch of readContacts(file(), options)) {
    result.format = batch.format;
    result.totalRows += batch.rows;
    result.validRows += batch.contacts.length;
    result.invalidRows += batch.invalidRows.length;
    result.duplicateRows += batch.duplicateRows;
    result.errorRows.push(...batch.invalidRows.slice(0, MOST_ERROR_ROWS - result.errorRows.length));
    await stage(batch);
    if (batch.faults.length > 0) await ask(port, 'report', { text: errorReportLines(batch.faults) });
    if (performance.now() - told < PROGRESS_MS) continue;
    told = performance.now();
    await ask(port, 'progress', { rows: result.totalRows, bytes: batch.bytesRead });
  }
  await staging.flush();
}

async function main(): Promise<void> {
  await client.connect();
  const { rows } = await client.query('select pg_try_advisory_lock($1) as free', [uploadLock(uploadId)]);
  if (!rows[0].free) throw new Error('Another process still validates this upload.');
  if (await ask(port, 'begin', {})) {
    await client.query('delete from contact_list_entries_all where workspace_id = $1 and upload_id = $2', [
      workspaceId,
      uploadId,
    ]);
    const result: ValidationResult = { totalRows: 0, validRows: 0, invalidRows: 0, duplicateRows: 0, errorRows: [] };
    try {
      await validate(result);
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
      result.failure = shapeFault(error);
    }
    await ask(port, 'done', { result });
  }
  await client.end();
  port.close();
}

await main();
