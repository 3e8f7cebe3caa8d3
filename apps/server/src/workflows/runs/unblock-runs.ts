import { sql } from 'kysely';
import type { EngineTx } from '../../database/database.ts';

/**
 * Has blocked runs looked at again at once where their workspace, or one of its numbers or pools, has changed since they were
 * looked at last (engine.md, "Runs"). Reads only workspaces that have blocked runs. Answers how many runs.
 */
export async function recheckBlocked(tx: EngineTx, now: Date): Promise<number> {
  const { rows } = await sql<{ workspace_id: string; changed_at: Date }>`
    with recursive blocked (workspace_id) as (
      (select workspace_id from workflow_runs where blocked_since is not null order by workspace_id limit 1)
      union all
      select (select r.workspace_id from workflow_runs r
        where r.blocked_since is not null and r.workspace_id > b.workspace_id order by r.workspace_id limit 1)
      from blocked b where b.workspace_id is not null)
    select b.workspace_id, greatest(w.updated_at,
      (select max(n.updated_at) from phone_numbers n where n.workspace_id = b.workspace_id),
      (select max(p.updated_at) from number_pools p where p.workspace_id = b.workspace_id)) as changed_at
    from blocked b join workspaces w on w.id = b.workspace_id`.execute(tx.db);
  let found = 0;
  for (const { workspace_id, changed_at } of rows) {
    const { numAffectedRows = 0n } = await sql`
      update workflow_runs set due_at = ${now}
      where workspace_id = ${workspace_id} and blocked_since is not null and server_id is null and due_at > ${now}
        and updated_at < ${changed_at}`.execute(tx.db);
    found += Number(numAffectedRows);
  }
  return found;
}
