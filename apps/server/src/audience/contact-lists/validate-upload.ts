import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { toId } from '../../foundation/values/ids.ts';
import { soundFirst } from '../../foundation/values/sound-first.ts';
import { NotYet } from '../../platform/jobs/jobs.ts';
import type { ContactListDeps } from './deps.ts';
import { type ErrorReportFile, openErrorReport } from './error-report-file.ts';
import { eraseQueue, type UploadJob } from './queues.ts';
import { eraseRejected, keepRejected } from './rejected-rows.ts';
import { appendColumns, MOST_LIST_COLUMNS } from './store.ts';
import { type FailureCode, readOptionsOf, type UploadRow } from './upload.ts';
import { countFromNothing, failUpload, moveUpload, noteProgress } from './upload-store.ts';
import {
  answer,
  isOutOfMemory,
  THREAD_MEMORY,
  TOO_MUCH,
  type ValidationResult,
  type ValidationWork,
} from './validation-channel.ts';

const program = new URL(`./validate-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/**
 * Reads an uploaded file in a thread of its own: stages its rows, writes its error report, tells how far it is. Safe to
 * run again after a crash: it begins anew.
 */
export async function validateUpload(
  deps: ContactListDeps,
  { workspaceId, uploadId }: UploadJob,
  signal: AbortSignal,
): Promise<void> {
  const { database, objects, clock } = deps;
  const found = await database.inWorkspace(workspaceId, (tx) => uploadToValidate(tx, uploadId));
  if (!found) return;
  const { upload, defaultCountry } = found;
  const report = openErrorReport(objects, `reports/${toId('upl', uploadId)}.csv`);
  const work: ValidationWork = {
    connection: database.connection,
    workspaceId,
    uploadId,
    options: {
      ...readOptionsOf(upload),
      defaultCountry: defaultCountry ?? undefined,
      limits: deps.limits,
    },
  };
  const worker = new Worker(program, { workerData: work, resourceLimits: THREAD_MEMORY });
  let content: AsyncIterator<Uint8Array> | undefined;
  // It is looked at once more, and found to be over.
  const gone = () => new NotYet('The upload is gone.');
  try {
    await answer(
      worker,
      {
        begin: async () => {
          if (!(await begin(deps, { workspaceId, uploadId }))) return false;
          content = (await objects.get(upload.storage_key))[Symbol.asyncIterator]();
          return true;
        },
        cleared: async () =>
          void (await database.inWorkspace(workspaceId, async (tx) => {
            await eraseRejected(tx, uploadId);
            await countFromNothing(tx, uploadId);
          })),
        chunk: async () => {
          await soundFirst();
          const { value, done } = await content!.next();
          return done ? undefined : value;
        },
        columns: async ({ names }) => {
          const append = (tx: WorkspaceTx) => appendColumns(tx, upload.list_id, names, MOST_LIST_COLUMNS);
          const positions = await database.inWorkspace(workspaceId, append);
          if (!positions) throw gone();
          return positions;
        },
        report: async ({ text, kept }) => {
          await report.write(text);
          const keep = (tx: WorkspaceTx) => keepRejected(tx, uploadId, kept, clock.now());
          if (kept.length > 0) await database.inWorkspace(workspaceId, keep);
          return undefined;
        },
        progress: async (progress) => {
          const note = (tx: WorkspaceTx) => noteProgress(tx, uploadId, progress, clock.now());
          if (!(await database.inWorkspace(workspaceId, note))) throw gone();
        },
        done: async ({ result }) => void (await end(deps, { workspaceId, uploadId }, result, report)),
      },
      signal,
    );
  } catch (error) {
    await report.discard();
    if (!isOutOfMemory(error)) throw error;
    await failValidation(deps, { workspaceId, uploadId }, TOO_MUCH);
  } finally {
    await content?.return?.();
  }
}

async function uploadToValidate(
  tx: WorkspaceTx,
  uploadId: string,
): Promise<{ upload: UploadRow; defaultCountry: string | null } | undefined> {
  const upload = await tx.db
    .selectFrom('contact_list_uploads')
    .selectAll()
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', uploadId)
    .where(sql<boolean>`status in ('uploaded', 'validating')`)
    .executeTakeFirst();
  if (!upload) return undefined;
  const list = await tx.db
    .selectFrom('contact_lists')
    .select('default_country')
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', upload.list_id)
    .executeTakeFirstOrThrow();
  return { upload, defaultCountry: list.default_country };
}

/** `uploaded → validating`, or from the start again where another process died at it. @returns whether to go on */
async function begin({ database, clock }: ContactListDeps, { workspaceId, uploadId }: UploadJob) {
  return database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    const moved = await moveUpload(tx, uploadId, 'validating', { rows_read: 0, bytes_read: 0 }, now);
    return moved !== undefined || (await noteProgress(tx, uploadId, { rows: 0, bytes: 0 }, now));
  });
}

async function end(
  { database, clock, jobs }: ContactListDeps,
  { workspaceId, uploadId }: UploadJob,
  result: ValidationResult,
  report: ErrorReportFile,
): Promise<void> {
  const { failure } = result;
  const isChecked = !failure || failure.code === 'no_valid_rows';
  const reportKey = isChecked ? await report.end() : await report.discard();
  await database.inWorkspace(workspaceId, async (tx) => {
    const now = clock.now();
    const counts = isChecked && {
      rows_read: result.totalRows,
      total_rows: result.totalRows,
      // Less those that were erased meanwhile.
      valid_rows: sql<number>`valid_rows + ${result.validRows}`,
      invalid_rows: result.invalidRows,
      duplicate_rows: result.duplicateRows,
      error_rows: result.errorRows,
      has_do_not_call: result.doNotCallRows > 0,
      do_not_call_rows: result.doNotCallRows,
      do_not_call_row_numbers: result.doNotCallRowNumbers,
      consent_rows: result.consentRows,
      error_report_key: reportKey ?? null,
      format: result.format ? JSON.stringify(result.format) : null,
      columns: result.columns ? JSON.stringify(result.columns) : null,
      header: result.titles ? [...result.titles] : null,
    };
    if (!failure) {
      await moveUpload(tx, uploadId, 'validated', { ...counts, validated_at: now }, now);
    } else {
      const change = {
        ...counts,
        error_report_key: reportKey ?? null,
        failure_code: failure.code,
        failure_message: failure.message,
      };
      const failed = await moveUpload(tx, uploadId, 'failed', change, now);
      if (failed) await jobs.enqueue(tx, eraseQueue, { workspaceId, uploadIds: [uploadId], files: [] });
    }
  });
}

/** Ends a validation that failed every time for a reason that isn't the file's. */
export const giveUpValidation = (deps: ContactListDeps, job: UploadJob): Promise<void> =>
  failValidation(deps, job, { code: 'unreadable_file', message: 'The file could not be checked. Upload it again.' });

async function failValidation(
  { database, clock, jobs }: ContactListDeps,
  { workspaceId, uploadId }: UploadJob,
  fault: { code: FailureCode; message: string },
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    const failed = await failUpload(tx, uploadId, fault, clock.now());
    if (failed) await jobs.enqueue(tx, eraseQueue, { workspaceId, uploadIds: [uploadId], files: [] });
  });
}
