import type { Logger } from 'pino';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { HostGuard } from '../../foundation/outbound-http/url-fault.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { TrunkProber } from '../telephony/trunk-prober.ts';

/** What trunks need. */
export interface TrunkDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  secrets: Secrets;
  /** Judges where trunks lead. */
  trunkGuard: HostGuard;
  /** Whether calls leave the machine, so that addresses must be granted. */
  callsOut: boolean;
  /** Asks trunks; undefined if nothing here can. */
  prober: TrunkProber | undefined;
  /** How long a trunk may take to answer a check, in milliseconds; 5 s by default. */
  trunkCheckMs?: number;
  /** Tells of the numbers of a trunk that came to call, or no longer do, in the transaction that makes it so. */
  onTurned: (tx: WorkspaceTx, trunkId: string, now: Date) => Promise<void>;
}
