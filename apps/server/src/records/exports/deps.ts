import type { Logger } from 'pino';
import type { CallStore } from '../../dialing/calls/store.ts';
import type { Database } from '../../foundation/database/database.ts';
import type { ObjectStore } from '../../foundation/objects/object-store.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';

/** What the acts on exports work with. */
export interface ExportDeps {
  database: Database;
  jobs: Jobs;
  objects: ObjectStore;
  calls: Pick<CallStore, 'named'>;
  clock: Clock;
  log: Logger;
  /** Most rows of a file, its header left out. */
  mostRows: number;
  /** Most bytes of a file. */
  mostBytes: number;
}

/** Writes the file of an export. */
export const exportQueue = 'write-export';

export interface ExportJob {
  workspaceId: string;
  exportId: string;
}
