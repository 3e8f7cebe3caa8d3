import { type EraseJob, eraseQueue } from '../../audience/contact-lists/queues.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { ExportDeps } from './deps.ts';

const LATE_SECONDS = 24 * 3600;

/** Has the file of an export erased, now or later. */
export const eraseFile = (
  { jobs }: Pick<ExportDeps, 'jobs'>,
  tx: WorkspaceTx,
  file: string,
  afterSeconds = 0,
): Promise<void> =>
  jobs.enqueue<EraseJob>(
    tx,
    eraseQueue,
    { workspaceId: tx.workspaceId, uploadIds: [], files: [file] },
    { afterSeconds },
  );

/**
 * The same of a file that a process may still be writing. One that sleeps, and dies once it has put the file there, says so to
 * nobody: a day later it is erased again.
 */
export async function eraseUnfinished(deps: Pick<ExportDeps, 'jobs'>, tx: WorkspaceTx, file: string): Promise<void> {
  await eraseFile(deps, tx, file);
  await eraseFile(deps, tx, file, LATE_SECONDS);
}
