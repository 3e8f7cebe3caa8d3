import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';

/** Columns of the call, null where it was taken back before any provider heard of it. */
type OfCall = Pick<
  Row<'calls'>,
  | ('status' | 'outcome' | 'ended_by' | 'sip_status' | 'sip_reason' | 'release_cause' | 'codec')
  | ('packets_received' | 'dialed_at' | 'ringing_at' | 'answered_at' | 'ended_at')
>;

/** A test call, with its call. */
export type TestCallRow = Row<'test_calls'> & { [Column in keyof OfCall]: OfCall[Column] | null };

/** A test call, by the UUID of its room. */
export async function findTestCall(tx: WorkspaceTx, roomId: string): Promise<TestCallRow | undefined> {
  const { rows } = await sql<TestCallRow>`
    select t.*, c.status, c.outcome, c.ended_by, c.sip_status, c.sip_reason, c.release_cause, c.codec,
      c.packets_received, c.dialed_at, c.ringing_at, c.answered_at, c.ended_at
    from test_calls t left join calls c on c.workspace_id = t.workspace_id and c.id = t.room_id
    where t.workspace_id = ${tx.workspaceId} and t.room_id = ${roomId}`.execute(tx.db);
  return rows[0];
}

const HOUR_MS = 3_600_000;

/** How many test calls of a workspace rang, or may have, within the last hour, and how many of them are up. */
export async function recentTestCalls(tx: WorkspaceTx, now: Date): Promise<{ made: number; up: number }> {
  const { rows } = await sql<{ made: number; up: number }>`
    select count(*) as made, count(*) filter (where c.ended_at is null) as up
    from test_calls t join calls c on c.workspace_id = t.workspace_id and c.id = t.room_id
    where t.workspace_id = ${tx.workspaceId} and t.requested_at > ${new Date(now.getTime() - HOUR_MS)}
      and t.returned_at is null`.execute(tx.db);
  return rows[0]!;
}
