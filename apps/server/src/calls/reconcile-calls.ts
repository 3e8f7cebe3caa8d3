import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Database, EngineTx } from '../database/database.ts';
import type { Lease } from '../database/lease.ts';
import { every, type Repeating } from '../jobs/every.ts';
import type { CallEvent, CallState, TelephonyGateway } from '../telephony/gateway.ts';
import { type HeldCall, referenceOf } from './call.ts';
import { keysOf, type LiveRow, liveColumns, toHeld } from './call-row.ts';

/** How often calls in doubt are looked up, and how many at once. */
const LOOK_UP_MS = 1000;
const LOOK_UP_SIZE = 200;
/**
 * How long after its latest start a call that the provider doesn't know may still be on its way there: its hand-over (1 s),
 * the simulator's patience (2 s) and a transaction of a process that was frozen (3 s).
 */
const ON_ITS_WAY_MS = 6000;
/** How long a provider may be out of reach before a call is closed as `unknown`, never to be redialled by itself. */
const GIVE_UP_MS = 10 * 60_000;
/** How far over its longest ring and talk a call is before its end is taken for lost. */
const OVERDUE_SECONDS = 30;
/** The most calls that are taken over from a lost server at once. */
const TAKE_OVER_SIZE = 500;

/** Settles calls in doubt, and takes over those of lost servers. */
export interface CallReconciler {
  /** Has calls that this process holds looked up until the provider can say what became of them. */
  watch(calls: readonly HeldCall[]): void;
  start(): void;
  stop(): Promise<void>;
}

/**
 * A lost server's `queued` calls go back: no provider knew of them. Those that were `dialing` or later are looked up,
 * and only the provider's answer decides (engine.md, "Leases"; dialing.md, "What is not promised").
 */
