import { Worker } from 'node:worker_threads';
import { ObjectMissing } from '../../foundation/objects/object-store.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { limiter } from '../../foundation/values/limiter.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { soundFirst } from '../../foundation/values/sound-first.ts';
import type { ContactListDeps } from './deps.ts';
import type { ReadOptions } from './reading/read-contacts.ts';
import { findList } from './store.ts';
import { isChecked, readOptionsOf } from './upload.ts';
import { findUpload } from './upload-store.ts';
import { answer, isOutOfMemory, THREAD_MEMORY, TOO_MUCH } from './validation-channel.ts';

const program = new URL(`./preview-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
const LONGEST_MS = 120_000;

/** Threads that read previews, of which one workspace has one. */
const inTurn = limiter(2);

type Schemas = components['schemas'];

/**
 * Reads the beginning of an uploaded file again, and says how it is read.
 * @throws `not_found`; `invalid_state` where the file has not come, or is gone
 */
export async function previewUpload(
  { database, objects, limits }: ContactListDeps,
  workspaceId: string,
  { listId, uploadId }: { listId: string; uploadId: string },
): Promise<Schemas['ContactListUploadPreview']> {
  const { list, upload } = await database.inWorkspace(workspaceId, async (tx) => {
    const list = await findList(tx, listId);
    const upload = list && (await findUpload(tx, listId, uploadId));
    if (!upload) throw notFound();
    return { list, upload };
  });
  if (upload.status === 'pending') {
    throw new ServiceError('invalid_state', 'The file has not come yet. Send it to the uploadUrl first.');
  }
  const options = {
    ...readOptionsOf(upload),
    defaultCountry: list.default_country ?? undefined,
    limits,
  };
  // It drops nothing, so each comes to something; what waits has nothing open.
  const preview = (await inTurn(workspaceId, async () => {
    try {
      return await previewFile(await objects.get(upload.storage_key), options);
    } catch (error) {
      if (!(error instanceof ObjectMissing)) throw error;
      throw new ServiceError('invalid_state', 'The file is gone. Upload it again.');
    }
  }))!;
  const words = { count: upload.do_not_call_rows, rows: upload.do_not_call_row_numbers };
  return { ...preview, ...(isChecked(upload) && { doNotCall: words }) };
}

/** Reads a file's beginning in a thread of its own: to unpack a workbook may take minutes, and to tell a code page too long for others. */
async function previewFile(
  source: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): Promise<Schemas['ContactListUploadPreview']> {
  const worker = new Worker(program, { workerData: options, resourceLimits: THREAD_MEMORY });
  const content = source[Symbol.asyncIterator]();
  let found: Schemas['ContactListUploadPreview'] | undefined;
  const answers = {
    chunk: async () => {
      await soundFirst();
      const { value, done } = await content.next();
      return done ? undefined : value;
    },
    previewed: async ({ preview }: { preview: Schemas['ContactListUploadPreview'] }) => {
      found = preview;
      return undefined;
    },
  };
  try {
    await answer(worker, answers, AbortSignal.timeout(LONGEST_MS));
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    if (!isLate && !isOutOfMemory(error)) throw error;
    return { columns: [], rows: [], failure: TOO_MUCH };
  } finally {
    await content.return?.();
  }
  return found!;
}
