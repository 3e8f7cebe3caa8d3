import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import type { SendRequest } from '../../foundation/outbound-http/guarded-request.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { WebhookMetrics } from './metrics.ts';

/** What webhooks need. */
export interface WebhookDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  secrets: Secrets;
  lease: Lease;
  send: SendRequest;
  guard: AddressGuard;
  metrics: WebhookMetrics;
}
