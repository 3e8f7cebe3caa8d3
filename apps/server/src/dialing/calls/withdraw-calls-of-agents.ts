import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { AgentKey } from '../../voices/agents/agent-health.ts';
import type { CallOwner } from './call-owner.ts';

interface Deps {
  database: Database;
  owners: Pick<Required<CallOwner>, 'onAgentsFailing' | 'nudge'>;
  clock: Clock;
  log: Logger;
  /** Hangs up at once what this server holds and is to end. */
  nudgeHangUps: () => void;
}

/**
 * Cancels what rings for agents that fail, on whichever server: nobody is to answer to silence. What is queued is refused at
 * its placement, and who talks is left. Their owners are told, so that they stop at once. It throws nothing.
 */
export const agentsWithdrawer =
  ({ database, owners, clock, log, nudgeHangUps }: Deps) =>
  async (agents: readonly AgentKey[]): Promise<void> => {
    log.warn({ agents }, 'agents fail, and nobody is called for them any more');
    try {
      await database.inEngine(async (tx) => {
        for (const { workspaceId, agentId } of agents)
          await sql`
            update calls c set end_requested_at = coalesce(c.end_requested_at, ${clock.now()}), reason = 'agent_failing'
            where c.workspace_id = ${workspaceId} and c.agent_id = ${agentId} and c.direction = 'outbound'
              and not c.simulated and c.ended_at is null and c.status in ('dialing', 'ringing')`.execute(tx.db);
        await owners.onAgentsFailing(tx, agents);
      });
    } catch (error) {
      log.error({ err: error, agents }, 'what rings for agents that fail could not be cancelled');
    }
    nudgeHangUps();
    owners.nudge();
  };
