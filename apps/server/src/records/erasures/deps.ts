import type { Logger } from 'pino';
import type { RecordCallEvents } from '../../dialing/calls/call-events.ts';
import type { CancelRunDeps } from '../../dialing/workflows/runs/cancel-run.ts';
import type { Database } from '../../foundation/database/database.ts';
import type { ObjectStore } from '../../foundation/objects/object-store.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';

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
