import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import type { CallBackTime, ServedCall } from '../../lines/conversation/agent-request.ts';
import type { Provider } from '../../lines/phone-numbers/phone-number.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import { toE164 } from '../calls/call.ts';
import type { CallBackTerms } from '../calls/callee-hours.ts';
import { type IsSimulated, zonesOfCallee } from '../calls/may-dial.ts';
import { nextLocalTime } from '../workflows/runs/local-time.ts';
import { acceptCall } from './accept-call.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** How long after its time such a call is still placed. */
const EXPIRES_MS = DAY_MS;
const LATEST_MINUTES = 30 * 24 * 60;
/** So many calls may follow a call, each asked for in the one before it. */
const MOST_IN_A_ROW = 5;

export interface CallBackDeps {
  database: Database;
  clock: Clock;
  /** Those that are configured on this server. */
  providers: readonly Provider[];
  operator: OperatorLimits;
  isSimulated: IsSimulated;
  /** Has due intents looked at at once. */
  nudge: () => void;
}

type CampaignHours = Pick<
  Row<'campaigns'>,
  | ('calling_windows' | 'schedule_start' | 'schedule_end' | 'schedule_days' | 'holidays')
  | ('timezone' | 'callee_time_zone')
> & {
  /** Where the contact is, if its list says so. */
  own_timezones: string[] | null;
};

/** The call that is to be followed by another, as far as that goes by it. */
type Before = Pick<
  Row<'calls'>,
  | ('direction' | 'from_number' | 'to_number' | 'agent_id' | 'variables' | 'metadata')
  | ('external_id' | 'tags' | 'ring_timeout_seconds' | 'max_call_seconds')
  | ('campaign_id' | 'owner_id' | 'call_back_terms')
>;

/**
 * Has the person of a call called again by its agent, once a call, from the number that the call was made from or came to,
 * and within the hours of its campaign, or those that the call itself was bound to. What is asked for again
 * changes nothing. It waits for open hours as every call does. Throws `call_refused` for a person that is not to be called,
 * `limit_reached` for one that was called back often, and what keeps such a call from being taken on.
 * @returns when it is to be placed
 */
export async function callBack(deps: CallBackDeps, call: ServedCall, time: CallBackTime): Promise<Date> {
  const { database, clock, nudge } = deps;
  const { workspaceId, roomId, agentId } = call;
  const now = clock.now();
  const id = idOf(roomId);
  const startAt = await database.inWorkspace(workspaceId, async (tx) => {
    // Whoever asks at the same time waits here, and finds what the first one has asked for.
    const before = await readCall(tx, roomId);
    const known = await placedAt(tx, id);
    if (known) return known;
    const [person, ours] =
      before.direction === 'outbound' ? [before.to_number, before.from_number] : [before.from_number, before.to_number];
    if (person === null || ours === null) throw new ServiceError('call_refused', 'The caller has withheld its number.');
    const terms = await termsOf(tx, before);
    const at = timeOf(time, { person, terms, now });
    await acceptCall(
      tx,
      { id, toNumber: person, startAt: at, expiresAt: new Date(at.getTime() + EXPIRES_MS), callBackTerms: terms },
      {
        ...{ agentId, fromNumber: toE164(ours), toNumber: toE164(person) },
        ...(before.variables !== null && { variables: before.variables }),
        metadata: before.metadata,
        ...(before.external_id !== null && { externalId: before.external_id }),
        ...(before.tags !== null && { tags: before.tags }),
        ringTimeoutSeconds: before.ring_timeout_seconds,
        maxCallSeconds: before.max_call_seconds,
        ...(terms.callingWindows && {
          callingWindows: terms.callingWindows.map((window) => ({ ...window, days: [...window.days] })),
        }),
        ...(terms.timezone !== undefined && { timezone: terms.timezone }),
        ...(terms.calleeTimeZone && { calleeTimeZone: terms.calleeTimeZone }),
      },
      { ...deps, now },
    );
    return at;
  });
  nudge();
  return startAt;
}

/** One call back follows a call: it has an ID that is made of the call's. */
function idOf(roomId: string): string {
  const hex = createHash('sha256').update(`call back ${roomId}`).digest('hex');
  return `${roomId.slice(0, 14)}7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

async function placedAt(tx: WorkspaceTx, id: string): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date }>`
    select coalesce(next_attempt_at, created_at) as at from call_intents
      where workspace_id = ${tx.workspaceId} and id = ${id}
    union all
    select start_at as at from calls where workspace_id = ${tx.workspaceId} and id = ${id} limit 1`.execute(tx.db);
  return rows[0]?.at;
}

async function readCall(tx: WorkspaceTx, roomId: string): Promise<Before> {
  const { rows } = await sql<Before>`
    select direction, from_number, to_number, agent_id, variables, metadata, external_id, tags, ring_timeout_seconds,
      max_call_seconds, campaign_id, owner_id, call_back_terms
    from calls where workspace_id = ${tx.workspaceId} and id = ${roomId} for no key update`.execute(tx.db);
  if (rows[0]) return rows[0];
  throw new ServiceError('invalid_state', 'The call is not there any more.');
}

async function termsOf(tx: WorkspaceTx, before: Before): Promise<CallBackTerms> {
  const { times = 0, ...hours } = before.call_back_terms ?? {};
  if (times >= MOST_IN_A_ROW)
    throw new ServiceError('limit_reached', `The person has been called back ${MOST_IN_A_ROW} times in a row.`);
  return { ...(before.campaign_id === null ? hours : await hoursOf(tx, before)), times: times + 1 };
}

/** The hours of a call's campaign; none once it is gone. */
async function hoursOf(
  tx: WorkspaceTx,
  { campaign_id: campaignId, owner_id: ownerId }: Before,
): Promise<Omit<CallBackTerms, 'times'>> {
  const { rows } = await sql<CampaignHours>`
    select calling_windows, schedule_start, schedule_end, schedule_days, holidays, timezone, callee_time_zone,
      (select l.timezones from campaign_contacts c join campaign_lanes l using (workspace_id, campaign_id, lane)
        where c.workspace_id = p.workspace_id and c.campaign_id = p.id and c.id = ${ownerId} and l.is_own) as own_timezones
    from campaigns p where workspace_id = ${tx.workspaceId} and id = ${campaignId}`.execute(tx.db);
  if (!rows[0]) return {};
  const { timezone, callee_time_zone: calleeTimeZone, holidays, own_timezones } = rows[0];
  const ownTimezone = own_timezones?.[0];
  const own = ownTimezone === undefined ? {} : { ownTimezone };
  return { callingWindows: windowsOf(rows[0]), timezone, calleeTimeZone, holidays, ...own };
}

const windowsOf = ({ calling_windows, schedule_days: days, schedule_start, schedule_end }: CampaignHours) =>
  calling_windows ?? [{ days, start: schedule_start ?? 0, end: schedule_end ?? 1440 }];

/** A time of day is the person's; if it may be in several time zones, it has come in all of them. */
function timeOf(
  { inMinutes, at }: CallBackTime,
  { person, terms, now }: { person: number; terms: CallBackTerms; now: Date },
): Date {
  if (at === undefined) {
    const minutes = Math.min(Math.max(inMinutes ?? 1, 1), LATEST_MINUTES);
    return new Date(now.getTime() + minutes * MINUTE_MS);
  }
  const [hour = 0, minute = 0] = at.split(':').map(Number);
  return nextLocalTime({ time: hour * 60 + minute }, zonesOfCallee(person, terms), now);
}
