import { sql } from 'kysely';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import { spread } from '../../foundation/values/spread.ts';
import { askForCall } from '../calls/ask-for-call.ts';
import { toE164 } from '../calls/call.ts';
import type { RecordCallEvents } from '../calls/call-events.ts';
import type { CallAnswer, CallTerms } from '../calls/call-wish.ts';
import type { CallToPlace } from '../calls/place-calls.ts';
import { giveUpIntents } from './give-up.ts';
import { INTENT, type IntentKey, type IntentRow, whereIntentIs } from './intent.ts';

/** When an intent that could not be placed is looked at again: after 1, 2, 5 and then every 10 minutes, as runs are. */
const CHECK_MINUTES = [1, 2, 5, 10];

/** An intent that a claim has locked, and its place. */
type LockedIntent = IntentRow & { place: string };

/**
 * Takes up an intent whose time has come, in one short transaction: commits its call as `queued`, held by this server, or
 * notes why not and when it is looked at again, or ends it where its callee is not to be called at all. One that another
 * server is claiming is passed over.
 */
export const claimIntent = (
  database: Database,
  key: IntentKey,
  terms: CallTerms,
  recordEvents: RecordCallEvents,
): Promise<CallToPlace | undefined> =>
  database.inHotLoop(async (tx) => {
    const intent = await lockDue(tx, key, terms.now);
    if (!intent) return undefined;
    const answer = await askForCall(tx, wishOf(intent), terms);
    if (answer.kind === 'queued') {
      await sql`
        update call_intents set next_attempt_at = null, attempt = attempt + 1, reason = null, checks = 0, looked_at = null
        where ctid = ${intent.place}::tid`.execute(tx.db);
      return answer.call;
    }
    if (answer.kind === 'blocked') await putOff(tx, intent, answer, terms.now);
    else {
      const refused = { status: 'failed', outcome: answer.outcome, reason: sql`null` } as const;
      await giveUpIntents(tx, sql`select ${intent.place}::tid`, refused, terms.now, recordEvents);
    }
    return undefined;
  });

/** Its row is locked first: all who lock another row with it leave it alone while it is locked. */
async function lockDue(tx: EngineTx, { workspaceId, roomId }: IntentKey, now: Date): Promise<LockedIntent | undefined> {
  const { rows } = await sql<LockedIntent>`
    select i.*, i.ctid as place from call_intents i where ctid = (
      select ctid from call_intents t ${whereIntentIs(sql`${workspaceId}`, sql`${roomId}::uuid`)})
    and i.next_attempt_at <= ${now} and i.expires_at > ${now} for no key update skip locked`.execute(tx.db);
  return rows[0];
}

const wishOf = (intent: IntentRow) => ({
  workspaceId: intent.workspace_id,
  owner: { kind: INTENT, id: intent.id },
  roomId: intent.id,
  attempt: intent.attempt + 1,
  to: toE164(intent.to_number),
  from: intent.number_pool_id === null ? { number: toE164(intent.from_number!) } : { poolId: intent.number_pool_id },
  agentId: intent.agent_id,
  variables: intent.variables,
  metadata: intent.metadata,
  externalId: intent.external_id,
  tags: intent.tags,
  ringTimeoutSeconds: intent.ring_timeout_seconds,
  maxCallSeconds: intent.max_call_seconds,
  recording: false,
  voicemail: intent.voicemail_terms ?? undefined,
  asksAgain: true,
  callBacks: intent.call_back_terms?.times ?? 0,
  hours: {
    ...intent.call_back_terms,
    callingWindows: intent.calling_windows ?? undefined,
    timezone: intent.timezone,
    calleeTimeZone: intent.callee_time_zone,
  },
});

async function putOff(
  tx: EngineTx,
  { id, place, checks }: LockedIntent,
  { reason, until }: CallAnswer & { kind: 'blocked' },
  now: Date,
): Promise<void> {
  const minutes = CHECK_MINUTES[Math.min(checks, CHECK_MINUTES.length - 1)]!;
  const checkAt = until ?? new Date(now.getTime() + minutes * 60_000 * (0.9 + spread(id, checks) / 5));
  await sql`
    update call_intents set next_attempt_at = ${checkAt}, reason = ${reason}, checks = least(checks + 1, 100),
      looked_at = ${now}
    where ctid = ${place}::tid`.execute(tx.db);
}
