import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import { holdServer, type Lease } from '../../foundation/database/lease.ts';
import { from } from '../../foundation/database/moves.ts';
import type { Row } from '../../foundation/database/schema.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { type Limiter, limiter, Shares } from '../../foundation/values/limiter.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { mayCall } from '../../lines/phone-numbers/may-call.ts';
import type { CallGateway, InboundCall } from '../../lines/telephony/call-gateway.ts';
import type { ArrivingCall } from '../../platform/webhooks/ask-inbound-webhook.ts';
import type { InboundDecision } from '../../platform/webhooks/read-inbound-decision.ts';
import { lockAgentRoom } from '../../voices/agents/agent-room.ts';
import type { AgentDirectory } from '../../voices/agents/directory.ts';
import { callTransitions, fromE164, type HeldCall } from './call.ts';
import type { RecordCallEvents } from './call-events.ts';
import { USUAL_CALL_SECONDS } from './usual-times.ts';

const COMMITTED_AT_ONCE = 4;
/** Those that wait for it, half of them to one number. */
const MOST_AT_A_TIME = 200;

/** Asks a number's webhook who takes a call. */
export type AskWhoTakes = (call: ArrivingCall) => Promise<InboundDecision>;

export interface ReceiveDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  lease: Lease;
  agents: AgentDirectory;
  /** By the provider's name of a phone number. */
  gateways: ReadonlyMap<string, CallGateway>;
  recordEvents: RecordCallEvents;
  /** Has the events of calls written by this process, or no longer. */
  hold: (calls: HeldCall[]) => void;
  release: (calls: HeldCall[]) => void;
  /** Has calls looked up until the provider can say what became of them. */
  watch: (calls: HeldCall[]) => void;
  ask: AskWhoTakes;
  /** The most calls of a workspace at once that have arrived; any number by default. */
  maxInboundCalls?: number | undefined;
}

type CalledNumber = Pick<
  Row<'phone_numbers'>,
  | 'workspace_id'
  | 'id'
  | 'provider'
  | 'trunk_id'
  | 'inbound_agent_id'
  | 'inbound_webhook_url'
  | 'allowed_inbound_countries'
>;

/**
 * Takes calls that arrive: commits them, asks the number's webhook who takes them, and answers or declines. Calls to a
 * number that is not active, or not in one workspace alone, are declined and leave nothing.
 * @returns what ends it, when the calls that are just arriving are answered
 */
export function receiveCalls(deps: ReceiveDeps): { close(): Promise<void> } {
  const arriving = new Set<Promise<void>>();
  const inTurn = limiter(COMMITTED_AT_ONCE);
  const places = new Shares(MOST_AT_A_TIME);
  const unsubscribe = [...new Set(deps.gateways.values())].map((gateway) =>
    gateway.onInbound((call) => {
      const work: Promise<void> = receive(deps, { inTurn, places }, gateway, call)
        .catch((error) => {
          deps.log.error({ err: error }, 'an inbound call could not be taken');
          return gateway.rejectInbound(call, 'unavailable');
        })
        .catch((error) => deps.log.warn({ err: error }, 'an inbound call could not be turned away'))
        .finally(() => arriving.delete(work));
      arriving.add(work);
    }),
  );
  return {
    close: async () => {
      for (const remove of unsubscribe) remove();
      await Promise.all(arriving);
    },
  };
}

async function receive(
  deps: ReceiveDeps,
  { inTurn, places }: { inTurn: Limiter; places: Shares },
  gateway: CallGateway,
  call: InboundCall,
): Promise<void> {
  const providers = [...deps.gateways].filter(([, each]) => each === gateway).map(([name]) => name);
  if (!places.take(call.to)) return gateway.rejectInbound(call, 'unavailable');
  const committed = await inTurn(call.to, async () => {
    const number = await calledNumber(deps.database, call, providers);
    return number && { number, held: await commitCall(deps, gateway, number, call) };
  }).finally(() => places.giveBack(call.to));
  if (!committed) {
    deps.log.warn({ to: call.to }, 'a call to no number of ours, or to one of several workspaces, is declined');
    return gateway.rejectInbound(call, 'declined');
  }
  const { number, held } = committed;
  if (!held) {
    deps.log.warn(
      { to: call.to },
      'a workspace has as many calls that have arrived as OPERATOR_MAX_INBOUND_CALLS says',
    );
    return gateway.rejectInbound(call, 'no_room');
  }
  try {
    await take(deps, gateway, number, held, call);
  } catch (error) {
    // It is turned away, and what came of it is kept once the database can.
    deps.watch([held]);
    throw error;
  }
}

