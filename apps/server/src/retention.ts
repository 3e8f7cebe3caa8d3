import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import type { Database } from './database/database.ts';
import { deleteOldIdempotencyKeys } from './database/idempotency-keys.ts';
import { every, type Repeating } from './jobs/every.ts';
import { deleteOldEvents } from './journal/retention.ts';
import { eraseOldMessages } from './telephony/kept-messages.ts';
import { eraseOldDeliveries } from './webhooks/retention.ts';

const RETENTION_MS = 600_000;

/** Erases what is kept for a time only. */
export const startRetention = ({
  database,
  clock,
  log,
}: {
  database: Database;
  clock: Clock;
  log: Logger;
}): Repeating[] => [
  every(RETENTION_MS, () => deleteOldEvents(database, clock.now()), { name: 'event retention', log }),
  every(RETENTION_MS, () => eraseOldDeliveries(database, clock.now()), { name: 'delivery retention', log }),
  every(RETENTION_MS, () => eraseOldMessages(database, clock.now()), { name: 'SIP message retention', log }),
  every(RETENTION_MS, () => deleteOldIdempotencyKeys(database, clock.now()), { name: 'key retention', log }),
];
