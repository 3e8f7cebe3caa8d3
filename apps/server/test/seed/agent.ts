import { sql } from 'kysely';
import type { Database } from '../../src/foundation/database/database.ts';

/** Has an agent be one that was heard lately: of another only three calls ring or are up at once. */
export async function seedHeardAgent(database: Database, agentId: string): Promise<void> {
  await database.inEngine(({ db }) =>
    sql`
      insert into agent_health (workspace_id, agent_id, heard_at)
      select id, ${agentId}, now() + interval '1 day' from workspaces`.execute(db),
  );
}
