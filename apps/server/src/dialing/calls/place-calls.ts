import { sql } from 'kysely';
import type { Logger } from 'pino';
import TinyQueue from 'tinyqueue';
import type { Database } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import { from } from '../../foundation/database/moves.ts';
import { tracer } from '../../foundation/observe/tracing.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { CallEvent, CallGateway, CallRequest, PlaceResult } from '../../lines/telephony/call-gateway.ts';
import type { Trunk } from '../../lines/telephony/trunk.ts';
import type { TrunksToCall } from '../../lines/trunks/trunks-to-call.ts';
import { isDoNotCallNow } from '../../platform/do-not-call/do-not-call-numbers.ts';
import { isNotHeld } from '../../platform/installation/installation.ts';
import type { RestoreGuard } from '../../platform/installation/restore-guard.ts';
import { isFailing } from '../../voices/agents/agent-health.ts';
import { callTransitions, type HeldCall, toE164 } from './call.ts';
import type { RecordCallEvents } from './call-events.ts';
import type { CallOwners } from './call-owner.ts';
import { createClaimWindow } from './claim-window.ts';
import { traceOfCall, tracePlacement } from './trace-calls.ts';

/** The most calls that one statement moves to `dialing`, and the most of these statements at a time. */
const PLACE_SIZE = 200;
const MOST_MOVES = 4;
/**
 * How long after its latest start a call may still be handed to the provider, in milliseconds (dialing.md,
 * "Placement").
 */
const HAND_OVER_MS = 1000;

/** A claimed call with what the provider is told. */
export interface CallToPlace extends HeldCall {
  fromNumber: number;
  request: CallRequest;
  /** UUID of the trunk that it goes over, if any. */
  trunkId: string | null;
}

/** Places claimed calls when their time has come. */
export interface CallPlacer {
  add(calls: CallToPlace[]): void;
  /** How many more it is likely to place in time. */
  room(): number;
  /** Gives back what is not placed yet, and whatever is added after it. */
  stop(): Promise<void>;
}

export interface PlacerOptions {
  database: Database;
  lease: Lease;
  clock: Clock;
  log: Logger;
  gatewayFor: (provider: string) => CallGateway;
  owners: Pick<CallOwners, 'mayBePlaced'>;
  recordEvents: RecordCallEvents;
  trunksToCall: TrunksToCall;
  guard: Pick<RestoreGuard, 'mayPlace'>;
  /** Takes back calls that no provider has heard of. */
  giveBack: (calls: HeldCall[]) => Promise<void>;
  onRejected: (call: HeldCall, result: Extract<PlaceResult, { status: 'rejected' }>) => void;
  /** Only a look-up may decide about this call. */
  onUnknown: (call: HeldCall) => void;
}

/**
 * Right before placement one statement moves a set of calls to `dialing`, naming server, status, what their owners say,
 * a workspace that dials, nobody who has asked not to be called since the claim, a trunk that is not paused, an agent that
 * doesn't fail, and a database
 * that was not restored; only the calls that it returns are handed to the provider, the others go back.
 */
export function createCallPlacer(options: PlacerOptions): CallPlacer {
  const { lease, clock, log } = options;
  /** Whose time comes first is the first. */
  const queue = new TinyQueue<CallToPlace>([], (one, other) => one.startAt.getTime() - other.startAt.getTime());
  const window = createClaimWindow();
  let timer: NodeJS.Timeout | undefined;
  let moves = 0;
  /** Moves, hand-overs and returns under way: none holds up the calls that are due next. */
  const underWay = new Set<Promise<void>>();
  let stopped = false;

  const schedule = () => {
    clearTimeout(timer);
    const first = queue.peek();
    if (!first || stopped || moves === MOST_MOVES) return;
    timer = setTimeout(turn, Math.max(0, first.startAt.getTime() - clock.now().getTime()));
  };

  const turn = () => {
    const now = clock.now();
    const due: CallToPlace[] = [];
    while (due.length < PLACE_SIZE && queue.length > 0 && queue.peek()!.startAt <= now) due.push(queue.pop()!);
    moves += 1;
    track(
      place(due)
        .catch((error) => log.error({ err: error, calls: due.length }, 'calls could not be placed; they go back'))
        .then(() => {
          moves -= 1;
          schedule();
        }),
    );
    schedule();
  };

  async function place(due: CallToPlace[]): Promise<void> {
    if (due.length === 0) return;
    // Beside each other: what the read takes must not make calls late, or with a slow database none were ever placed.
    const [reading, moving] = await Promise.allSettled([options.trunksToCall(due), moveIfAllowed(due)]);
    if (reading.status === 'rejected' || moving.status === 'rejected') {
      window.settled(due.length, false);
      track(options.giveBack(due));
      throw [reading, moving].find((each) => each.status === 'rejected')!.reason;
    }
    const [trunks, moved] = [reading.value, moving.value];
    const late: HeldCall[] = [];
    for (const call of due) {
      const tooLate = clock.now().getTime() > call.placeBefore.getTime() + HAND_OVER_MS || !lease.isHeld();
      if (moved.has(call.roomId) && !tooLate) track(handOver(options, call, trunks));
      else late.push(call);
    }
    window.settled(due.length, !late.some((call) => call.placeBefore <= clock.now()));
    if (late.length > 0) track(options.giveBack(late));
  }

  const moveIfAllowed = async (due: CallToPlace[]): Promise<Set<string>> =>
    (await options.guard.mayPlace()) ? moveToDialing(options, due) : new Set();

  function track(work: Promise<void>): void {
    const tracked: Promise<void> = work.then(() => void underWay.delete(tracked));
    underWay.add(tracked);
  }

  return {
    add: (calls) => {
      if (stopped) return track(options.giveBack(calls));
      window.claimed(calls.length);
      for (const call of calls) queue.push(call);
      schedule();
    },
    room: window.room,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      while (underWay.size > 0) await Promise.all(underWay);
      const left: CallToPlace[] = [];
      while (queue.length > 0) left.push(queue.pop()!);
      await options.giveBack(left);
    },
  };
}

