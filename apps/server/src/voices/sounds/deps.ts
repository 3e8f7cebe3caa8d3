import type { Database } from '../../foundation/database/database.ts';
import type { ObjectStore } from '../../foundation/objects/object-store.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import type { ComingFiles } from '../../platform/workspace/coming-files.ts';

/** What the acts on sounds work with. */
export interface SoundDeps {
  database: Database;
  jobs: Jobs;
  objects: ObjectStore;
  clock: Clock;
  coming: ComingFiles;
  /** Most bytes of files that a workspace may keep; without it as many as it likes. */
  storageMaxBytes?: number | undefined;
}
