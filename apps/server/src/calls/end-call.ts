import { setTimeout as sleep } from 'node:timers/promises';
import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import { type Database, type EngineTx, forWorkspace } from '../database/database.ts';
import type { CallStatus } from '../database/schema.ts';
import { toId } from '../ids.ts';
import { type AuditEntry, audit } from '../journal/record.ts';
import { notFound, ServiceError } from '../service-error.ts';
import type { TelephonyGateway } from '../telephony/gateway.ts';
import { type HeldCall, toE164 } from './call.ts';
import type { CallOwner } from './call-owner.ts';

type CallEnded = components['schemas']['CallEnded'];

/** How long the answer waits for the end, and how often it looks. */
const WAIT_MS = 2000;
const LOOK_MS = 100;

/** What ending a call works with. */
export interface EndCallDeps {
  database: Database;
  clock: Clock;
  owner: CallOwner;
  /** Calls whose events this process writes. */
  held: Map<string, HeldCall>;
  gatewayFor: (provider: string) => TelephonyGateway;
  /** Has calls looked up until the provider can say what became of them. */
  watch: (calls: HeldCall[]) => void;
}

interface LiveCall {
  id: string;
  status: CallStatus;
  campaign_id: string | null;
  contact_id: string | null;
  workflow_run_id: string | null;
  from_number: number;
  to_number: number;
  provider: string;
  attempt: number;
  start_at: Date;
  place_before: Date;
  dialed_at: Date | null;
  ended_at: Date | null;
}

/**
 * Ends a call: takes back one that waits to be dialled, hangs up one that is up. Answers when it has ended, or after two
 * seconds. Throws `not_found`, `call_not_active` for one that has ended, and `unavailable` when the provider can't be asked.
 */
export async function endCall(
  deps: EndCallDeps,
  workspaceId: string,
  roomId: string,
  actor: AuditEntry,
): Promise<CallEnded> {
  const { database, clock } = deps;
  const now = clock.now();
  const call = await database.inEngine(async (tx) => {
    const found = await requestEnd(tx, deps.owner, workspaceId, roomId, now);
    await audit(forWorkspace(tx, workspaceId), actor, now);
    return found;
  });
  if (call.ended_at) return ended(call);
  const held = toHeld(workspaceId, call);
  // Before the provider is asked, so that the end is written here.
  const isForeign = !deps.held.has(roomId);
  if (isForeign) deps.held.set(roomId, held);
  let isOpen = false;
  try {
    const last = await hangUp(deps, workspaceId, held);
    isOpen = last.ended_at === null;
    return ended(last);
  } finally {
    if (isOpen) deps.watch([held]);
    else if (isForeign) deps.held.delete(roomId);
  }
}

/** Takes a queued call back, or notes on a live one that it is to end. */
async function requestEnd(
  tx: EngineTx,
  owner: CallOwner,
  workspaceId: string,
  roomId: string,
  now: Date,
): Promise<LiveCall> {
  const seen = await readCall(tx, workspaceId, roomId);
  if (!seen) throw notFound();
  const { campaign_id: campaignId } = seen;
  if (campaignId) await owner.lock(tx, [{ workspaceId, campaignId }]);
  const named = sql`workspace_id = ${workspaceId} and id = ${roomId} and ended_at is null`;
  const takenBack = await sql`
    update calls set status = 'cancelled', outcome = 'cancelled', ended_by = 'service', ended_at = ${now},
      end_requested_at = ${now}
    where ${named} and status = 'queued' returning id`.execute(tx.db);
  if (takenBack.rows.length > 0) {
    const { contact_id: contactId, workflow_run_id: workflowRunId, attempt } = seen;
    const call = { workspaceId, roomId, campaignId, contactId, workflowRunId, attempt, endedAt: now };
    await owner.onCallsEnded(tx, [{ ...call, outcome: 'cancelled' }], now);
  } else {
    const live = await sql`
      update calls set end_requested_at = coalesce(end_requested_at, ${now})
      where ${named} and status in ('dialing', 'ringing', 'in_progress') returning id`.execute(tx.db);
    if (live.rows.length === 0) throw new ServiceError('call_not_active', 'The call has ended already.');
  }
  return (await readCall(tx, workspaceId, roomId))!;
}

/** Asks the provider, and waits for the end. A provider that doesn't have the call yet is asked again. */
async function hangUp(deps: EndCallDeps, workspaceId: string, held: HeldCall): Promise<LiveCall> {
  const gateway = deps.gatewayFor(held.provider);
  const reference = {
    roomId: held.roomId,
    to: toE164(held.toNumber),
    from: toE164(held.fromNumber),
    placedAt: held.startAt,
  };
  const until = performance.now() + WAIT_MS;
  let isAsked = false;
  for (;;) {
    if (!isAsked) {
      const answer = await gateway.endCall(reference).catch((cause) => {
        throw new ServiceError('unavailable', 'The provider can not be reached right now. Try again.', { cause });
      });
      isAsked = answer !== 'absent';
    }
    const call = await deps.database.inEngine((tx) => readCall(tx, workspaceId, held.roomId));
    if (!call) throw notFound();
    if (call.ended_at || performance.now() >= until) return call;
    await sleep(LOOK_MS);
  }
}

async function readCall(tx: EngineTx, workspaceId: string, roomId: string): Promise<LiveCall | undefined> {
  const { rows } = await sql<LiveCall>`
    select c.id, c.status, c.campaign_id, c.contact_id, c.workflow_run_id, c.from_number, c.to_number, n.provider, c.attempt, c.start_at,
      c.place_before, c.dialed_at, c.ended_at
    from calls c join phone_numbers n on n.workspace_id = c.workspace_id and n.id = c.phone_number_id
    where c.workspace_id = ${workspaceId} and c.id = ${roomId}`.execute(tx.db);
  return rows[0];
}

const toHeld = (workspaceId: string, call: LiveCall): HeldCall => ({
  workspaceId,
  roomId: call.id,
  campaignId: call.campaign_id,
  contactId: call.contact_id,
  toNumber: call.to_number,
  fromNumber: call.from_number,
  provider: call.provider,
  attempt: call.attempt,
  startAt: call.dialed_at ?? call.start_at,
  placeBefore: call.place_before,
});

const ended = ({ id, status, ended_at }: LiveCall): CallEnded => ({
  roomId: toId('room', id),
  status,
  ...(ended_at && { endedAt: ended_at.toISOString() }),
});