/** Answers or declines a call that is kept. */
async function take(
  deps: ReceiveDeps,
  gateway: CallGateway,
  number: CalledNumber,
  held: HeldCall,
  call: InboundCall,
): Promise<void> {
  const found = await takerOf(deps, number, held, call);
  const taker = found && (await withSeconds(deps, held, found));
  const assigned = taker ? await assign(deps, held, taker) : 'declined';
  if (!taker || assigned !== 'taken') {
    await endDeclined(deps, held);
    return gateway.rejectInbound(call, assigned === 'no_room' ? 'no_room' : 'declined');
  }
  try {
    await gateway.answerInbound(call, {
      workspaceId: held.workspaceId,
      roomId: held.roomId,
      ...taker,
      maxCallSeconds: taker.maxCallSeconds,
    });
  } catch (error) {
    deps.log.warn({ err: error, roomId: held.roomId }, 'the provider failed while a call was answered');
    deps.watch([held]);
  }
}

/** The active number that is called, of the workspace that the call says, or of whichever; nothing where none, or several, have it. */
export async function calledNumber(
  database: Pick<Database, 'inEngine'>,
  { to, workspaceId }: Pick<InboundCall, 'to' | 'workspaceId'>,
  providers: string[],
): Promise<CalledNumber | undefined> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<CalledNumber>`
      select workspace_id, id, provider, trunk_id, inbound_agent_id, inbound_webhook_url, allowed_inbound_countries
      from phone_numbers where phone_number = ${to} and status = 'active' and provider = any(${providers})
        and (${workspaceId ?? null}::uuid is null or workspace_id = ${workspaceId})`.execute(db),
  );
  return rows.length === 1 ? rows[0] : undefined;
}

/**
 * The call as it rings, committed before anybody is asked, with the agent that is bound to the number; nothing if its
 * workspace has as many as whoever runs the server lets it have.
 */
async function commitCall(
  { database, lease, hold, recordEvents, maxInboundCalls }: ReceiveDeps,
  gateway: CallGateway,
  number: CalledNumber,
  { to, from, at }: InboundCall,
): Promise<HeldCall | undefined> {
  const roomId = newUuid();
  const call: HeldCall = {
    workspaceId: number.workspace_id,
    roomId,
    owner: { kind: 'arrival', id: roomId },
    campaignId: null,
    toNumber: fromE164(to),
    fromNumber: from === undefined ? null : fromE164(from),
    provider: number.provider,
    attempt: 1,
    startAt: at,
    placeBefore: at,
  };
  const serverId = lease.serverId();
  const isKept = await database.inEngine(async (tx) => {
    if (!(await hasRoom(tx, call.workspaceId, maxInboundCalls))) return false;
    if (!(await holdServer(tx, serverId))) throw new ServiceError('unavailable', 'This server was given up.');
    const bound = number.inbound_agent_id;
    const room = bound === null ? undefined : await lockAgentRoom(tx, call.workspaceId, bound);
    await tx.db
      .insertInto('calls')
      .values({
        workspace_id: call.workspaceId,
        id: call.roomId,
        status: 'ringing',
        direction: 'inbound',
        owner_kind: call.owner.kind,
        owner_id: call.owner.id,
        simulated: gateway.capabilities.simulated,
        from_number: call.fromNumber,
        to_number: call.toNumber,
        agent_id: bound,
        limited_agent_id: room && room.left > 0 ? room.limitedAgentId : null,
        phone_number_id: number.id,
        trunk_id: number.trunk_id,
        attempt: call.attempt,
        server_id: serverId,
        start_at: at,
        place_before: at,
        ring_timeout_seconds: 0,
        max_call_seconds: USUAL_CALL_SECONDS,
        queued_at: at,
        ringing_at: at,
      })
      .execute();
    await recordEvents(tx, 'call.started', [call]);
    return true;
  });
  if (!isKept) return undefined;
  hold([call]);
  return call;
}

