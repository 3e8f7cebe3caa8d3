import { sql } from 'kysely';
import type { Tx, WorkspaceTx } from '../../foundation/database/database.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { refuse } from '../../foundation/values/service-error.ts';
import { type Call, shapeCall } from './shape-call.ts';
import type { CallStore } from './store.ts';

type Transcript = components['schemas']['CallTranscript'];

const MOST_BYTES = 1024 * 1024;

/** Throws `invalid_request` for a transcript of over 1 MiB as JSON. */
export function refuseLongTranscript(transcript: Transcript | undefined): void {
  const bytes = Buffer.byteLength(JSON.stringify(transcript ?? []));
  if (bytes <= MOST_BYTES) return;
  refuse([{ path: '/body/transcript', message: `must be at most ${MOST_BYTES} bytes as JSON; it is ${bytes}` }]);
}

/** Keeps what was said on a call, in the place of what was kept before. Answers whether that is something else. */
export async function keepTranscript(tx: WorkspaceTx, roomId: string, transcript: Transcript): Promise<boolean> {
  const { rows } = await sql`
    insert into call_transcripts (workspace_id, room_id, turns)
    values (${tx.workspaceId}, ${roomId}, ${JSON.stringify(transcript)}::jsonb)
    on conflict (workspace_id, room_id) do update set turns = excluded.turns
      where call_transcripts.turns <> excluded.turns
    returning room_id`.execute(tx.db);
  return rows.length > 0;
}

/** A call as clients see it, with what was said on it, which lists and webhooks leave out. */
export async function readWithTranscript(
  tx: WorkspaceTx,
  calls: Pick<CallStore, 'find'>,
  roomId: string,
): Promise<Call | undefined> {
  const row = await calls.find(tx, roomId);
  if (!row) return undefined;
  const call = shapeCall(row);
  if (!call.result) return call;
  return withTranscript(call, (await transcriptsOf(tx, tx.workspaceId, [roomId])).get(roomId));
}

/** A call with what was said on it, if that is known. */
export const withTranscript = (call: Call, transcript: Transcript | undefined): Call =>
  call.result && transcript ? { ...call, result: { ...call.result, transcript } } : call;

/** What was said on some calls of a workspace, by their UUIDs. */
export async function transcriptsOf(
  tx: Tx,
  workspaceId: string,
  roomIds: readonly string[],
): Promise<Map<string, Transcript>> {
  const { rows } = await sql<{ room_id: string; turns: Transcript }>`
    select room_id, turns from call_transcripts
    where workspace_id = ${workspaceId} and room_id = any(${roomIds}::uuid[])`.execute(tx.db);
  return new Map(rows.map(({ room_id, turns }) => [room_id, turns]));
}
