import { sql } from 'kysely';
import { giveUpIntents, withdrawn } from '../../dialing/call-intents/give-up.ts';
import type { RecordCallEvents } from '../../dialing/calls/call-events.ts';
import type { EngineTx } from '../../foundation/database/database.ts';
import type { RunningErasure } from './erasure.ts';
import type { Outcome } from './outcome.ts';

const MOST = 1000;

/** Takes back the calls to a number that wait to be placed: they end as cancelled, and are erased like others then. */
export async function takeBackCalls(
  tx: EngineTx,
  { workspace_id: workspaceId, phone_number: number }: RunningErasure,
  now: Date,
  recordEvents: RecordCallEvents,
): Promise<Outcome> {
  const places = sql`
    select ctid from call_intents
    where workspace_id = ${workspaceId} and to_number = ${number} and next_attempt_at is not null
    order by id limit ${sql.lit(MOST)} for update`;
  const ended = await giveUpIntents(tx, places, withdrawn, now, recordEvents);
  return { next: ended.length === MOST ? 'again' : 'step' };
}
