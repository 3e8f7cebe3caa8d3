import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { toId } from '../../foundation/values/ids.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditEntry } from '../../platform/journal/record.ts';
import { audit } from '../../platform/journal/record.ts';
import type { SoundDeps } from './deps.ts';
import { eraseUnlessThere } from './erase-sounds.ts';

/** The most agents that an error names. */
const MOST_NAMED = 5;

/** Deletes a sound: gone at once for clients, its file soon after. Throws `not_found`, and `sound_in_use` with the agents. */
export async function deleteSound(
  { database, clock, jobs }: Pick<SoundDeps, 'database' | 'clock' | 'jobs'>,
  workspaceId: string,
  id: string,
  auditEntry: AuditEntry,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    // Who gives it to an agent holds a lock on it: the lock comes first, so that the agent is seen.
    const { rows } = await sql`
      select id from sounds where workspace_id = ${workspaceId} and id = ${id} for update`.execute(tx.db);
    if (rows.length === 0) throw notFound();
    await refuseUsed(tx, id);
    await tx.db.deleteFrom('sounds').where('workspace_id', '=', workspaceId).where('id', '=', id).execute();
    await eraseUnlessThere(jobs, tx, id);
    await audit(tx, auditEntry, clock.now());
  });
}

async function refuseUsed(tx: WorkspaceTx, id: string): Promise<void> {
  const { rows } = await sql<{ id: string; name: string }>`
    select a.id, a.name from agent_sounds s
    join agents a on a.workspace_id = s.workspace_id and a.id = s.agent_id
    where s.workspace_id = ${tx.workspaceId} and s.sound_id = ${id}
    order by a.id limit ${sql.lit(MOST_NAMED)}`.execute(tx.db);
  const [first] = rows;
  if (!first) return;
  throw new ServiceError('sound_in_use', `The agent "${first.name}" plays this sound. Change the agent first.`, {
    details: rows.map((agent) => ({
      path: '/path/soundId',
      message: `is played by the agent "${agent.name}" (${toId('agent', agent.id)})`,
    })),
  });
}
