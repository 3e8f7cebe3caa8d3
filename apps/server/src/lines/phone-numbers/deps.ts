import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { HostGuard } from '../../foundation/outbound-http/url-fault.ts';
import type { ProviderDeps } from '../providers/deps.ts';
import type { TrunkDeps } from '../trunks/deps.ts';
import type { KnownAgents } from './bound-agent.ts';

/** What phone numbers need, and their trunks. */
export interface PhoneNumberDeps extends TrunkDeps, ProviderDeps {
  agents: KnownAgents;
  /** Judges where the webhooks of inbound calls lead. */
  guard: HostGuard;
  /** How long a purchase may keep a request waiting, in milliseconds; 10 s by default. */
  purchaseWaitMs?: number;
  /** Takes a number that is released out of its pool, in the transaction that releases it. */
  onReleased: (tx: WorkspaceTx, phoneNumberId: string) => Promise<void>;
}