/** SQL for whether somebody has forbidden a call `c` since it was claimed: asked only where the workspace's numbers have changed. */
const isForbiddenSince = isDoNotCallNow(sql.ref('c.to_number'), sql.ref('c.workspace_id'), sql.ref('c.campaign_id'));

/** @returns the rooms of those that may be handed over */
async function moveToDialing(
  { database, lease, clock, owners, recordEvents }: PlacerOptions,
  due: CallToPlace[],
): Promise<Set<string>> {
  const now = clock.now();
  return database.inHotLoop(async (tx) => {
    const { rows } = await sql<{ id: string; workspace_id: string }>`
      update calls c set status = 'dialing', dialed_at = ${now}
      from unnest(${due.map((call) => call.workspaceId)}::uuid[], ${due.map((call) => call.roomId)}::uuid[],
        ${due.map((call) => call.request.doNotCallRevision ?? null)}::bigint[]) as x (workspace_id, id, revision)
      where c.workspace_id = x.workspace_id and c.id = x.id and c.end_requested_at is null
        and c.status in ${from(callTransitions, 'dialing')} and c.server_id = ${lease.serverId()} and c.place_before > ${now}
        and exists (select from workspaces w where w.id = c.workspace_id and w.dialing_paused_at is null
          and (w.do_not_call_revision = x.revision or not ${isForbiddenSince}))
        and (c.trunk_id is null or (select t.status = 'active' from trunks t
          where t.workspace_id = c.workspace_id and t.id = c.trunk_id))
        and (c.simulated or not ${isFailing}) and ${owners.mayBePlaced(now)} and ${isNotHeld}
      returning c.id, c.workspace_id`.execute(tx.db);
    const started = rows.map((row) => ({ workspaceId: row.workspace_id, roomId: row.id }));
    await recordEvents(tx, 'call.started', started);
    return new Set(rows.map((row) => row.id));
  });
}

async function handOver(options: PlacerOptions, call: CallToPlace, trunks: ReadonlyMap<string, Trunk>): Promise<void> {
  const from = tracer && Date.now();
  const result = await offer(options, call, trunks);
  if (tracer) tracePlacement(tracer, call, from ?? Date.now(), result.status);
  if (result.status === 'rejected') {
    const { outcome, detail } = result;
    options.log.warn({ roomId: call.roomId, outcome, detail }, 'a call could not be placed');
    options.onRejected(call, result);
  }
  if (result.status === 'withheld') {
    options.log.warn({ roomId: call.roomId, detail: result.detail }, 'a call was not placed, and goes back');
    await options.giveBack([call]);
  }
  if (result.status === 'unknown') options.onUnknown(call);
}

/** What the provider says to a call. */
async function offer(
  { log, gatewayFor }: PlacerOptions,
  call: CallToPlace,
  trunks: ReadonlyMap<string, Trunk>,
): Promise<PlaceResult> {
  const trunk = call.trunkId === null ? undefined : trunks.get(call.trunkId);
  if (call.trunkId !== null && !trunk)
    return { status: 'rejected', outcome: 'trunk_error', detail: 'the password of the trunk can not be read' };
  try {
    return await gatewayFor(call.provider).placeCall({ ...call.request, ...(trunk && { trunk }) });
  } catch (error) {
    log.warn({ err: error, roomId: call.roomId }, 'the provider failed while a call was placed');
    return { status: 'unknown', detail: 'the provider failed' };
  }
}

/** What the provider is told of a call. */
export const callRequest = (
  call: HeldCall & { fromNumber: number },
  contact: Pick<
    CallRequest,
    | ('agentId' | 'variables' | 'metadata' | 'ringTimeoutSeconds' | 'maxCallSeconds' | 'recording')
    | ('doNotCallRevision' | 'voicemail')
  >,
): CallRequest => ({
  workspaceId: call.workspaceId,
  roomId: call.roomId,
  attempt: call.attempt,
  to: toE164(call.toNumber),
  from: toE164(call.fromNumber),
  owner: { ...call.owner, ...(call.campaignId !== null && { campaignId: call.campaignId }) },
  trace: traceOfCall(call),
  ...contact,
});

/** The end of a call that its provider has refused. */
export const rejection = (
  { roomId }: HeldCall,
  { outcome, sipStatus, sipReason, q850Cause }: Extract<PlaceResult, { status: 'rejected' }>,
  at: Date,
): CallEvent => ({
  roomId,
  at,
  type: 'ended',
  outcome,
  endedBy: 'error',
  ...(sipStatus !== undefined && { sipStatus }),
  ...(sipReason !== undefined && { sipReason }),
  ...(q850Cause !== undefined && { q850Cause }),
});
