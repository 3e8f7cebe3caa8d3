import { every, type Repeating } from '../../platform/jobs/every.ts';
import { whileQuiet } from '../../platform/jobs/quiet.ts';
import { type ExportDeps, type ExportJob, exportQueue } from './deps.ts';
import { expireExports } from './expire-exports.ts';
import { giveUpExport, writeExport } from './write-export.ts';

const SWEEP_MS = 10_000;

/** Begins the background work on exports in this process. Close it before the queue. */
export async function startExportWork(deps: ExportDeps): Promise<Repeating> {
  await deps.jobs.work<ExportJob>({
    queue: exportQueue,
    concurrency: 3,
    run: (job, signal) => writeExport(deps, job, signal),
    giveUp: (job) => giveUpExport(deps, job),
  });
  return every(SWEEP_MS, (signal) => expireExports(deps, signal), {
    name: 'expire exports',
    log: deps.log,
    asleep: whileQuiet(deps.database),
  });
}
