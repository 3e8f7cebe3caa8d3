import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import { isUnavailable } from '../../foundation/database/errors.ts';
import type { AgentRequest, ServedCall } from '../../lines/conversation/agent-request.ts';
import type { ModelUsage } from '../../lines/media/realtime/speech-model.ts';
import type { RecordCallEvents } from './call-events.ts';
import { type CallResultDeps, recordCallResult } from './record-call-result.ts';

type Recorded = Extract<AgentRequest, { type: 'record_result' }>;

/** In which the end of a call is written, as a rule, and how often it is looked for. */
const WRITTEN_MS = 2000;
const LOOK_MS = 50;

/** While the database is away it is tried again so often, and after so long each time: nobody else has it. */
const MOST_TRIES = 30;
const AGAIN_MS = 1000;

/**
 * Records what an agent of the server's own tells of a call that is over: what was said and found out, and what its model has
 * used. Once that is all, `call.transcribed` is told with it, behind `call.ended`.
 */
export async function recordOver(
  deps: CallResultDeps & { recordEvents: RecordCallEvents },
  call: ServedCall,
  result: Recorded['result'],
  { isAll, usage }: NonNullable<Recorded['over']>,
): Promise<void> {
  const { database, recordEvents } = deps;
  const more = async (tx: WorkspaceTx, hasTranscript: boolean) => {
    if (usage) await keepUsage(tx, call, usage);
    if (isAll && hasTranscript) await recordEvents(tx, 'call.transcribed', [call]);
  };
  const keep = async () => {
    await untilWritten(database, call);
    if (Object.keys(result).length === 0) await database.inWorkspace(call.workspaceId, (tx) => more(tx, false));
    else await recordCallResult(deps, call.workspaceId, call.roomId, result, undefined, more);
  };
  for (let tries = 1; ; tries += 1)
    try {
      return await keep();
    } catch (error) {
      if (tries === MOST_TRIES || !isUnavailable(error)) throw error;
      await sleep(AGAIN_MS, undefined, { ref: false });
    }
}

/** Waits for a call's end to be written: what is told of it before would be told of a call that is up. */
async function untilWritten(database: Database, { workspaceId, roomId }: ServedCall): Promise<void> {
  for (const until = performance.now() + WRITTEN_MS; performance.now() < until; await sleep(LOOK_MS)) {
    const { rows } = await database.inWorkspace(workspaceId, (tx) =>
      sql`
        select from calls where workspace_id = ${workspaceId} and id = ${roomId} and ended_at is not null`.execute(
        tx.db,
      ),
    );
    if (rows.length > 0) return;
  }
}

/** In the place of what was known at the call's end. */
const keepUsage = (tx: WorkspaceTx, { workspaceId, roomId }: ServedCall, usage: ModelUsage) =>
  sql`
    update calls set usage = ${JSON.stringify(usage)}::jsonb
    where workspace_id = ${workspaceId} and id = ${roomId}`.execute(tx.db);
