import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Secrets } from '../database/secrets.ts';
import type { AddressGuard } from '../outbound-http/address-guard.ts';

/** What agents need. */
export interface AgentDeps {
  database: Database;
  clock: Clock;
  secrets: Secrets;
  guard: AddressGuard;
}
