import type { AgentDirectory } from '../agents/directory.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';

/** What the acts on definitions work with. */
export interface WorkflowDeps {
  database: Database;
  agents: AgentDirectory;
  clock: Clock;
}
