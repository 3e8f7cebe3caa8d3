import type { Tx } from '../../foundation/database/database.ts';
import { recordForWebhooks, workspacesWithEndpoints } from '../../platform/journal/record-for-webhooks.ts';
import type { CallKey } from './call.ts';
import { type CallRow, shapeCall } from './shape-call.ts';
import type { CallStore } from './store.ts';
import { transcriptsOf, withTranscript } from './transcripts.ts';

/** What webhooks are told of calls, in its order. A call as it is now, or when that is past, as it was then. */
const moments = {
  'call.started': { revision: 1, at: (row: CallRow) => row.dialed_at ?? row.queued_at, asThen: (row: CallRow) => row },
  'call.answered': { revision: 2, at: (row: CallRow) => row.answered_at!, asThen: asAnswered },
  'call.ended': { revision: 3, at: (row: CallRow) => row.ended_at!, asThen: (row: CallRow) => row },
  'call.transcribed': {
    revision: 5,
    at: (row: CallRow) => new Date(row.result!.recordedAt),
    asThen: (row: CallRow) => row,
  },
  'call.recorded': { revision: 4, at: (row: CallRow) => row.recording_stored_at!, asThen: (row: CallRow) => row },
} as const;

export type CallEventType = keyof typeof moments;

/** A call may be answered and have ended by the time that both are written. */
function asAnswered(row: CallRow): CallRow {
  return {
    ...row,
    status: 'in_progress',
    outcome: null,
    ended_at: null,
    ended_by: null,
    sip_status: null,
    sip_reason: null,
    codec: null,
    packets_received: null,
    packets_lost: null,
    encrypted_with: null,
    packets_undeciphered: null,
    agent_end: null,
    usage: null,
    result: null,
    recording_status: null,
  };
}

/**
 * Writes events of calls for webhooks, in the transaction that makes them true, each once. Where no endpoint of the
 * workspace wants them nothing is read or written: a switchboard makes thousands a second.
 */
export type RecordCallEvents = (tx: Tx, type: CallEventType, calls: readonly CallKey[]) => Promise<void>;

/** @param named reads calls as clients see them */
export const callEventRecorder =
  (named: CallStore['named']): RecordCallEvents =>
  async (tx, type, calls) => {
    if (calls.length === 0) return;
    const listening = await workspacesWithEndpoints(tx, new Set(calls.map((call) => call.workspaceId)), type);
    const told = calls.filter((call) => listening.has(call.workspaceId));
    if (told.length === 0) return;
    const { revision, at, asThen } = moments[type];
    const rows = await named(tx, told);
    const said = type === 'call.transcribed' ? await saidOn(tx, rows) : undefined;
    await recordForWebhooks(
      tx,
      type,
      rows.map((row) => ({
        workspaceId: row.workspace_id,
        resourceId: row.id,
        revision,
        data: withTranscript(shapeCall(asThen(row)), said?.get(row.id)),
        at: at(row),
      })),
    );
  };

async function saidOn(tx: Tx, rows: readonly CallRow[]): Promise<Awaited<ReturnType<typeof transcriptsOf>>> {
  const all = await Promise.all(rows.map((row) => transcriptsOf(tx, row.workspace_id, [row.id])));
  return new Map(all.flatMap((each) => [...each]));
}
