import { type Kysely, sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { CallToPlace } from '../../../src/dialing/calls/place-calls.ts';
import { requestEndOfCalls } from '../../../src/dialing/calls/request-end.ts';
import type { Switchboard } from '../../../src/dialing/calls/switchboard.ts';
import { cancelRun } from '../../../src/dialing/workflows/runs/cancel-run.ts';
import { createFlows } from '../../../src/dialing/workflows/runs/flows.ts';
import { createRunEngine } from '../../../src/dialing/workflows/runs/run-engine.ts';
import { createRunStarter } from '../../../src/dialing/workflows/runs/run-starter.ts';
import { runCallOwner } from '../../../src/dialing/workflows/runs/signal-runs.ts';
import { wakeRuns } from '../../../src/dialing/workflows/runs/wake-runs.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import { openLease } from '../../../src/foundation/database/lease.ts';
import type { Schema } from '../../../src/foundation/database/schema.ts';
import type { SendRequest } from '../../../src/foundation/outbound-http/guarded-request.ts';
import type { Clock } from '../../../src/foundation/values/clock.ts';
import type { CallOutcome } from '../../../src/lines/telephony/call-outcome.ts';
import { noOperatorLimits } from '../../../src/platform/workspace/operator-limits.ts';
import { byTest } from '../../by-test.ts';
import { until } from '../../until.ts';

/** Runs that a server has to do with now, and calls that are not over. */
async function busyRows(db: Kysely<Schema>, now: Date): Promise<unknown[]> {
  // One statement: between two, a call may end.
  const { rows } = await sql`
    select to_jsonb(r) as busy from workflow_runs r
    where server_id is not null or due_at <= ${now} or status = 'queued'
      or exists (select from run_signals s where s.run_id = r.id and s.source = r.waits_for)
    union all select to_jsonb(c) from calls c where ended_at is null`.execute(db);
  return rows;
}

/** How a call that was placed goes on. */
export type CallFate = CallOutcome | 'returned';

/** A run engine without dialer and network: a test says how calls end and what requests are answered. */
export async function startTestEngine(
  database: Database,
  options: { clock: Clock; fateOf: (call: CallToPlace) => CallFate; send: SendRequest },
) {
  const { clock } = options;
  const log = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' }, pino.destination(2));
  const lease = await openLease({ database, seconds: 30, log });
  const flows = createFlows();
  const ends = new Set<Promise<void>>();
  const engine = createRunEngine({
    database,
    lease,
    leaseSeconds: 30,
    clock,
    log,
    flows,
    registry: new Registry(),
    send: options.send,
    isSimulated: () => true,
    operator: noOperatorLimits,
    place: (calls) => {
      for (const call of calls) {
        const ending: Promise<void> = endCall(call).then(() => void ends.delete(ending));
        ends.add(ending);
      }
    },
    longestBlockMs: 24 * 3_600_000,
  });

  /** As the dialer does it, unless the run was cancelled before. */
  async function endCall(call: CallToPlace): Promise<void> {
    const fate = options.fateOf(call);
    const { workspaceId, roomId } = call;
    const now = clock.now();
    await database.inEngine(async (tx) => {
      const named = sql`workspace_id = ${workspaceId} and id = ${roomId} and ended_at is null`;
      const outcome = fate === 'returned' ? 'cancelled' : fate;
      const { rows } = await sql<{ owner_id: string }>`
        update calls set status = 'failed', outcome = ${outcome}, ended_at = ${now} where ${named}
        returning owner_id`.execute(tx.db);
      const [row] = rows;
      if (!row) return;
      const owned = { workspaceId, roomId, owner: { kind: 'run', id: row.owner_id }, campaignId: null };
      if (fate === 'returned') {
        await runCallOwner.onCallsReturned(tx, [{ ...owned, attemptTakenBack: false, queuedAt: now }], now);
      } else await runCallOwner.onCallsEnded(tx, [{ ...owned, outcome: fate, endedAt: now }], now);
    });
    engine.nudge();
  }

  engine.start();
  const requestEnd: Switchboard['requestEnd'] = (tx, ids, at) => requestEndOfCalls(tx, runCallOwner, ids, at);
  const deps = { database, clock, nudge: engine.nudge, nudgeHangUps: () => {}, requestEnd };
  return {
    start: createRunStarter({ database, clock, flows, engine }),
    cancel: (workspaceId: string, workflowId: string, runId: string) =>
      cancelRun(deps, workspaceId, { workflowId, runId }, byTest(runId)),
    wake: (workspaceId: string, workflowId: string, keys: string[]) =>
      wakeRuns(deps, workspaceId, workflowId, keys, byTest(workflowId)),
    /** Waits until nothing happens any more before the clock moves on. */
    settled: async () => {
      let busy: unknown[] = [];
      await until(async () => {
        busy = await database.inEngine(({ db }) => busyRows(db, clock.now()));
        return busy.length === 0 && ends.size === 0;
      }).catch((error) => {
        throw new Error(`${error.message} Busy: ${JSON.stringify({ busy, ends: ends.size })}`);
      });
    },
    stop: async () => {
      await engine.stop();
      await Promise.all(ends);
      await lease.release();
    },
  };
}

export type TestEngine = Awaited<ReturnType<typeof startTestEngine>>;
