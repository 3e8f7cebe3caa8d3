import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Lease } from '../database/lease.ts';
import type { Secrets } from '../database/secrets.ts';
import type { AddressGuard } from '../outbound-http/address-guard.ts';
import type { SendRequest } from '../outbound-http/guarded-request.ts';
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
