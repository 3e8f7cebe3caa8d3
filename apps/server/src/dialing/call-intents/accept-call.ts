import { sql } from 'kysely';
import { readTimeZone } from '../../audience/contact-lists/reading/time-zone.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId, isAgentId } from '../../foundation/values/ids.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import type { Provider } from '../../lines/phone-numbers/phone-number.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import { lockAgent } from '../../voices/agents/store.ts';
import { checkVoicemail } from '../../voices/sounds/check-voicemail.ts';
import { fromE164 } from '../calls/call.ts';
import type { IsSimulated } from '../calls/may-dial.ts';
import { USUAL_CALL_SECONDS, USUAL_RING_SECONDS } from '../calls/usual-times.ts';
import { numberPoolId, phoneNumberId } from '../campaigns/campaign-settings.ts';
import { checkCaller } from '../campaigns/check-startable.ts';
import type { NewIntent } from './intent.ts';
import { judgeCall } from './judge-call.ts';

/** The most calls of a workspace that wait. */
const MOST_WAITING = 10_000;

interface AcceptTerms {
  providers: readonly Provider[];
  operator: OperatorLimits;
  isSimulated: IsSimulated;
  now: Date;
}

/**
 * Writes the intent of a call. Throws `not_found` and `campaign_not_startable` for the number or pool that is to call,
 * `not_found` for an agent that was deleted meanwhile, `limit_reached` and `call_refused`.
 */
export async function acceptCall(
  tx: WorkspaceTx,
  terms: Pick<NewIntent, 'id' | 'toNumber' | 'startAt' | 'expiresAt' | 'callBackTerms'>,
  input: components['schemas']['CreateCall'],
  { providers, operator, isSimulated, now }: AcceptTerms,
): Promise<void> {
  await refuseMore(tx);
  await holdAgent(tx, input.agentId);
  await checkVoicemail(tx, input.voicemail);
  const caller = await callerOf(tx, input);
  const obstacle = await checkCaller(tx, caller, providers);
  if (obstacle) throw new ServiceError('campaign_not_startable', obstacle.message);
  const { callingWindows, calleeTimeZone = 'strictest' } = input;
  const timezone = readTimeZone(input.timezone ?? 'UTC')!;
  const { phone_number_id, number_pool_id } = caller;
  const fromNumber = caller.from_number === null ? null : fromE164(caller.from_number);
  const { callBackTerms } = terms;
  const hours = { ...callBackTerms, callingWindows, calleeTimeZone, timezone };
  const from = { fromNumber, phoneNumberId: phone_number_id, numberPoolId: number_pool_id };
  const waits = await judgeCall(tx, { ...terms, ...from, hours }, { operator, isSimulated });
  await tx.db
    .insertInto('call_intents')
    .values({
      workspace_id: tx.workspaceId,
      id: terms.id,
      to_number: terms.toNumber,
      agent_id: input.agentId,
      phone_number_id,
      from_number: fromNumber,
      number_pool_id,
      simulated: sql`exists (select from phone_numbers where workspace_id = ${tx.workspaceId}
        and id = ${phone_number_id} and provider = any(${providers.filter(isSimulated)}))`,
      variables: JSON.stringify(input.variables ?? {}),
      metadata: JSON.stringify(input.metadata ?? {}),
      external_id: input.externalId ?? null,
      tags: input.tags?.length ? input.tags : null,
      expires_at: terms.expiresAt,
      timezone,
      calling_windows: callingWindows ? JSON.stringify(callingWindows) : null,
      callee_time_zone: calleeTimeZone,
      call_back_terms: callBackTerms ? JSON.stringify(callBackTerms) : null,
      ring_timeout_seconds: input.ringTimeoutSeconds ?? USUAL_RING_SECONDS,
      max_call_seconds: input.maxCallSeconds ?? USUAL_CALL_SECONDS,
      voicemail_terms: input.voicemail ? JSON.stringify(input.voicemail) : null,
      next_attempt_at: waits?.until ?? terms.startAt,
      reason: waits?.reason ?? (terms.startAt > now ? 'scheduled' : null),
      // Other hours of the workspace, or a number that it trusts, may let it go before that; never before its own time.
      looked_at: waits && terms.startAt <= now ? now : null,
      created_at: now,
    })
    .execute();
}

async function refuseMore(tx: WorkspaceTx): Promise<void> {
  const { rows } = await sql`
    select from call_intents where workspace_id = ${tx.workspaceId} and next_attempt_at is not null
    offset ${sql.lit(MOST_WAITING - 1)} limit 1`.execute(tx.db);
  if (rows.length === 0) return;
  const most = MOST_WAITING.toLocaleString('en');
  throw new ServiceError(
    'limit_reached',
    `At most ${most} calls of a workspace wait. Send a batch, or end some first.`,
  );
}

/** Keeps an agent of the server's own from being deleted before the call that names it is committed. */
async function holdAgent(tx: WorkspaceTx, agentId: string): Promise<void> {
  if (!isAgentId(agentId) || (await lockAgent(tx, fromId(agentId), 'key share'))) return;
  const message = 'There is no such agent.';
  throw new ServiceError('not_found', message, { details: [{ path: '/body/agentId', message }] });
}

async function callerOf(tx: WorkspaceTx, input: components['schemas']['CreateCall']) {
  const [fromNumber, poolId] = 'fromNumber' in input ? [input.fromNumber, null] : [null, input.numberPoolId];
  return {
    phone_number_id: fromNumber === null ? null : await phoneNumberId(tx, fromNumber),
    number_pool_id: poolId === null ? null : await numberPoolId(tx, poolId),
    from_number: fromNumber,
  };
}
