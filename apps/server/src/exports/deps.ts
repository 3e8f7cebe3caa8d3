import type { Logger } from 'pino';
import type { CallStore } from '../calls/store.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { ObjectStore } from '../objects/object-store.ts';

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
