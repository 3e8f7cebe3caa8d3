import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import type { ComingFiles } from '../workspace/coming-files.ts';

/** What the acts on knowledge bases work with. */
export interface KnowledgeBaseDeps {
  database: Database;
  jobs: Jobs;
  objects: ObjectStore;
  clock: Clock;
  log: Logger;
  /** The most bytes of one file. */
  maxBytes: number;
  coming: ComingFiles;
  /** Most bytes of files that a workspace may keep; without it as many as it likes. */
  storageMaxBytes?: number | undefined;
}
