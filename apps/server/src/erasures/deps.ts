import type { Logger } from 'pino';
import type { RecordCallEvents } from '../calls/call-events.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import type { CancelRunDeps } from '../workflows/runs/cancel-run.ts';

/** What erasing works with. */
export interface ErasureDeps {
  database: Database;
  objects: ObjectStore;
  jobs: Jobs;
  clock: Clock;
  log: Logger;
  recordEvents: RecordCallEvents;
  requestEnd: CancelRunDeps['requestEnd'];
}
