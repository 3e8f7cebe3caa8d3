import type { AgentDirectory } from '../agents/directory.ts';
import type { IsSimulated } from '../calls/may-dial.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import type { Notifications } from '../database/notifications.ts';
import type { Provider } from '../phone-numbers/phone-number.ts';
import type { OperatorLimits } from '../workspace/operator-limits.ts';

/** What the acts on campaigns work with. */
export interface CampaignDeps {
  database: Database;
  agents: AgentDirectory;
  /** Those that are configured on this server. */
  providers: readonly Provider[];
  operator: OperatorLimits;
  isSimulated: IsSimulated;
  clock: Clock;
  notifications: Pick<Notifications, 'subscribe'>;
  /** The highest `maxConcurrency` that a campaign may ask for. */
  maxConcurrency: number;
  /** Has this process look for work at once. */
  nudge: () => void;
}
