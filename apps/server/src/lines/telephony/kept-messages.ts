import type { LadderEntry } from '@trunkline/sip';
import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import { inChunks } from '../../foundation/values/in-chunks.ts';

const KEPT_MS = 7 * 24 * 3600 * 1000;
const CHUNK = 1000;

/** What the two sides of a call said; nothing where it was none over SIP, none of a call that is up or long over. */
export async function readMessages(tx: WorkspaceTx, roomId: string): Promise<LadderEntry[] | undefined> {
  const { rows } = await sql<{ messages: LadderEntry[] | null }>`
    select messages from sip_calls where room_id = ${roomId} and workspace_id = ${tx.workspaceId}`.execute(tx.db);
  return rows[0] && (rows[0].messages ?? []);
}

/** Erases the messages of calls that ended more than seven days ago, in small transactions. Servers may do it at once. */
export async function eraseOldMessages(database: Database, now: Date, signal?: AbortSignal): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  await inChunks(async () => {
    const { numAffectedRows } = await database.inEngine(({ db }) =>
      sql`
        update sip_calls set messages = null where room_id = any(array(
          select room_id from sip_calls where messages is not null and ended_at < ${before}
          order by ended_at limit ${sql.lit(CHUNK)} for update skip locked))`.execute(db),
    );
    return Number(numAffectedRows) === CHUNK;
  }, signal);
}
