import type { Database } from '../../foundation/database/database.ts';
import type { Notifications } from '../../foundation/database/notifications.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { Provider } from '../../lines/phone-numbers/phone-number.ts';
import type { RestoreGuard } from '../../platform/installation/restore-guard.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import type { AgentDirectory } from '../../voices/agents/directory.ts';
import type { AskAgent } from '../../voices/agents/test-agent.ts';
import type { Sentences } from '../../voices/speech/sentences.ts';
import type { IsSimulated } from '../calls/may-dial.ts';

/** What the acts on campaigns work with. */
export interface CampaignDeps {
  database: Database;
  agents: AgentDirectory;
  askAgent: AskAgent;
  /** How many of a script's sentences that are the same for everybody are not made yet. */
  sentences: Pick<Sentences, 'unready'>;
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
  guard: Pick<RestoreGuard, 'tell' | 'doubts'>;
}
