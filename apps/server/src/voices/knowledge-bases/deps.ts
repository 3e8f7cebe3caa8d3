import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { ObjectStore } from '../../foundation/objects/object-store.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import type { ComingFiles } from '../../platform/workspace/coming-files.ts';

/** What the acts on knowledge bases work with. */
export interface KnowledgeBaseDeps {
  database: Database;
  jobs: Jobs;
  objects: ObjectStore;
  clock: Clock;
  secrets: Secrets;
  log: Logger;
  /** The most bytes of one file. */
  maxBytes: number;
  coming: ComingFiles;
  /** The IDs of the knowledge bases that are attached to the agent of a call, as clients see them. */
  basesOfCall: (workspaceId: string, roomId: string) => Promise<readonly string[]>;
  /** Most bytes of files that a workspace may keep; without it as many as it likes. */
  storageMaxBytes?: number | undefined;
}
