import { Worker } from 'node:worker_threads';
import type { components } from '../../foundation/values/generated/contract.ts';
import { anyFree, limiter } from '../../foundation/values/limiter.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { soundFirst } from '../../foundation/values/sound-first.ts';
import type { ContactListDeps } from './deps.ts';
import { begin, isZip } from './reading/file-rows.ts';
import { previewContacts } from './reading/preview-contacts.ts';
import type { ReadOptions } from './reading/read-contacts.ts';
import { shapePreview } from './shape-preview.ts';
import { findList } from './store.ts';
import { isChecked, readOptionsOf } from './upload.ts';
import { findUpload } from './upload-store.ts';
import { THREAD_MEMORY } from './validate-upload.ts';
import { answer } from './validation-channel.ts';

const program = new URL(`./preview-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
const LONGEST_MS = 120_000;

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
  const open = async () => {
    if (await objects.stat(upload.storage_key)) return objects.get(upload.storage_key);
    throw new ServiceError('invalid_state', 'The file is gone. Upload it again.');
  };
  const options = {
    ...readOptionsOf(upload),
    defaultCountry: list.default_country ?? undefined,
    limits,
  };
  const preview = await previewFile(workspaceId, open, options);
  const words = { count: upload.do_not_call_rows, rows: upload.do_not_call_row_numbers };
  return { ...preview, ...(isChecked(upload) && { doNotCall: words }) };
}

/**
 * A workbook is unpacked in a thread of its own, one after another, of each workspace in turn: one takes minutes if it unpacks
 * to as much as it may. It is opened again then, so that what waits holds nothing. A text is read here, which takes little.
 */
async function previewFile(
  workspaceId: string,
  open: () => Promise<AsyncIterable<Uint8Array>>,
  options: ReadOptions,
): Promise<Schemas['ContactListUploadPreview']> {
  const { beginning, whole } = await begin(await open());
  if (!isZip(beginning)) return shapePreview(await previewContacts(whole, options));
  for await (const _ of whole) break;
  // It drops nothing, so each comes to something.
  return (await inTurn(workspaceId, async () => previewWorkbook(await open(), options)))!;
}

const inTurn = limiter(1, anyFree);

const isTooMuch = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'TimeoutError' || (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY');

async function previewWorkbook(
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
    if (!isTooMuch(error)) throw error;
    const message = 'The workbook takes too long, or too much memory, to be read. Split it, or save it as CSV.';
    return { columns: [], rows: [], failure: { code: 'file_too_large', message } };
  } finally {
    await content.return?.();
  }
  return found!;
}
