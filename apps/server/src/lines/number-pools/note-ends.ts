import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { utcDay } from '../../foundation/values/clock.ts';
import type { CallOutcome } from '../telephony/call-outcome.ts';
import { afterCalls } from './cooling.ts';

/** The end of a pooled call. */
export interface EndedUse {
  workspaceId: string;
  phoneNumberId: string;
  outcome: CallOutcome;
  endedAt: Date;
}

type UsageRow = Pick<
  Row<'number_usage'>,
  'phone_number_id' | 'day' | 'attempts' | 'answered' | 'failed' | 'faults' | 'cooling_until'
>;

/** Notes on numbers how pooled calls from them have ended. The calls' rows are locked before. */
export async function noteEnds(tx: EngineTx, ends: readonly EndedUse[], now: Date): Promise<void> {
  for (const workspaceId of new Set(ends.map((end) => end.workspaceId))) {
    const own = ends.filter((end) => end.workspaceId === workspaceId);
    await noteEndsOf(tx, workspaceId, own, now);
  }
}

async function noteEndsOf(tx: EngineTx, workspaceId: string, ends: EndedUse[], now: Date): Promise<void> {
  const inOrder = ends.toSorted((a, b) => a.endedAt.getTime() - b.endedAt.getTime());
  const outcomesOf = (id: string) => inOrder.filter((end) => end.phoneNumberId === id).map((end) => end.outcome);
  const counted = ends.filter(({ outcome }) => outcome === 'answered' || outcome === 'trunk_error');
  const ids = (some: EndedUse[]) => [...new Set(some.map((end) => end.phoneNumberId))];
  // A busy line is news only for a number whose trunk has failed before.
  const { rows } = await sql<UsageRow>`
    select u.* from unnest(${ids(ends).toSorted()}::uuid[]) as x (id)
    cross join lateral (
      select phone_number_id, day, attempts, answered, failed, faults, cooling_until from number_usage
      where workspace_id = ${workspaceId} and phone_number_id = x.id
        and (phone_number_id = any(${ids(counted)}::uuid[]) or faults > 0)
      limit 1 for no key update) as u`.execute(tx.db);
  if (rows.length === 0) return;
  const today = utcDay(now);
  const noted = rows.map((row) => {
    const outcomes = outcomesOf(row.phone_number_id);
    const times = (outcome: CallOutcome) => outcomes.filter((each) => each === outcome).length;
    const { attempts, answered, failed } = row.day >= today ? row : { attempts: 0, answered: 0, failed: 0 };
    return {
      ...afterCalls({ faults: row.faults, coolingUntil: row.cooling_until }, outcomes, now),
      attempts,
      answered: answered + times('answered'),
      failed: failed + times('trunk_error'),
    };
  });
  await sql`
    update number_usage u set day = greatest(u.day, ${today}), attempts = x.attempts, answered = x.answered, failed = x.failed,
      faults = x.faults, cooling_until = x.cooling_until
    from unnest(${rows.map(() => workspaceId)}::uuid[], ${rows.map((row) => row.phone_number_id)}::uuid[], ${noted.map((each) => each.attempts)}::integer[],
      ${noted.map((each) => each.answered)}::integer[], ${noted.map((each) => each.failed)}::integer[],
      ${noted.map((each) => each.faults)}::smallint[], ${noted.map((each) => each.coolingUntil)}::timestamptz[])
      as x (workspace_id, id, attempts, answered, failed, faults, cooling_until)
    where u.workspace_id = x.workspace_id and u.phone_number_id = x.id`.execute(tx.db);
}
