import { every, type Repeating } from '../../platform/jobs/every.ts';
import { whileQuiet } from '../../platform/jobs/quiet.ts';
import type { ContactListDeps } from './deps.ts';
import { eraseUploads } from './erase-uploads.ts';
import { expireUploads } from './expire-uploads.ts';
import { giveUpImport, importUpload } from './import-upload.ts';
import { type EraseJob, eraseQueue, importQueue, type UploadJob, validateQueue } from './queues.ts';
import { anyWaitingUpload } from './upload-store.ts';
import { giveUpValidation, validateUpload } from './validate-upload.ts';

const SWEEP_MS = 2000;
/** Once a minute for a week: a file store that is away for days keeps no file for ever. */
const ERASE_TRIES = 7 * 24 * 60;

/** Begins the background work on contact lists in this process. Close it before the queue. */
export async function startContactListWork(deps: ContactListDeps): Promise<Repeating> {
  const { jobs, log } = deps;
  await jobs.work<EraseJob>({
    queue: eraseQueue,
    concurrency: 2,
    retries: ERASE_TRIES,
    run: (job, signal) => eraseUploads(deps, job, signal),
  });
  await jobs.work<UploadJob>({
    queue: importQueue,
    concurrency: 2,
    run: (job) => importUpload(deps, job),
    giveUp: (job) => giveUpImport(deps, job),
  });
  await jobs.work<UploadJob>({
    queue: validateQueue,
    concurrency: 3,
    run: (job, signal) => validateUpload(deps, job, signal),
    giveUp: (job) => giveUpValidation(deps, job),
  });
  // A store that tells of no file is asked as often as ever while one is waited for.
  return every(SWEEP_MS, (signal) => expireUploads(deps, signal), {
    name: 'expire uploads',
    log,
    asleep: whileQuiet(deps.database, deps.objects.tellsOfUploads ? undefined : anyWaitingUpload),
  });
}
