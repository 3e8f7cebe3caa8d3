import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';

/** What withdrawing calls works with. */
export interface WithdrawCallsDeps {
  database: Database;
  clock: Clock;
  /** Hangs up at once what this server holds and is to end. */
  nudgeHangUps: () => void;
}

/** How long the answer waits for calls that are on their way, and how often it looks. */
const WAIT_MS = 2000;
const LOOK_MS = 50;

/** Ends what is on its way to some people of a workspace (numbers in E.164 without the plus). */
export type WithdrawCallsTo = (workspaceId: string, numbers: readonly number[], endRinging?: boolean) => Promise<void>;

/**
 * Ends the calls that are on their way to people who have asked not to be called, after the commit of that: what is not sent
 * never is, what rings is cancelled unless `endRinging` is false, and who talks is left. Resolves once each was sent or
 * withdrawn, after two seconds at most. A claim that had not committed is refused at its placement, by the number that
 * `raiseDoNotCall` raised.
 */
export const callWithdrawer =
  ({ database, clock, nudgeHangUps }: WithdrawCallsDeps): WithdrawCallsTo =>
  async (workspaceId, numbers, endRinging = true) => {
    const ended = endRinging ? ['queued', 'dialing', 'ringing'] : ['queued', 'dialing'];
    const { rows: withdrawn } = await database.inWorkspace(workspaceId, (tx) =>
      sql<{ id: string }>`
      update calls c set end_requested_at = coalesce(c.end_requested_at, ${clock.now()})
      where c.workspace_id = ${workspaceId} and c.to_number = any(${numbers}::bigint[]) and c.direction = 'outbound'
        and c.ended_at is null and c.status = any(${ended}) returning id`.execute(tx.db),
    );
    if (withdrawn.length === 0) return;
    const ids = withdrawn.map(({ id }) => id);
    const until = performance.now() + WAIT_MS;
    for (;;) {
      // One that its provider does not have yet is asked for again.
      nudgeHangUps();
      const { rows } = await database.inWorkspace(workspaceId, (tx) =>
        sql`
        select from calls where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) and ended_at is null
          and status in ('dialing', 'ringing') limit 1`.execute(tx.db),
      );
      if (rows.length === 0 || performance.now() >= until) return;
      await sleep(LOOK_MS);
    }
  };
