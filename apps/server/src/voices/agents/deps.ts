import type { Database } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import type { Clock } from '../../foundation/values/clock.ts';

/** What agents need. */
export interface AgentDeps {
  database: Database;
  clock: Clock;
  secrets: Secrets;
  guard: AddressGuard;
}
