import { sql } from 'kysely';
import type { Tx } from '../../../foundation/database/database.ts';
import type { OwnedCall } from '../../calls/call.ts';
import type { CallOwner } from '../../calls/call-owner.ts';
import { RUN, recallRunCalls } from './recall-run-calls.ts';
import { whereRunIs } from './run-by-key.ts';

/**
 * Workflow runs, as the owners of their calls: what became of a call is written down for its run, which is not locked
 * (dialing.md, "Runs").
 */
export const runCallOwner: CallOwner = {
  kind: RUN,
  mayBePlaced: () => sql`true`,
  onCallsEnded: (tx, calls, now) =>
    signal(
      tx,
      calls.map((call) => ({ ...call, data: { kind: 'call_ended', outcome: call.outcome } })),
      now,
    ),
  onCallsReturned: (tx, calls, now) =>
    signal(
      tx,
      calls.map((call) => ({ ...call, data: { kind: 'call_returned' } })),
      now,
    ),
  recall: recallRunCalls,
};

/**
 * What the agent has recorded of the call so far goes with it. A run that waits for something else is told nothing. 1,320
 * buffers for 100 beside 10⁴ runs, 1,480 beside 10⁶.
 */
async function signal(tx: Tx, calls: (OwnedCall & { data: object })[], now: Date): Promise<void> {
  const news = calls.map(({ workspaceId, owner, roomId, data }) => ({
    workspace_id: workspaceId,
    run_id: owner.id,
    source: roomId,
    data,
  }));
  await sql`
    insert into run_signals (workspace_id, run_id, source, data, created_at)
    select x.workspace_id, x.run_id, x.source,
      x.data || case when c.result ? 'data' then jsonb_build_object('data', c.result -> 'data') else '{}' end, ${now}
    from json_to_recordset(${JSON.stringify(news)}::json)
      as x (workspace_id uuid, run_id uuid, source uuid, data jsonb)
    cross join lateral (
      select t.waits_for from workflow_runs t ${whereRunIs(sql`x.workspace_id`, sql`x.run_id`)}
    ) as run
    left join lateral (
      select result from calls c where c.workspace_id = x.workspace_id and c.id = x.source limit 1
    ) as c on true
    where run.waits_for = x.source
    on conflict (workspace_id, run_id, source) do nothing`.execute(tx.db);
}