/** Counted under a lock of the workspace, so that calls which arrive on several servers are no more together. */
async function hasRoom({ db }: EngineTx, workspaceId: string, most: number | undefined): Promise<boolean> {
  if (most === undefined) return true;
  await sql`select from workspaces where id = ${workspaceId} for no key update`.execute(db);
  const { rows } = await sql<{ live: number }>`
    select count(*) as live from calls
    where workspace_id = ${workspaceId} and ended_at is null and direction = 'inbound'`.execute(db);
  return rows[0]!.live < most;
}

interface Taker {
  agentId: string;
  variables?: Record<string, string>;
}

/** With how long the call may last: no longer than its agent allows, as far as the agent can be asked. */
async function withSeconds({ agents }: ReceiveDeps, { workspaceId }: HeldCall, taker: Taker) {
  const agent = await agents.resolve(taker.agentId, workspaceId).catch(() => undefined);
  return { ...taker, maxCallSeconds: Math.min(USUAL_CALL_SECONDS, agent?.maxCallSeconds ?? USUAL_CALL_SECONDS) };
}

/** Who takes the call; nobody where the caller's country is not allowed, the webhook rejects it, or no agent is bound. */
async function takerOf(
  { agents, ask, log }: ReceiveDeps,
  number: CalledNumber,
  { roomId, workspaceId }: HeldCall,
  { to, from }: InboundCall,
): Promise<Taker | undefined> {
  const bound = number.inbound_agent_id === null ? undefined : { agentId: number.inbound_agent_id };
  const countries = number.allowed_inbound_countries;
  if (countries.length > 0 && !(from && mayCall({ countries: [countries], premiumRate: true }, fromE164(from)))) {
    return undefined;
  }
  if (number.inbound_webhook_url === null) return bound;
  const arriving = { workspaceId, roomId, phoneNumberId: number.id, to, webhookUrl: number.inbound_webhook_url };
  const decision = await ask({ ...arriving, ...(from !== undefined && { from }) });
  if ('reject' in decision) return undefined;
  const { agentId = bound?.agentId, ...rest } = decision;
  const agent = agentId === undefined ? undefined : await agents.resolve(agentId, workspaceId).catch(() => undefined);
  if (agent) return { agentId: agent.id, ...rest };
  if (agentId !== undefined) log.warn({ roomId, agentId }, 'an inbound webhook named no known agent');
  return bound;
}

/**
 * Notes who takes the call. It may have been ended meanwhile, and then is `declined`; or the agent has no room for it: room
 * was taken for the bound one when the call came in.
 */
async function assign(
  { database, log }: ReceiveDeps,
  call: HeldCall,
  { agentId, variables, maxCallSeconds }: Taker & { maxCallSeconds: number },
): Promise<'taken' | 'declined' | 'no_room'> {
  const { workspaceId, roomId } = call;
  return database.inEngine(async (tx) => {
    const room = await lockAgentRoom(tx, workspaceId, agentId);
    const limited = room?.limitedAgentId ?? null;
    const { rows } = await sql`
      update calls set agent_id = ${agentId}, limited_agent_id = ${limited},
        max_call_seconds = ${maxCallSeconds}, variables = ${variables ? JSON.stringify(variables) : null}
      where workspace_id = ${workspaceId} and id = ${roomId} and ended_at is null
        and (${room?.left !== 0} or limited_agent_id = ${limited}) returning id`.execute(tx.db);
    if (rows.length === 1) return 'taken';
    if (room?.left !== 0) return 'declined';
    log.warn({ roomId, agentId }, 'an agent has no room for an inbound call');
    return 'no_room';
  });
}

async function endDeclined({ database, clock, release, recordEvents }: ReceiveDeps, call: HeldCall): Promise<void> {
  await database.inEngine(async (tx) => {
    const { rows } = await sql`
      update calls set status = 'failed', outcome = 'declined', ended_by = 'service', ended_at = ${clock.now()}
      where workspace_id = ${call.workspaceId} and id = ${call.roomId}
        and status in ${from(callTransitions, 'failed', 'ringing')} returning id`.execute(tx.db);
    if (rows.length === 1) await recordEvents(tx, 'call.ended', [call]);
  });
  release([call]);
}
