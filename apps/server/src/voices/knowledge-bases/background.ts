import type { Repeating } from '../../platform/jobs/every.ts';
import type { KnowledgeBaseDeps } from './deps.ts';
import { startErasing } from './erase-documents.ts';
import { type ReadJob, readQueue } from './queues.ts';
import { giveUpReading, readDocument } from './read-document.ts';

/** Over some three minutes: long enough for a store that is away, and no file gets to end a server for ever. */
const RETRIES = 8;

/** Begins the background work on knowledge bases in this process. Close it before the queue. */
export async function startKnowledgeBaseWork(deps: KnowledgeBaseDeps): Promise<Repeating> {
  await deps.jobs.work<ReadJob>({
    queue: readQueue,
    concurrency: 3,
    retries: RETRIES,
    run: (job, signal) => readDocument(deps, job, signal),
    giveUp: (job) => giveUpReading(deps, job),
  });
  return startErasing(deps);
}
