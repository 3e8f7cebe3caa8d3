import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Notifications } from '../../foundation/database/notifications.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { ObjectStore } from '../../foundation/objects/object-store.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { WordGuard } from '../../platform/installation/tell-opt-outs.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import type { ComingFiles } from '../../platform/workspace/coming-files.ts';
import type { ReadLimits } from './reading/read-contacts.ts';

/** What the acts on contact lists work with. */
export interface ContactListDeps {
  database: Database;
  notifications: Pick<Notifications, 'subscribe'>;
  jobs: Jobs;
  objects: ObjectStore;
  clock: Clock;
  secrets: Secrets;
  log: Logger;
  /** Caps of one file. */
  limits: ReadLimits;
  coming: ComingFiles;
  /** Most bytes of files that a workspace may keep; without it as many as it likes. */
  storageMaxBytes?: number | undefined;
  guard: WordGuard;
}
