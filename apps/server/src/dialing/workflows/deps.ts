import type { Database } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { AgentDirectory } from '../../voices/agents/directory.ts';

/** What the acts on definitions work with. */
export interface WorkflowDeps {
  database: Database;
  agents: AgentDirectory;
  clock: Clock;
}
