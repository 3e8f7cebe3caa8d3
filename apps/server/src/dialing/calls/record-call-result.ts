import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import { addOptOut, raiseDoNotCall } from '../../platform/do-not-call/store.ts';
import { tellOptOuts, type WordGuard } from '../../platform/installation/tell-opt-outs.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import { ERASED_NUMBER } from '../../platform/person-data/number-in-text.ts';
import type { Call, CallRow } from './shape-call.ts';
import type { CallStore } from './store.ts';
import { keepTranscript, readWithTranscript, refuseLongTranscript } from './transcripts.ts';
import type { WithdrawCallsTo } from './withdraw-calls.ts';

/** What is recorded: of the server's own agents also whether it is all that was asked for. */
type RecordCallResult = components['schemas']['RecordCallResult'] &
  Pick<components['schemas']['CallResult'], 'dataComplete'>;

/** What recording a result works with. */
export interface CallResultDeps {
  database: Database;
  clock: Clock;
  calls: Pick<CallStore, 'find'>;
  /** Runs a change of a call under its owner's lock, and has the owner count the conversions that it answers. */
  countConversions: (
    tx: WorkspaceTx,
    call: Pick<CallRow, 'campaign_id'>,
    change: () => Promise<number>,
  ) => Promise<void>;
  /** Has whom a machine answered for called again, as its owner sees fit. */
  retryMachine: (tx: WorkspaceTx, roomId: string, now: Date) => Promise<void>;
  /** Ends what else is on its way to a person who has opted out (`withdraw-calls.ts`). */
  withdrawCallsTo: WithdrawCallsTo;
  guard: WordGuard;
}

/**
 * Records what the agent found out about a call: fields that are sent replace, the others stay, so that sending the same
 * again changes nothing. A conversion counts once a call; `optOut: true` puts the person's number on the do-not-call
 * list, and nothing here takes it off. Of a person who was erased only the conversion is kept. Throws `not_found`,
 * `invalid_state` for a call that waits to be placed and for an opt-out of an erased person, and `invalid_request` for a transcript that is too long.
 * @param auditEntry nothing if the server's own agent of the call records it
 * @param more done in the same transaction, with whether a transcript was kept
 */
export async function recordCallResult(
  { database, clock, calls, countConversions, retryMachine, withdrawCallsTo, guard }: CallResultDeps,
  workspaceId: string,
  roomId: string,
  result: RecordCallResult,
  auditEntry: AuditEntry | undefined,
  more?: (tx: WorkspaceTx, hasTranscript: boolean) => Promise<void>,
): Promise<Call> {
  refuseLongTranscript(result.transcript);
  const [now, since] = [clock.now(), guard.doubts()];
  let optedOut: number | undefined;
  const recorded = await database.inWorkspace(workspaceId, async (tx) => {
    if (result.optOut) await raiseDoNotCall(tx);
    const call = await existing(calls.find(tx, roomId));
    await countConversions(tx, call, async () => {
      const person = await lockPlaced(tx, roomId);
      const { transcript, ...sent } = person === ERASED_NUMBER ? impersonal(result) : result;
      optedOut = sent.optOut ? person : undefined;
      if (sent.optOut) await addOptOut(tx, person, 'Asked for it on a call.', now);
      const isAnew = transcript !== undefined && (await keepTranscript(tx, roomId, transcript));
      const difference = await mergeResult(tx, roomId, sent, isAnew, now);
      await more?.(tx, transcript !== undefined);
      if (sent.answeredBy === 'machine') await retryMachine(tx, roomId, now);
      return difference;
    });
    if (auditEntry) await audit(tx, auditEntry, now);
    return (await readWithTranscript(tx, calls, roomId))!;
  });
  if (optedOut !== undefined)
    await Promise.all([
      withdrawCallsTo(workspaceId, [optedOut]),
      tellOptOuts(guard, workspaceId, [optedOut], { at: clock.now(), since }),
    ]);
  return recorded;
}

/** What is kept of the result of a call whose person was erased: what is counted. Throws where it asks for more than that. */
function impersonal({ converted, optOut }: RecordCallResult): RecordCallResult {
  if (optOut)
    throw new ServiceError(
      'invalid_state',
      'The number of this call was erased: put it on the do-not-call list by its digits.',
    );
  return converted === undefined ? {} : { converted };
}

/** Holds the call's row, and answers whom it was with. One that waits has none, and loses it when it is given back. */
async function lockPlaced(tx: WorkspaceTx, roomId: string): Promise<number> {
  const { rows } = await sql<{ person: number }>`
    select case when direction = 'outbound' then to_number else from_number end as person
    from calls where workspace_id = ${tx.workspaceId} and id = ${roomId} for no key update`.execute(tx.db);
  if (rows[0]) return rows[0].person;
  throw new ServiceError(
    'invalid_state',
    'The call still waits to be placed, so it has no result. End it to take it back.',
  );
}

/** Answers by how much the call counts more as converted than before. */
async function mergeResult(
  tx: WorkspaceTx,
  roomId: string,
  sent: RecordCallResult,
  isAnew: boolean,
  now: Date,
): Promise<number> {
  const { rows } = await sql<{ difference: number }>`
    with before as (
      select id, coalesce(result, '{}') as result, ${JSON.stringify(sent)}::jsonb as sent from calls
      where workspace_id = ${tx.workspaceId} and id = ${roomId} for update
    )
    update calls c set result = case when before.result || sent = before.result and not ${isAnew} and before.result ? 'recordedAt'
      then before.result
      else before.result || sent || jsonb_build_object('recordedAt', ${now.toISOString()}::text) end
    from before where c.workspace_id = ${tx.workspaceId} and c.id = before.id
    returning coalesce((c.result ->> 'converted')::boolean, false)::int
      - coalesce((before.result ->> 'converted')::boolean, false)::int as difference`.execute(tx.db);
  return rows[0]!.difference;
}
