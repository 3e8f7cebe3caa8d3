import { sql } from 'kysely';
import { MAX } from 'uuid';
import type { Database } from '../../../foundation/database/database.ts';
import { inChunks } from '../../../foundation/values/in-chunks.ts';
import type { Jobs } from '../../../platform/jobs/jobs.ts';
import { deleteRuns, RUNS_AT_ONCE } from './retention.ts';

/** Erases what is left of the runs of workflows that were deleted. */
export const eraseRunsQueue = 'erase-runs';

interface EraseJob {
  workspaceId: string;
  workflowId: string;
}

/** Begins to erase, in this process, runs whose workflows were deleted: newest first. Safe to run twice. */
export const startErasingRuns = ({ database, jobs }: { database: Database; jobs: Jobs }): Promise<void> =>
  jobs.work<EraseJob>({
    queue: eraseRunsQueue,
    concurrency: 2,
    run: async (job, signal) => {
      let before: string = MAX;
      await inChunks(async () => {
        const ids = await nextRuns(database, job, before);
        await deleteRuns(database, job.workspaceId, ids, signal);
        before = ids.at(-1) ?? before;
        return ids.length === RUNS_AT_ONCE;
      }, signal);
      signal.throwIfAborted();
    },
  });

async function nextRuns(database: Database, { workspaceId, workflowId }: EraseJob, before: string): Promise<string[]> {
  const { rows } = await database.inHotLoop(({ db }) =>
    sql<{ id: string }>`
      select id from workflow_runs where workspace_id = ${workspaceId} and workflow_id = ${workflowId} and id < ${before}
      order by id desc limit ${sql.lit(RUNS_AT_ONCE)}`.execute(db),
  );
  return rows.map(({ id }) => id);
}
