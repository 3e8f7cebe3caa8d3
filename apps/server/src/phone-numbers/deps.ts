import type { Logger } from 'pino';
import type { AgentDirectory } from '../agents/directory.ts';
import type { Clock } from '../clock.ts';
import type { Database, WorkspaceTx } from '../database/database.ts';
import type { Secrets } from '../database/secrets.ts';
import type { HostGuard } from '../outbound-http/url-fault.ts';
import type { TelephonyGateway } from '../telephony/gateway.ts';

/** What phone numbers need. */
export interface PhoneNumberDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  secrets: Secrets;
  agents: AgentDirectory;
  /** Judges where the webhooks of inbound calls lead. */
  guard: HostGuard;
  /** The providers that are configured. Trunks are checked by `sip`, or else by the first that can. */
  gateways: readonly TelephonyGateway[];
  /** How long a purchase may keep a request waiting, in milliseconds; 10 s by default. */
  purchaseWaitMs?: number;
  /** How long a trunk may take to answer a check, in milliseconds; 5 s by default. */
  trunkCheckMs?: number;
  /** Takes a number that is released out of its pool, in the transaction that releases it. */
  onReleased: (tx: WorkspaceTx, phoneNumberId: string) => Promise<void>;
}