export function createCallReconciler(options: {
  database: Database;
  lease: Lease;
  leaseSeconds: number;
  /** The call of a room that this process holds. */
  callOf: (roomId: string) => HeldCall | undefined;
  allHeld: () => HeldCall[];
  /** Has this process hold calls no longer. */
  release: (calls: HeldCall[]) => void;
  /** Has this process hold calls that are in doubt. */
  watch: (calls: HeldCall[]) => void;
  clock: Clock;
  log: Logger;
  gatewayFor: (provider: string) => TelephonyGateway;
  record: (events: CallEvent[]) => void;
  /** Takes back calls that the provider surely doesn't know. */
  giveBack: (calls: HeldCall[]) => Promise<void>;
  /** Takes back those of some calls that are still queued. */
  giveBackQueued: (calls: HeldCall[]) => Promise<void>;
}): CallReconciler {
  const { database, lease, callOf, clock, log } = options;
  /** Calls in doubt, with the time since when they are. */
  const doubtful = new Map<string, Date>();
  let loops: Repeating[] = [];
  let knownAs = lease.serverId();

  const watch = (calls: readonly HeldCall[]) => {
    for (const { roomId } of calls) if (!doubtful.has(roomId)) doubtful.set(roomId, clock.now());
  };

  async function lookUpAll(): Promise<void> {
    const absent: HeldCall[] = [];
    for (const roomId of doubtful.keys()) if (!callOf(roomId)) doubtful.delete(roomId);
    const next = [...doubtful].slice(0, LOOK_UP_SIZE);
    // To the end of the line, so that calls of a provider that is out of reach don't hold up the others.
    for (const [roomId, since] of next) {
      doubtful.delete(roomId);
      doubtful.set(roomId, since);
    }
    const calls = next.map(([roomId]) => callOf(roomId)!);
    await Promise.all(
      calls.map(async (call) => {
        const state = await lookUp(call);
        if (settle(call, state) === 'absent') absent.push(call);
      }),
    );
    for (const call of absent) doubtful.delete(call.roomId);
    await options.giveBack(absent);
  }

  async function lookUp(call: HeldCall): Promise<CallState> {
    try {
      return await options.gatewayFor(call.provider).lookup(referenceOf(call));
    } catch (error) {
      log.warn({ err: error, roomId: call.roomId }, 'a call could not be looked up');
      return { state: 'undetermined', detail: 'the provider failed' };
    }
  }

  /** Records what a look-up says. */
  function settle(call: HeldCall, state: CallState): 'settled' | 'absent' | 'open' {
    const now = clock.now();
    const { roomId } = call;
    if (state.state === 'absent') {
      return now.getTime() > call.placeBefore.getTime() + ON_ITS_WAY_MS ? 'absent' : 'open';
    }
    if (state.state === 'undetermined') {
      if (now.getTime() - doubtful.get(roomId)!.getTime() < GIVE_UP_MS) return 'open';
      log.error({ roomId, detail: state.detail }, 'what became of a call can not be known; it is closed as unknown');
      options.record([{ roomId, at: now, type: 'ended', outcome: 'unknown', endedBy: 'error' }]);
    } else {
      const events: CallEvent[] = [];
      if (state.ringingAt) events.push({ roomId, at: state.ringingAt, type: 'ringing' });
      if (state.answeredAt) events.push({ roomId, at: state.answeredAt, type: 'answered' });
      if (state.state === 'ended') {
        const { outcome, endedBy, endedAt, sipStatus } = state;
        events.push({
          roomId,
          at: endedAt,
          type: 'ended',
          outcome,
          endedBy,
          ...(sipStatus !== undefined && { sipStatus }),
        });
      }
      options.record(events);
    }
    doubtful.delete(roomId);
    return 'settled';
  }

  /** After the lease was lost: what another server has taken over or ended is not ours to count any more. */
  async function forgetLost(): Promise<void> {
    const me = lease.serverId();
    if (me === knownAs) return;
    const calls = options.allHeld();
    const { rows } = await database.inEngine(({ db }) =>
      sql<{ id: string }>`
        select c.id from ${keysOf(calls)} join calls c on c.workspace_id = x.workspace_id and c.id = x.id
        where c.ended_at is null and c.server_id = ${me}`.execute(db),
    );
    const ours = new Set(rows.map((row) => row.id));
    options.release(calls.filter(({ roomId }) => !ours.has(roomId)));
    knownAs = me;
  }

  async function takeOverAll(): Promise<void> {
    while (await takeOver());
    await forgetLost();
  }

  /** Takes over the calls of servers whose lease has ended. Answers whether there may be more. */
  async function takeOver(): Promise<boolean> {
    const me = lease.serverId();
    const rows = await database.inEngine(async (tx) => {
      const dead = await sql<{ id: string; given_up: boolean }>`
        select id, lease_until = '-infinity' as given_up from servers where lease_until < clock_timestamp() and id <> ${me}
        order by id limit 1 for update skip locked`.execute(tx.db);
      const [server] = dead.rows;
      if (!server) return [];
      const taken = await takeCalls(tx, server.id, me);
      if (taken.length < TAKE_OVER_SIZE) await sql`delete from servers where id = ${server.id}`.execute(tx.db);
      const note = { server: server.id, calls: taken.length };
      if (server.given_up) log.info(note, 'a server has stopped; its calls are followed from here');
      else log.warn(note, 'a server was lost; its calls are taken over');
      return taken;
    });
    await settleQueuedAndWatch(rows);
    return rows.length === TAKE_OVER_SIZE;
  }

  async function takeCalls(tx: EngineTx, from: string, to: string): Promise<LiveRow[]> {
    const { rows } = await sql<LiveRow>`
      update calls c set server_id = ${to}
      from phone_numbers n
      where n.workspace_id = c.workspace_id and n.id = c.phone_number_id
        and (c.workspace_id, c.id) in (select workspace_id, id from calls
          where server_id = ${from} and ended_at is null limit ${sql.raw(String(TAKE_OVER_SIZE))})
      returning ${liveColumns}`.execute(tx.db);
    return rows;
  }

  /** Calls of ours whose end was lost on the way, and claims that a lost connection kept from us. */
  async function findOverdue(): Promise<void> {
    const { rows } = await database.inEngine(({ db }) =>
      sql<LiveRow>`
        select ${liveColumns}
        from calls c join phone_numbers n on n.workspace_id = c.workspace_id and n.id = c.phone_number_id
        where c.server_id = ${lease.serverId()} and c.ended_at is null
          and coalesce(coalesce(c.dialed_at, c.ringing_at)
            + make_interval(secs => c.ring_timeout_seconds + c.max_call_seconds), c.place_before)
            + make_interval(secs => ${OVERDUE_SECONDS}) < ${clock.now()}
        limit 500`.execute(db),
    );
    await settleQueuedAndWatch(rows);
  }

  /**
   * No provider has heard of a call that is still queued; any other is in doubt. One that this process holds, taken over
   * from itself after its lease was lost, is left to it: it may be about to place it.
   */
  async function settleQueuedAndWatch(rows: LiveRow[]): Promise<void> {
    const queued = rows.filter((row) => row.status === 'queued' && !callOf(row.id));
    await options.giveBackQueued(queued.map(toHeld));
    options.watch(rows.filter((row) => row.status !== 'queued').map(toHeld));
  }

  return {
    watch,
    start: () => {
      const leaseMs = options.leaseSeconds * 1000;
      loops = [
        every(LOOK_UP_MS, lookUpAll, { name: 'looking up calls', log }),
        every(leaseMs / 3, takeOverAll, { name: 'taking over calls', log }),
        every(leaseMs, findOverdue, { name: 'finding overdue calls', log }),
      ];
    },
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}
